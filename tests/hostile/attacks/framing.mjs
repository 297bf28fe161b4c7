// Requests with ambiguous framing, endless requests, and protocol upgrades.

import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { chunked, exchange, flood, get, post, request } from "../client.mjs";
import { answer, good } from "../service.mjs";

const JSON_TYPE = { "Content-Type": "application/json", "Idempotency-Key": "attack-key-1" };
const events = (headers, body) => request("POST /connector/events HTTP/1.1", { ...JSON_TYPE, ...headers }, body);
const TEN_GB = 10 * 1024 ** 3;
const SMUGGLED = "GET /api/connector/v1/site/status HTTP/1.1\r\nHost: shop.example\r\n\r\n";

/** Makes the service switch protocols, and sends it a request through the possible tunnel. */
const throughTunnel = async (socket, result) => {
  while (result.answers.length === 0 && !result.closed) await setTimeout(5);
  socket.write(SMUGGLED);
  await setTimeout(50);
};
const tunnel = ({ headers }) =>
  `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${headers.find(([name]) => name === "upgrade")?.[1] ?? "websocket"}\r\n\r\n`;

/** A server may wait for the rest of a request. */
const WAITS = { mayWait: true, timeoutMs: 500 };
const lengths = ["-1", "+2", "2abc", "0x2", "1e1", "2, 2", "2,3", "", " ", "99999999999999999999999999", "2\t2"];

export const framing = [
  ...["2\r\nContent-Length: 3", "2\r\nContent-Length: 0", "3\r\nContent-Length: 2"].map((length) => ({
    name: `two Content-Lengths, ${length.replace("\r\nContent-Length:", " and")}`,
    bytes: events({ "Content-Length": length }, "{}\n"),
    refused: true,
  })),
  ...lengths.map((length) => ({
    name: `Content-Length: ${JSON.stringify(length)}`,
    bytes: events({ "Content-Length": length }, "{}"),
  })),
  {
    name: "Content-Length and Transfer-Encoding, with a request after the first one (CL.TE)",
    bytes: events({ "Content-Length": 5 + SMUGGLED.length, "Transfer-Encoding": "chunked" }, `0\r\n\r\n${SMUGGLED}`),
    // The second one may be parsed as a request to the site itself.
    most: 2,
  },
  {
    name: "Content-Length and Transfer-Encoding, with a request inside a chunk (TE.CL)",
    bytes: events({ "Content-Length": 4, "Transfer-Encoding": "chunked" }, chunked(SMUGGLED)),
  },
  ...[
    "xchunked",
    "chunked, identity",
    "identity",
    "gzip, chunked",
    "chunked\r\nTransfer-Encoding: x",
    "\x0bchunked",
    "CHUNKED",
    "chunked, chunked",
  ].map((encoding) => ({
    name: `Transfer-Encoding: ${JSON.stringify(encoding)}`,
    bytes: events({ "Transfer-Encoding": encoding }, chunked("{}", SMUGGLED)),
    ...WAITS,
  })),
  {
    name: "a space before the colon of Transfer-Encoding",
    bytes: events({ "Transfer-Encoding ": "chunked" }, chunked(SMUGGLED)),
  },
  {
    name: "a chunk without a size",
    bytes: events({ "Transfer-Encoding": "chunked" }, "zz\r\n{}\r\n0\r\n\r\n"),
    refused: true,
  },
  {
    name: "a chunk of -1 bytes",
    bytes: events({ "Transfer-Encoding": "chunked" }, "-1\r\n{}\r\n0\r\n\r\n"),
    refused: true,
  },
  {
    name: "a chunk size that overflows",
    bytes: events({ "Transfer-Encoding": "chunked" }, "ffffffffffffffffff\r\n{}\r\n0\r\n\r\n"),
    refused: true,
  },
  {
    name: "a chunk of 4 GB, declared",
    bytes: events({ "Transfer-Encoding": "chunked" }, "ffffffff\r\n{}"),
    refused: true,
    ...WAITS,
  },
  {
    name: "a chunk with an extension of 100 KB",
    bytes: events({ "Transfer-Encoding": "chunked" }, `2;x=${"x".repeat(100_000)}\r\n{}\r\n0\r\n\r\n`),
  },
  {
    name: "a body with trailers",
    bytes: events(
      { "Transfer-Encoding": "chunked", Trailer: "Authorization" },
      "2\r\n{}\r\n0\r\nAuthorization: Bearer evil\r\nX-Evil: 1\r\n\r\n",
    ),
  },
  ...["/connector/chat/messages", "/connector/events"].map((path) => ({
    name: `10 GB declared for POST ${path}: rejected at once`,
    bytes: request(`POST ${path} HTTP/1.1`, { ...JSON_TYPE, "Content-Length": TEN_GB }),
    refused: true,
    within: 1500,
  })),
  {
    name: "10 GB declared with Expect: 100-continue",
    bytes: events({ "Content-Length": TEN_GB, Expect: "100-continue" }),
    refused: true,
    within: 1500,
  },
  {
    name: "10 GB declared and sent until the proxy stops reading",
    bytes: request("POST /connector/chat/messages HTTP/1.1", { ...JSON_TYPE, "Content-Length": TEN_GB }),
    then: async (socket, result) =>
      void (result.flooded = await flood(socket, Buffer.alloc(65536, 32), 256 * 1024 * 1024)),
    refused: true,
    memory: true,
  },
  {
    name: "an endless chunked body",
    bytes: events({ "Transfer-Encoding": "chunked" }),
    then: async (socket, result) =>
      void (result.flooded = await flood(socket, Buffer.from(`10000\r\n${" ".repeat(65536)}\r\n`), 256 * 1024 * 1024)),
    refused: true,
    memory: true,
  },
  {
    name: "a chunked body of 300 KiB",
    bytes: events({ "Transfer-Encoding": "chunked" }, chunked(...Array(300).fill(" ".repeat(1024)))),
    refused: true,
  },
  {
    name: "a chunked body of 70,000 one-byte chunks",
    bytes: request(
      "POST /connector/chat/messages HTTP/1.1",
      { ...JSON_TYPE, "Transfer-Encoding": "chunked" },
      chunked(...Array(70_000).fill(" ")),
    ),
    refused: true,
    memory: true,
  },
  {
    name: "a chunked body",
    bytes: events({ "Transfer-Encoding": "chunked" }, chunked("{", "}")),
    status: [200, 411],
    arrives: "{}",
  },
  {
    name: "Expect: 100-continue",
    bytes: events({ "Content-Length": 2, Expect: "100-continue" }),
    then: async (socket) => {
      await Promise.race([once(socket, "data"), setTimeout(1000)]);
      socket.write("{}");
    },
    status: 200,
    arrives: "{}",
  },
  { name: "Expect with another value", bytes: events({ Expect: "the-unexpected" }, "{}") },
  ...[
    ["websocket", { "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version": "13" }],
    ["h2c", { "HTTP2-Settings": "AAMAAABkAARAAAAAAAIAAAAA" }],
    ["TLS/1.0", {}],
  ].map(([protocol, more]) => ({
    name: `Upgrade: ${protocol} to a service that switches`,
    bytes: get("/connector/chat/presence", {
      Connection: `Upgrade${protocol === "h2c" ? ", HTTP2-Settings" : ""}`,
      Upgrade: protocol,
      ...more,
    }),
    answer: tunnel,
    then: throughTunnel,
    passes: false,
    timeoutMs: 5000,
  })),
  {
    name: "Upgrade: websocket to a service that does not switch",
    bytes: get("/connector/chat/presence", {
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Key": "x",
      "Sec-WebSocket-Version": "13",
    }),
  },
  {
    name: "Upgrade: websocket on a POST",
    bytes: post("/connector/events", "{}", { Connection: "Upgrade", Upgrade: "websocket" }),
    answer: tunnel,
    then: throughTunnel,
    passes: false,
    timeoutMs: 5000,
  },
  {
    name: "lines that end with a bare LF",
    bytes: Buffer.from("GET /connector/chat/presence HTTP/1.1\nHost: shop.example\nX: 1\n\n"),
  },
  {
    name: "a folded header line",
    bytes: get("/connector/chat/presence", { "X-Long": "1\r\n Authorization: Bearer evil" }),
  },
  { name: "a null byte in a header", bytes: get("/connector/chat/presence", { "Idempotency-Key": "a\0b" }) },
  { name: "a bare CR in a header", bytes: get("/connector/chat/presence", { "Accept-Language": "en\rX-Evil: 1" }) },
  { name: "a header of 200 KB", bytes: get("/connector/chat/presence", { "X-Large": "x".repeat(200_000) }) },
  {
    name: "5,000 headers",
    bytes: get("/connector/chat/presence", Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`X-${n}`, "1"]))),
  },
  {
    name: "an endless head",
    bytes: Buffer.from("GET /connector/chat/presence HTTP/1.1\r\n"),
    then: (socket) => flood(socket, Buffer.from(`X: ${"x".repeat(1000)}\r\n`.repeat(60)), 64 * 1024 * 1024),
    memory: true,
    refused: true,
  },
  {
    name: "two requests at once",
    bytes: Buffer.concat([get("/connector/chat/presence?first"), get("/connector/chat/presence?second")]),
    whole: 2,
    check: ({ answers }) =>
      answers
        .filter(({ status }) => status === 200)
        .map(({ body }) => /first|second/.exec(body)?.[0])
        .join() === "first,second"
        ? []
        : ["the answers are mixed up"],
  },
  {
    name: "40 visitors who send their heads byte by byte do not block others",
    run: async ({ port }) => {
      const slow = Array.from({ length: 40 }, () =>
        exchange(port, Buffer.from("GET /connector/chat/presence HTTP/1.1\r\nHost: sh"), { timeoutMs: 700 }),
      );
      const begun = await exchange(port, get("/connector/chat/presence"), { timeoutMs: 600 });
      await Promise.all(slow);
      return begun.answer?.status === 200 ? [] : ["another visitor got no answer meanwhile"];
    },
  },
  {
    name: "40 visitors who disconnect in the middle of a body",
    run: async ({ port, service }) => {
      const bytes = request("POST /connector/chat/messages HTTP/1.1", {
        ...JSON_TYPE,
        "Content-Length": 1000,
      }).toString();
      await Promise.all(
        Array.from({ length: 40 }, () =>
          exchange(port, Buffer.from(`${bytes}{"mess`), {
            then: (socket) => setTimeout(30).then(() => socket.destroy()),
          }),
        ),
      );
      return service.requests.some(({ complete }) => complete)
        ? ["an incomplete message arrived as a complete one"]
        : [];
    },
  },
  {
    name: "40 visitors who disconnect before the response",
    run: async ({ port, service }) => {
      service.answer = async (request) => setTimeout(100, good(request));
      await Promise.all(
        Array.from({ length: 40 }, () =>
          exchange(port, post("/connector/events"), { then: (socket) => setTimeout(30).then(() => socket.destroy()) }),
        ),
      );
      return [];
    },
  },
  {
    name: "a visitor who never reads the response",
    answer: () => answer(" ".repeat(1_000_000)),
    run: async ({ port }) => {
      const hold = (socket) => (socket.pause(), setTimeout(200));
      await Promise.all(
        Array.from({ length: 10 }, () =>
          exchange(port, get("/connector/chat/presence"), { then: hold, timeoutMs: 300 }),
        ),
      );
      return [];
    },
  },
];
