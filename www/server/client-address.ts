// The address of the client behind trusted reverse proxies.

import { ConnectorError } from "./connector-error.js";

/** An IP address as eight groups of 16 bits; an IPv4 address is the mapped one (`::ffff:0:0/96`). */
export type Address = readonly number[];

/** A network: its address, and the number of its leading bits. */
export interface Network {
  address: Address;
  bits: number;
}

const MAPPED = [0, 0, 0, 0, 0, 0xffff];

/** Parses an IP address; `undefined` if the text is none. */
export function parseAddress(text: string): Address | undefined {
  const parts = text
    .match(/^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/)
    ?.slice(1)
    .map(Number);
  if (parts) {
    const [a, b, c, d] = parts as [number, number, number, number];
    return parts.every((part) => part < 256) ? [...MAPPED, a * 256 + b, c * 256 + d] : undefined;
  }
  // Only an address contains two colons; a zone names an interface of this machine.
  const bare = text.replace(/%.*$/, "");
  if (!/^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(bare) || !URL.canParse(`http://[${bare}]`)) return undefined;
  const canonical = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [left, right] = canonical.split("::").map((half) => (half === "" ? [] : half.split(":")));
  const missing = right === undefined ? 0 : 8 - left!.length - right.length;
  return [...left!, ...Array<string>(missing).fill("0"), ...(right ?? [])].map((group) => Number.parseInt(group, 16));
}

/** Parses an address with or without a port, as it stands in `X-Forwarded-For`. */
const parseForwarded = (text: string) =>
  parseAddress(text.replace(/^\[(.*)\](:\d+)?$/, "$1")) ?? parseAddress(text.replace(/:\d+$/, ""));

/** Parses a network such as `10.0.0.0/8`, or one address. */
export function parseNetwork(text: string): Network {
  const [, base = "", length] = text.match(/^([^/]*)(?:\/(\d{1,3}))?$/) ?? [];
  const parsed = parseAddress(base);
  const most = base.includes(":") ? 128 : 32;
  const bits = length === undefined ? most : Number(length);
  if (!parsed || bits > most)
    throw new ConnectorError(
      "setup",
      `invalid trusted hop: expected an address or network such as 10.0.0.0/8, got ${text}`,
    );
  return { address: parsed, bits: bits + 128 - most };
}

const contains = ({ address, bits }: Network, other: Address) =>
  address.every((group, at) => {
    const shift = Math.min(16, Math.max(0, 16 * (at + 1) - bits));
    return group >> shift === other[at]! >> shift;
  });

/** Returns the client: the peer or, if that is a trusted hop, the last forwarded address that is not a trusted hop. */
export function resolveClient(peer: Address, forwarded: string | null, trusted: readonly Network[]): Address {
  let client = peer;
  for (const entry of forwarded?.split(",").reverse() ?? []) {
    if (!trusted.some((network) => contains(network, client))) break;
    // A value that is not an address was not written by a trusted hop.
    const next = parseForwarded(entry.trim());
    if (!next) break;
    client = next;
  }
  return client;
}

/** Returns the key that a client is counted under: for IPv6 its /64 network, as one customer has all of it. */
export const rateKey = (address: Address) =>
  (contains({ address: [...MAPPED, 0, 0], bits: 96 }, address) ? address : address.slice(0, 4)).join(":");

/** Loopback, private and link-local networks. */
const LOCAL = "127.0.0.0/8 10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 169.254.0.0/16 ::1 fc00::/7 fe80::/10"
  .split(" ")
  .map(parseNetwork);

/** Returns whether a peer is probably the site's own reverse proxy, which is not trusted: all visitors then count as one. */
export const isUntrustedHop = (peer: Address, forwarded: string | null, trusted: readonly Network[]) =>
  forwarded !== null &&
  LOCAL.some((network) => contains(network, peer)) &&
  !trusted.some((network) => contains(network, peer));
