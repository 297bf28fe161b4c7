// A hostile client: sends bytes over a raw socket and parses the responses.

import { once } from "node:events";
import { connect } from "node:net";

/** Maximum stored bytes of a response; further ones are only counted. */
const MAX_KEPT = 3 * 1024 * 1024;
const RESPONSE_TIMEOUT_MS = 8_000;

/** Builds a request. The body gets a Content-Length unless a header frames it. */
export function request(line, headers = {}, body = "") {
  const all = { Host: "shop.example", ...headers };
  const names = Object.keys(all).map((name) => name.toLowerCase());
  if (body !== "" && !names.includes("content-length") && !names.includes("transfer-encoding")) {
    all["Content-Length"] = Buffer.byteLength(body);
  }
  const lines = Object.entries(all).flatMap(([name, value]) =>
    [value]
      .flat()
      .filter((one) => one !== null)
      .map((one) => `${name}: ${one}\r\n`),
  );
  return Buffer.concat([Buffer.from(`${line}\r\n${lines.join("")}\r\n`, "latin1"), Buffer.from(body)]);
}

export const get = (target, headers) => request(`GET ${target} HTTP/1.1`, headers);

export const post = (target, body = "{}", headers = {}) =>
  request(
    `POST ${target} HTTP/1.1`,
    { "Content-Type": "application/json", "Idempotency-Key": "attack-key-1", ...headers },
    body,
  );

/** Returns the bytes of a chunked body with its last chunk. */
export const chunked = (...parts) =>
  `${parts.map((part) => `${Buffer.byteLength(part).toString(16)}\r\n${part}\r\n`).join("")}0\r\n\r\n`;

/** Parses the head at the start of some bytes; null while it is incomplete. */
function head(bytes) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return null;
  const [line, ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = lines.map((text) => {
    const colon = text.indexOf(":");
    return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
  });
  return { line, status: Number(line.split(" ")[1]), headers, length: end + 4 };
}

/** Parses a chunked body: its bytes, its length on the wire, and whether it is complete. */
export function unchunk(bytes) {
  const parts = [];
  let at = 0;
  for (;;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd < 0 ? NaN : Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    const next = lineEnd + 2 + size + 2;
    if (Number.isNaN(size) || (size > 0 && next > bytes.length)) break;
    if (size === 0) {
      const end =
        bytes.indexOf("\r\n", lineEnd + 2) === lineEnd + 2 ? lineEnd + 4 : bytes.indexOf("\r\n\r\n", lineEnd) + 4;
      if (end < 4) break;
      return { body: Buffer.concat(parts), length: end, complete: true };
    }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
  }
  return { body: Buffer.concat(parts), length: bytes.length, complete: false };
}

/** Parses the responses in some bytes, in order, including interim ones (1xx). */
function answersIn(bytes, closed, method) {
  const answers = [];
  let rest = bytes;
  while (rest.length > 0) {
    const found = head(rest);
    if (found === null || !/^HTTP\/\d\.\d \d{3}( |$)/.test(found.line)) {
      answers.push({ junk: rest, complete: closed });
      break;
    }
    const value = (name) => found.headers.find(([one]) => one === name)?.[1];
    const after = rest.subarray(found.length);
    let read;
    if (found.status < 200 || found.status === 204 || found.status === 304 || method === "HEAD") {
      read = { body: Buffer.alloc(0), length: 0, complete: true };
    } else if (value("transfer-encoding")) {
      read = unchunk(after);
    } else {
      const length = value("content-length") === undefined ? Infinity : Number(value("content-length"));
      read = {
        body: after.subarray(0, length),
        length: Math.min(length, after.length),
        complete: length === Infinity ? closed : after.length >= length,
      };
    }
    answers.push({ ...found, body: read.body, complete: read.complete });
    rest = read.complete ? after.subarray(read.length) : Buffer.alloc(0);
  }
  return answers;
}

/**
 * Sends bytes, and returns the response once it is complete, the connection is closed or the timeout is over.
 *
 * `then` is called with the socket after the first bytes are sent, to send more. `whole` is the number of final responses
 * to wait for. `from` is the client's own address, such as 127.0.0.9.
 */
export async function exchange(port, bytes, { then, whole = 1, timeoutMs = RESPONSE_TIMEOUT_MS, from } = {}) {
  const started = Date.now();
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  const method = String(bytes.subarray(0, 5)) === "HEAD " ? "HEAD" : "GET";
  const result = { answers: [], received: 0, closed: false, timedOut: false };
  const parts = [];
  const read = () => (result.answers = answersIn(Buffer.concat(parts), result.closed, method));
  const done = new Promise((resolve) => {
    const timer = setTimeout(() => ((result.timedOut = true), resolve()), timeoutMs);
    const finish = () => (clearTimeout(timer), resolve());
    socket.on("data", (data) => {
      if (result.received < MAX_KEPT) parts.push(data);
      result.received += data.length;
      if (result.received > MAX_KEPT) return result.received > 16 * MAX_KEPT ? finish() : undefined;
      read();
      if (result.answers.filter(({ status, complete }) => status >= 200 && complete).length >= whole) finish();
    });
    // Writing to a closed connection fails; the bytes received before count.
    socket.on("error", () => {});
    socket.on("close", () => ((result.closed = true), finish()));
  });
  await Promise.race([once(socket, "connect").catch(() => {}), done]);
  socket.write(bytes);
  const more = Promise.resolve(then?.(socket, result)).catch(() => {});
  await Promise.race([done, more.then(() => done)]);
  socket.destroy();
  read();
  result.raw = Buffer.concat(parts);
  result.ms = Date.now() - started;
  result.answer = result.answers.find(({ status, junk }) => junk || status >= 200);
  return result;
}

/** Writes until the socket is closed or the limit is reached. Returns the number of bytes. */
export async function flood(socket, part, limit) {
  let sent = 0;
  let go = () => {};
  socket.on("drain", () => go()).on("close", () => go());
  while (sent < limit && !socket.destroyed && socket.writable) {
    const full = !socket.write(part);
    sent += part.length;
    await new Promise((resolve) => (full && !socket.destroyed ? (go = resolve) : setImmediate(resolve)));
  }
  return sent;
}
