// Statuses that redirect, switch protocols or are invalid.

import { answer } from "../service.mjs";

const line =
  (text, rest = 'Content-Type: application/json\r\nContent-Length: 11\r\n\r\n{"ok":true}') =>
  () =>
    `HTTP/1.1 ${text}\r\n${rest}`;
/** A response with an invalid status line, then the end of the connection, which a proxy may wait for. */
const junk = (bytes) => (request, socket) => void socket.end(bytes, "latin1");
const elsewhere =
  (status) =>
  (request, socket, { elsewhere }) =>
    answer("{}", { status, headers: `Location: ${elsewhere}/stolen\r\nRefresh: 0; url=${elsewhere}/stolen\r\n` });

export const statuses = [
  ...[
    "300 Multiple Choices",
    "301 Moved Permanently",
    "302 Found",
    "303 See Other",
    "305 Use Proxy",
    "307 Temporary Redirect",
    "308 Permanent Redirect",
  ].map((status) => ({
    name: `${status.slice(0, 3)} to another service: neither followed nor returned`,
    answer: elsewhere(status),
    passes: false,
  })),
  {
    name: "307 to another service, for a POST",
    bytes: "post",
    answer: elsewhere("307 Temporary Redirect"),
    passes: false,
  },
  {
    name: "302 to another path of the service",
    answer: () => answer("{}", { status: "302 Found", headers: "Location: /api/connector/v1/site/status\r\n" }),
    passes: false,
  },
  { name: "201 with a Location", answer: elsewhere("201 Created") },
  { name: "an unrequested 304", answer: line("304 Not Modified", 'ETag: "x"\r\n\r\n'), passes: false },
  { name: "304 with a body", answer: line("304 Not Modified"), passes: false },
  { name: "204 with a body", answer: line("204 No Content") },
  { name: "205 with a body", answer: line("205 Reset Content") },
  {
    name: "206 of a range",
    answer: line(
      "206 Partial Content",
      "Content-Range: bytes 0-1/100\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}",
    ),
  },
  {
    name: "401 with WWW-Authenticate",
    answer: () => answer("{}", { status: "401 Unauthorized", headers: 'WWW-Authenticate: Basic realm="shop"\r\n' }),
    status: 401,
  },
  {
    name: "407 with Proxy-Authenticate",
    answer: () =>
      answer("{}", {
        status: "407 Proxy Authentication Required",
        headers: 'Proxy-Authenticate: Basic realm="shop"\r\n',
      }),
  },
  {
    name: "an unrequested 101",
    answer: line("101 Switching Protocols", "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\nTUNNEL"),
    passes: false,
  },
  { name: "100 before the response", answer: () => `HTTP/1.1 100 Continue\r\n\r\n${answer('{"ok":true}')}` },
  {
    name: "several 102 and 103 before the response",
    answer: () =>
      `${"HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Evil: 1\r\n\r\n".repeat(2)}${answer('{"ok":true}')}`,
  },
  {
    name: "10,000 times 103 before the response",
    answer: () => `${"HTTP/1.1 103 Early Hints\r\nX-Evil: 1\r\n\r\n".repeat(10_000)}${answer('{"ok":true}')}`,
    memory: true,
  },
  {
    name: "endless 103",
    answer: (request, socket, { flooding }) =>
      flooding(socket, Buffer.from("HTTP/1.1 103 Early Hints\r\nX-Evil: 1\r\n\r\n".repeat(1000))),
    memory: true,
    passes: false,
  },
  ...[
    "000 Nothing",
    "001 X",
    "099 X",
    "199 X",
    "600 X",
    "999 X",
    "1000 X",
    "20 OK",
    "2000 OK",
    "-200 OK",
    "abc",
    "",
    "200\x00OK",
  ].map((text) => ({
    name: `status ${JSON.stringify(text)}`,
    answer: junk(line(text)()),
  })),
  { name: "a status text with a script", answer: line("200 <script>alert(1)</script>") },
  { name: "a status text with a bare CR", answer: junk(line("200 OK\rSet-Cookie: session=evil")()) },
  { name: "a status text of 1 MB", answer: line(`200 ${"x".repeat(1_000_000)}`), memory: true },
  ...["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/9.9", "http/1.1", "ICY", "HTTPS/1.1"].map((version) => ({
    name: `a response in ${version}`,
    answer: junk(answer('{"ok":true}').replace("HTTP/1.1", version)),
  })),
];
