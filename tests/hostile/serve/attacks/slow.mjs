// Clients that hold connections: half-open, slow in sending, slow in reading. The program runs with short time limits.

import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout } from "node:timers/promises";
import { exchange, get, request } from "../../client.mjs";
import { SHOP } from "../program.mjs";

/** The flags that these attacks need, with limits in seconds. */
export const TIMEOUT = 3;
export const SLOW_FLAGS = [
  "--connection-timeout",
  TIMEOUT,
  "--body-timeout",
  TIMEOUT,
  "--connections-per-address",
  128,
];
const PER_ADDRESS = 128;
/** Half-open connections, from as many addresses as their limit needs. */
const HALF_OPEN = 10_000;
/** Maximum memory of a connection whose request's head has not arrived. */
const MAX_CONNECTION_BYTES = 20 * 1024;
/** The time in which the server must have cut a client off, in milliseconds. */
const CUT_OFF_MS = (TIMEOUT + 2) * 1000;

/** Opens a connection that never fails loudly. */
function open(port, from) {
  const socket = connect({ port, host: "127.0.0.1", localAddress: from });
  socket.on("error", () => {});
  return socket;
}

/** Returns after how many milliseconds the server has closed a connection; null if it has not. */
async function closedAfter(socket, began, limit) {
  if (!socket.closed) await Promise.race([once(socket, "close"), setTimeout(limit, null, { ref: false })]);
  return socket.closed ? Date.now() - began : null;
}

export const slow = [
  {
    name: `${HALF_OPEN} half-open connections do not starve a good visitor, and are closed`,
    async run(program) {
      const before = program.memory();
      const began = Date.now();
      const sockets = [];
      const head = "GET /connector/x/chat/config HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ";
      for (let n = 0; n < HALF_OPEN; n += 1) {
        const place = Math.floor(n / PER_ADDRESS);
        const socket = open(program.port, `127.2.${place >> 8}.${(place & 255) + 1}`);
        socket.resume().once("connect", () => socket.write(head));
        sockets.push(socket);
        if (n % 500 === 499) await once(socket, "connect");
      }
      const problems = await program.alive({ from: "127.0.0.9" });
      const message = await program.write("words-of-a-visitor", { from: "127.0.0.9", timeoutMs: 3000 });
      if (message.status !== 200) problems.push(`a good visitor's message was answered with ${message.status}`);
      const each = (program.memory() - before) / HALF_OPEN;
      if (each > MAX_CONNECTION_BYTES) problems.push(`each connection costs ${Math.round(each)} bytes`);
      await Promise.race([
        Promise.all(sockets.map((socket) => closedAfter(socket, began, 15_000))),
        setTimeout(15_000),
      ]);
      const left = sockets.filter((socket) => !socket.closed);
      if (left.length > 0) problems.push(`${left.length} half-open connections were not closed`);
      for (const socket of left) socket.destroy();
      return problems;
    },
  },
  {
    name: "one address cannot open more connections than its share",
    async run(program) {
      const from = "127.3.0.1";
      const idle = Array.from({ length: PER_ADDRESS }, () => open(program.port, from).resume());
      await Promise.all(idle.map((socket) => once(socket, "connect")));
      const beyond = await exchange(program.port, get("/livez", { Host: program.host }), { from });
      const other = await program.alive({ from: "127.3.0.2" });
      for (const socket of idle) socket.destroy();
      return [...other, ...(beyond.answer === undefined || beyond.answer.status === 503 ? [] : ["there is no limit"])];
    },
  },
  {
    name: "heads and bodies that arrive byte by byte, and idle connections, are cut off",
    async run(program) {
      const began = Date.now();
      const body = { Host: program.host, Origin: SHOP, "Content-Type": "application/json", "Content-Length": 1000 };
      const chunks = { ...body, "Content-Length": null, "Transfer-Encoding": "chunked" };
      const path = `/connector/${program.site}/chat/messages`;
      const begun = {
        head: ["GET /livez HTTP/1.1\r\nX: ", "x"],
        body: [request(`POST ${path} HTTP/1.1`, body), " "],
        "chunked body": [request(`POST ${path} HTTP/1.1`, chunks), "1\r\n \r\n"],
        "body of the admin API": [request("POST /api/admin/v1/session HTTP/1.1", { ...body, Origin: null }), " "],
        "body of the connector API": [
          request("POST /api/connector/v1/events HTTP/1.1", { ...body, Authorization: `Bearer ${program.token}` }),
          " ",
        ],
        "connection without a request": ["", ""],
        "connection after a request": [get("/livez", { Host: program.host }), ""],
      };
      const results = Object.entries(begun).map(async ([name, [first, part]]) => {
        const socket = open(program.port);
        let answer = "";
        socket.on("data", (data) => (answer += data));
        await once(socket, "connect");
        const closed = once(socket, "close");
        socket.write(first);
        while (!socket.closed && Date.now() - began < CUT_OFF_MS) {
          if (part !== "" && socket.writable) socket.write(part);
          await Promise.race([closed, setTimeout(200)]);
        }
        const isCutOff = socket.closed;
        socket.destroy();
        const status = /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1];
        const wrong = name.includes("body") && status !== "408" ? [`a slow ${name} was answered with ${status}`] : [];
        return [...wrong, ...(isCutOff ? [] : [`a slow ${name} is not cut off`])];
      });
      return (await Promise.all(results)).flat();
    },
  },
  {
    name: "a client that does not read its responses is cut off, and costs little memory",
    memory: true,
    async run(program) {
      const socket = open(program.port);
      await once(socket, "connect");
      const file = get("/chat-widget/chat-widget.wasm", { Host: program.host });
      socket.pause().write(Buffer.concat(Array(400).fill(file)));
      await setTimeout(CUT_OFF_MS);
      let received = 0;
      socket.on("data", (data) => (received += data.length)).resume();
      const after = await closedAfter(socket, Date.now(), 1500);
      socket.destroy();
      return after === null ? [`the connection was kept, and sent ${received} bytes`] : [];
    },
  },
];
