// The proxies of docs/server.md, run against the sandbox.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { chatConnector } from "../../docs/recipes/connector.mjs";
import { read, snippet } from "../docs-snippets.mjs";
import { test } from "./harness.mjs";

const COMMAND = "target/debug/site-connector";

/** Returns a snippet's command with other paths, as a program and its arguments. */
const command = (page, name, places) =>
  Object.entries(places)
    .reduce((line, [from, to]) => line.replace(from, to), snippet(page, name).trim())
    .split(" ")
    .slice(1);

const configAt = async (address) => (await (await fetch(`${address}/connector/chat/config`)).json()).ok;

test("The proxy command of docs/server.md runs, and its check succeeds", async ({ service }) => {
  const folder = mkdtempSync(join(tmpdir(), "docs-"));
  writeFileSync(join(folder, "token"), service.token);
  const places = {
    "https://service.example": service.origin,
    "/run/secrets/site-token": join(folder, "token"),
    ":8081": ":0",
  };
  const proxy = spawn(COMMAND, ["--log", "error", ...command("docs/server.md", "Set up the proxy: sh", places)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    const [line] = await once(createInterface(proxy.stdout), "line");
    const address = new URL(line.split(" ").at(-1)).origin;
    assert.equal(await configAt(address), true);
    const check = command("docs/server.md", "Set up the proxy: sh 2", { "https://shop.example": address });
    const { stdout } = await promisify(execFile)(COMMAND, check);
    const [, count] = read("docs/server.md").match(/each of (\d+) checks/);
    assert.match(stdout, new RegExp(`^All ${count} checks hold`, "m"));
  } finally {
    proxy.kill();
    rmSync(folder, { recursive: true });
  }
});

test("The proxy of docs/server.md works in Node's http, and behind a router that strips the prefix, as Express does", async ({
  service,
}) => {
  const servers = [];
  const made = (...given) => servers.push(createServer(...given));
  const app = {
    use: (prefix, handle) =>
      made((request, response) => {
        assert.ok(request.url.startsWith(prefix));
        request.url = request.url.slice(prefix.length);
        handle(request, response);
      }),
  };
  const code = snippet("docs/server.md", "Set up the proxy: js");
  new Function("createServer", "chatConnector", "origin", "token", "app", code)(
    made,
    chatConnector,
    service.origin,
    service.token,
    app,
  );
  assert.equal(servers.length, 2);
  for (const server of servers) {
    await once(server.listen(0, "127.0.0.1"), "listening");
    assert.equal(await configAt(`http://127.0.0.1:${server.address().port}`), true);
    await new Promise((closed) => server.close(closed).closeAllConnections());
  }
});
