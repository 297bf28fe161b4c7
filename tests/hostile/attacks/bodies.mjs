// Bodies with another type than JSON, or larger than the call's limit.

import { gzipSync } from "node:zlib";
import { get, post } from "../client.mjs";

const TYPES = [
  null,
  "",
  "text/plain",
  "text/plain; application/json",
  "text/plain;charset=application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "application/json-patch+json",
  "application/ld+json",
  "application/jsonx",
  "application/json\\",
  "xapplication/json",
  "text/json",
  "text/plain, application/json",
  "*/*",
  "application/*",
];
const JSON_TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  "Application/JSON",
  "application/json;charset=UTF-8",
];

const KIB = 1024;
const BOMB = gzipSync(Buffer.alloc(100 * KIB * KIB));
const filled = (length) => `{"message":"${"x".repeat(length - 14)}"}`;

export const bodies = [
  ...["/connector/events", "/connector/chat/messages"].flatMap((path) =>
    TYPES.map((type) => ({
      name: `POST ${path.slice(10)} as ${JSON.stringify(type)}`,
      bytes: post(path, "{}", { "Content-Type": type }),
      refused: true,
    })),
  ),
  {
    name: "two Content-Types",
    bytes: post("/connector/events", "{}", { "Content-Type": ["text/plain", "application/json"] }),
  },
  ...JSON_TYPES.map((type) => ({
    name: `POST /events as ${type} is forwarded`,
    bytes: post("/connector/events", "{}", { "Content-Type": type }),
    status: 200,
    arrives: "{}",
  })),
  {
    name: "a message of 64 KiB is forwarded",
    bytes: post("/connector/chat/messages", filled(64 * KIB)),
    status: 200,
    arrives: filled(64 * KIB),
  },
  {
    name: "a message of 64 KiB and a byte",
    bytes: post("/connector/chat/messages", filled(64 * KIB + 1)),
    status: 413,
    refused: true,
  },
  {
    name: "a message of 200 KiB",
    bytes: post("/connector/chat/messages", filled(200 * KIB)),
    status: 413,
    refused: true,
  },
  {
    name: "events of 256 KiB are forwarded",
    bytes: post("/connector/events", filled(256 * KIB)),
    status: 200,
    arrives: filled(256 * KIB),
  },
  {
    name: "events of 256 KiB and a byte",
    bytes: post("/connector/events", filled(256 * KIB + 1)),
    status: 413,
    refused: true,
  },
  {
    name: "4 MiB followed by another request on the connection: answered, or the rejection closes the connection",
    bytes: Buffer.concat([post("/connector/chat/messages", filled(4 * KIB * KIB)), get("/connector/chat/presence")]),
    whole: 2,
    check: ({ closed, answers: [first, second] }) => {
      // Closing a connection during a body may discard the response.
      if (closed && first === undefined) return [];
      const closes = first?.headers?.some(([name, value]) => name === "connection" && value === "close");
      return first?.status === 413 && (closes || second?.status === 200)
        ? []
        : [`${first?.status} and ${second?.status} were returned`];
    },
  },
  {
    name: "a message that is not JSON, which the service validates",
    bytes: post("/connector/chat/messages", "\0\xff{{{"),
    arrives: "\0\xff{{{",
  },
  { name: "an empty body", bytes: post("/connector/events", "") },
  {
    name: "a gzip body",
    bytes: post("/connector/events", "{}", { "Content-Encoding": "gzip" }),
  },
  {
    name: "a gzip body that expands to 100 MB",
    bytes: Buffer.concat([
      post("/connector/events", "", { "Content-Encoding": "gzip", "Content-Length": BOMB.length }),
      BOMB,
    ]),
    memory: true,
  },
  {
    name: "a GET with a body",
    bytes: Buffer.concat([
      get("/connector/chat/presence", { "Content-Length": 11, "Content-Type": "application/json" }),
      Buffer.from('{"evil":"1"}').subarray(0, 11),
    ]),
    arrives: "",
  },
  {
    name: "a GET with a chunked body",
    bytes: Buffer.concat([
      get("/connector/chat/presence", { "Transfer-Encoding": "chunked" }),
      Buffer.from("4\r\nevil\r\n0\r\n\r\n"),
    ]),
    arrives: "",
  },
];
