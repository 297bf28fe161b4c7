// Responses that are not JSON, endless, malformed, or meant for the next visitor's request.

import { setTimeout } from "node:timers/promises";
import { gzipSync, constants } from "node:zlib";
import { get } from "../client.mjs";
import { answer, good } from "../service.mjs";

const MIB = 1024 * 1024;
const SCRIPT = "<!doctype html><html><script>alert(document.domain)</script></html>";
const raw =
  (head, body = "") =>
  () =>
    Buffer.from(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`, "latin1");
const JSON_HEAD = "Content-Type: application/json";
const typed =
  (type, body = SCRIPT) =>
  () =>
    answer(body, { headers: `Content-Type: ${type}\r\n` });

/** Returns a gzip stream of 2 MB that expands to 2 GB, made by repeating one part. */
function bomb() {
  const part = gzipSync(Buffer.alloc(MIB), { finishFlush: constants.Z_FULL_FLUSH });
  // The first ten bytes are the header, which occurs once.
  return [part, ...Array(2047).fill(part.subarray(10))];
}

/** Sends a head, and then repeats a part until the proxy disconnects. */
const endless =
  (head, part) =>
  async (request, socket, { flooding }) => (socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n`), flooding(socket, part));
const chunk = (size) => Buffer.from(`${size.toString(16)}\r\n${" ".repeat(size)}\r\n`);

/** A second response, which the next visitor must not get. */
const POISON = answer('{"poison":true}', { headers: "X-Request-Id: poison\r\n" });

export const answers = [
  ...[
    "text/html",
    "text/html; charset=utf-7",
    "TEXT/HTML",
    "application/xhtml+xml",
    "image/svg+xml",
    "text/xml",
    "application/xml",
    "application/javascript",
    "text/css",
    "text/plain",
    "text/html;application/json",
    "application/json, text/html",
    "text/html, application/json",
    "application/jsonp",
    "application/octet-stream",
    "multipart/x-mixed-replace; boundary=x",
    "application/x-shockwave-flash",
    "x",
    "",
    "*/*",
    "application/wasm",
    "text/event-stream",
    "application/json; charset=utf-7",
  ].map((type) => ({ name: `an HTML page as ${JSON.stringify(type)}`, answer: typed(type) })),
  {
    name: "an HTML page with status 500",
    answer: () => answer(SCRIPT, { status: "500 Internal Server Error", headers: "Content-Type: text/html\r\n" }),
  },
  {
    name: "an HTML page with status 404",
    answer: () => answer(SCRIPT, { status: "404 Not Found", headers: "Content-Type: text/html\r\n" }),
  },
  {
    name: "an HTML page with status 502",
    answer: () => answer(SCRIPT, { status: "502 Bad Gateway", headers: "Content-Type: text/html\r\n" }),
  },
  { name: "an HTML page without a Content-Type", answer: raw(`Content-Length: ${SCRIPT.length}`, SCRIPT) },
  {
    name: "two Content-Types, JSON first",
    answer: raw(`${JSON_HEAD}\r\nContent-Type: text/html\r\nContent-Length: ${SCRIPT.length}`, SCRIPT),
  },
  {
    name: "two Content-Types, HTML first",
    answer: raw(`Content-Type: text/html\r\n${JSON_HEAD}\r\nContent-Length: ${SCRIPT.length}`, SCRIPT),
  },
  { name: "JSON of 1 MiB is returned", answer: () => answer(`"${"x".repeat(MIB - 2)}"`), status: 200, length: MIB },
  {
    name: "JSON of half a million brackets",
    answer: () => answer("[".repeat(500_000) + "]".repeat(500_000)),
    memory: true,
  },
  { name: "JSON of half a million members", answer: () => answer(`[${"{},".repeat(300_000)}{}]`), memory: true },
  { name: "JSON of 1 MiB and a byte", answer: () => answer(`"${"x".repeat(MIB - 1)}"`), passes: false, bounded: true },
  {
    name: "3 GB, declared: rejected at once",
    answer: endless(`${JSON_HEAD}\r\nContent-Length: 3221225472`, Buffer.alloc(65536, 32)),
    passes: false,
    bounded: true,
    memory: true,
  },
  {
    name: "3 GB, declared and never sent: rejected at once",
    answer: raw(`${JSON_HEAD}\r\nContent-Length: 3221225472`),
    passes: false,
    bounded: true,
    within: 1500,
  },
  {
    name: "endless chunks",
    answer: endless(`${JSON_HEAD}\r\nTransfer-Encoding: chunked`, chunk(65536)),
    passes: false,
    bounded: true,
    memory: true,
  },
  {
    name: "endless chunks of one byte",
    answer: endless(`${JSON_HEAD}\r\nTransfer-Encoding: chunked`, Buffer.concat(Array(4000).fill(chunk(1)))),
    passes: false,
    bounded: true,
    memory: true,
  },
  {
    name: "an endless response without a length",
    answer: endless(`${JSON_HEAD}\r\nConnection: close`, Buffer.alloc(65536, 32)),
    passes: false,
    bounded: true,
    memory: true,
  },
  {
    name: "an endless chunk extension",
    answer: endless(`${JSON_HEAD}\r\nTransfer-Encoding: chunked\r\n\r\n1;`, Buffer.alloc(65536, 120)),
    passes: false,
    bounded: true,
    memory: true,
  },
  ...["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip", "evil"].map((encoding) => ({
    name: `a decompression bomb of 2 GB in 2 MB, Content-Encoding: ${encoding}`,
    answer: async (request, socket) => {
      const parts = bomb();
      socket.write(
        `HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\nContent-Encoding: ${encoding}\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      for (const part of parts)
        socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]));
      socket.write("0\r\n\r\n");
    },
    passes: false,
    bounded: true,
    memory: true,
  })),
  {
    name: "an unrequested small gzip response",
    answer: () =>
      Buffer.concat([
        Buffer.from(
          `HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\nContent-Encoding: gzip\r\nContent-Length: ${gzipSync("{}").length}\r\n\r\n`,
        ),
        gzipSync("{}"),
      ]),
  },
  {
    name: "Transfer-Encoding: gzip, chunked",
    answer: raw(`${JSON_HEAD}\r\nTransfer-Encoding: gzip, chunked`, "2\r\n{}\r\n0\r\n\r\n"),
  },
  {
    name: "no response until the timeout",
    answer: () => undefined,
    passes: false,
    within: 6000,
    atLeast: 1000,
  },
  {
    name: "a head without a body until the timeout",
    answer: raw(`${JSON_HEAD}\r\nContent-Length: 10`),
    broken: true,
    within: 6000,
  },
  {
    name: "half a head until the timeout",
    answer: () => "HTTP/1.1 200 OK\r\nContent-Ty",
    passes: false,
    within: 6000,
  },
  {
    name: "a connection closed before the response",
    answer: (request, socket) => void socket.destroy(),
    passes: false,
  },
  {
    name: "a connection reset before the response",
    answer: (request, socket) => void socket.resetAndDestroy(),
    passes: false,
  },
  {
    name: "a connection closed before the response to a POST: not resent",
    bytes: "post",
    answer: (request, socket) => void socket.destroy(),
    passes: false,
  },
  {
    name: "a connection closed in the middle of the head",
    answer: (request, socket) => void socket.end("HTTP/1.1 200 OK\r\nContent-Type: applic"),
    passes: false,
  },
  {
    name: "a connection closed in the middle of the body",
    answer: (request, socket) =>
      void socket.end(`HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\nContent-Length: 100\r\n\r\n{"half`),
    broken: true,
  },
  {
    name: "a connection closed in the middle of a chunk",
    answer: (request, socket) =>
      void socket.end(`HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"half`),
    broken: true,
  },
  {
    name: "a connection closed before the last chunk",
    answer: (request, socket) =>
      void socket.end(`HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{"half\r\n`),
    broken: true,
  },
  ...[
    "-1",
    "abc",
    "0x10",
    "",
    "1e3",
    "99999999999999999999999999",
    "11\r\nContent-Length: 3",
    "3\r\nContent-Length: 11",
    "11, 3",
  ].map((length) => ({
    name: `Content-Length: ${JSON.stringify(length)}`,
    answer: (request, socket) =>
      void socket.end(`HTTP/1.1 200 OK\r\n${JSON_HEAD}\r\nContent-Length: ${length}\r\n\r\n{"ok":true}`),
  })),
  {
    name: "Content-Length and Transfer-Encoding",
    answer: raw(`${JSON_HEAD}\r\nContent-Length: 100\r\nTransfer-Encoding: chunked`, `2\r\n{}\r\n0\r\n\r\n${POISON}`),
  },
  {
    name: "a chunk without a size",
    answer: raw(`${JSON_HEAD}\r\nTransfer-Encoding: chunked`, "zz\r\n{}\r\n0\r\n\r\n"),
    broken: true,
  },
  {
    name: "a chunk of -1 bytes",
    answer: raw(`${JSON_HEAD}\r\nTransfer-Encoding: chunked`, "-1\r\n{}\r\n0\r\n\r\n"),
    broken: true,
  },
  {
    name: "a chunk size that overflows",
    answer: raw(`${JSON_HEAD}\r\nTransfer-Encoding: chunked`, "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    broken: true,
    within: 6000,
  },
  { name: "random bytes instead of HTTP", answer: (request, socket) => void socket.end(SCRIPT) },
  {
    name: "many random bytes instead of HTTP",
    answer: (request, socket, { flooding }) => flooding(socket, Buffer.from(SCRIPT.repeat(1000))),
    passes: false,
    bounded: true,
    memory: true,
  },
  { name: "null bytes instead of HTTP", answer: (request, socket) => void socket.end(Buffer.alloc(100_000)) },
  { name: "two responses at once", answer: () => `${answer('{"ok":true}')}${POISON}` },
  {
    name: "two responses, the second a little later",
    answer: (request, socket) => (
      setTimeout(20).then(() => socket.destroyed || socket.write(POISON)), answer('{"ok":true}')
    ),
    settle: 60,
  },
  { name: "a body longer than its length", answer: () => `${answer('{"ok":true}')}${"x".repeat(100)}` },
  {
    name: "a response inside a response that is too short",
    answer: raw(`${JSON_HEAD}\r\nContent-Length: 2`, `{}${POISON}`),
  },
  { name: "204 followed by another response", answer: () => `HTTP/1.1 204 No Content\r\n\r\n${POISON}` },
  {
    name: "a second response during another visitor's request",
    run: async ({ port, service, exchange, token }) => {
      const problems = [];
      for (let round = 0; round < 10; round += 1) {
        service.answer = (request) =>
          request.line.includes("first") ? `${answer('{"ok":true}')}${POISON}` : good(request);
        const both = await Promise.all(
          ["first", "second", "third"].map((name) => exchange(port, get(`/connector/chat/presence?${name}-${round}`))),
        );
        both.slice(1).forEach((result, at) => {
          if (!String(result.answer?.body).includes(`${["second", "third"][at]}-${round}`))
            problems.push(`a visitor got ${String(result.answer?.body).slice(0, 60)}`);
        });
      }
      return problems;
    },
  },
  {
    name: "30 unanswered calls do not block other visitors",
    run: async ({ port, service, exchange, spare }) => {
      service.answer = (request) => (request.line.includes("never") ? undefined : good(request));
      const stuck = Array.from({ length: spare }, () =>
        exchange(port, get("/connector/chat/presence?never"), { timeoutMs: 1000 }),
      );
      const result = await exchange(port, get("/connector/chat/presence?other"), { timeoutMs: 900 });
      await Promise.all(stuck);
      return result.answer?.status === 200 ? [] : ["another visitor got no answer meanwhile"];
    },
  },
];
