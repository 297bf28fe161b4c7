// A line between browsers and a server. It can lose a response. And it can forget its connections, as happens while a laptop
// sleeps: the browser learns of it when it writes, and a stream, which only reads, never does.

import { once } from "node:events";
import { connect, createServer } from "node:net";

/** Opens a line to an address of HTTP. Returns its own `address`, `loseResponse(pattern)`, `forget()` and `stop()`. */
export async function openLine(target) {
  const { hostname, port } = new URL(target);
  const connections = new Set();
  let loss;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const connection = { near, far };
    connections.add(connection);
    near.on("data", (data) => {
      if (!loss?.pattern.test(data.toString("latin1"))) return;
      far.unpipe(near);
      far.once("data", loss.onResponse);
      far.resume();
      loss = undefined;
    });
    near.pipe(far);
    far.pipe(near);
    const end = () => {
      connections.delete(connection);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) socket.on("error", end).on("close", () => connections.has(connection) && end());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    /**
     * Passes on the next request whose bytes match, and keeps the response, until the server ends the connection. Resolves
     * when the server has responded.
     */
    loseResponse: (pattern) => new Promise((onResponse) => (loss = { pattern, onResponse })),
    /** Ends all connections at the server only. A browser that writes to one of them is told that it does not exist. */
    forget() {
      for (const connection of connections) {
        const { near, far } = connection;
        connections.delete(connection);
        near.unpipe(far);
        far.unpipe(near);
        far.destroy();
        near.on("data", () => near.resetAndDestroy());
        near.resume();
      }
    },
    stop() {
      server.close();
      for (const { near } of connections) near.destroy();
    },
  };
}
