// Idempotency keys in the formats that the contract suggests.

const MAX_LENGTH = 160;
const MIN_LENGTH = 8;
/** The namespace of object identifiers (RFC 9562), as sixteen bytes. */
const NAMESPACE = [0x6b, 0xa7, 0xb8, 0x12, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8];

/** Returns 32 random hexadecimal digits. */
export const randomId = () => crypto.randomUUID().replaceAll("-", "");

/**
 * Returns a text as a key. One that is too long, or has characters that a header cannot carry, is shortened and extended by
 * its digest: the same ids give the same key, different ids different keys. The digest is a UUIDv5, as in the Rust client,
 * so that either of them can repeat a request of the other.
 */
export async function boundedKey(text: string): Promise<string> {
  if (text.length >= MIN_LENGTH && text.length <= MAX_LENGTH && /^[!-~]*$/.test(text)) return text;
  const name = new TextEncoder().encode(text);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-1", new Uint8Array([...NAMESPACE, ...name])));
  digest[6] = (digest[6]! & 0x0f) | 0x50;
  digest[8] = (digest[8]! & 0x3f) | 0x80;
  const hex = Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${text.replace(/[^!-~]/g, "").slice(0, MAX_LENGTH - hex.length - 1)}-${hex}`;
}
