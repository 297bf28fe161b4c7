// The recipe for Node and the package's proxy, behind a framework that has already parsed the body.

import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import express from "express";
import { chatConnector } from "../../docs/recipes/connector.mjs";
import { connectorProxy, toNodeHandler } from "../../dist/server/index.mjs";
import { exchange, post } from "./client.mjs";
import { HostileService } from "./service.mjs";

const PARSERS = {
  "express.json": express.json({ limit: "1mb" }),
  "express.text": express.text({ limit: "1mb", type: "*/*" }),
  "express.raw": express.raw({ limit: "1mb", type: "*/*" }),
};
const PROXIES = {
  "the recipe": (options) => chatConnector({ ...options, prefix: "" }),
  connectorProxy: (options) => toNodeHandler(connectorProxy(options)),
};
const message = (length) => JSON.stringify({ message: "x".repeat(length - 14) });

const pairs = Object.entries(PARSERS).flatMap((parser) =>
  Object.entries(PROXIES).map((proxy) => [...parser, ...proxy]),
);
for (const [name, parser, kind, proxy] of pairs) {
  test(`${kind} forwards a body that ${name} has parsed, and rejects a message over 64 KiB`, async () => {
    const service = await HostileService.start();
    const app = express();
    app.use(parser);
    app.use("/connector", proxy({ origin: service.origin, token: "token" }));
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
