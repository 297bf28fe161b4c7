// The recipe for Node behind a framework that has already parsed the body.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import express from "express";
import { chatConnector } from "../../docs/recipes/connector.mjs";
import { exchange, post } from "./client.mjs";
import { HostileService } from "./service.mjs";

const PARSERS = {
  "express.json": express.json({ limit: "1mb" }),
  "express.text": express.text({ limit: "1mb", type: "*/*" }),
  "express.raw": express.raw({ limit: "1mb", type: "*/*" }),
};
const message = (length) => JSON.stringify({ message: "x".repeat(length - 14) });

for (const [name, parser] of Object.entries(PARSERS)) {
  test(`A body that ${name} has parsed is forwarded, and a message over 64 KiB is rejected`, async () => {
    const service = await HostileService.start();
    const app = express();
    app.use(parser);
    app.use("/connector", chatConnector({ origin: service.origin, token: "token", prefix: "" }));
    const server = app.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address();
    const sent = async (length) =>
      (await exchange(port, post("/connector/chat/messages", message(length)))).answer.status;
    assert.equal(await sent(64 * 1024), 200);
    assert.equal(String(service.requests[0].body), message(64 * 1024));
    assert.equal(await sent(64 * 1024 + 1), 413);
    assert.equal(service.requests.length, 1);
    server.close();
    service.stop();
  });
}
