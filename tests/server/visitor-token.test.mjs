// The proof of who is signed in, by the recipe for PHP and by the plugin for WordPress. proxy.test.mjs has that of the library.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chatConnector } from "../../docs/recipes/connector.mjs";
import { debianTool, root } from "../../scripts/setup.mjs";
import { snippet } from "../docs-snippets.mjs";

const SECRET = `svs_${"x".repeat(43)}`;
const CONSTANTS = { CHAT_ORIGIN: "https://service.example", CHAT_TOKEN: "token" };
const PRESENCE = "/connector/chat/presence";
let folder;

before(() => {
  debianTool("php");
  folder = mkdtempSync(join(tmpdir(), "chat-php-"));
  copyFileSync(join(root, "docs/recipes/connector.php"), join(folder, "connector.php"));
  cpSync(join(root, "connectors/wordpress"), folder, { recursive: true });
  for (const name of ["site-connector", "lib"])
    cpSync(join(root, "connectors/php"), join(folder, name), { recursive: true });
});
after(() => rmSync(folder, { recursive: true }));

/** Returns the visitor token that a script sends to the service. */
function tokenOf(script, constants, user, path = PRESENCE) {
  const given = { script: join(folder, script), constants: { ...CONSTANTS, ...constants }, user, path };
  const runner = join(root, "tests/server/visitor-token.php");
  const headers = JSON.parse(execFileSync("php", [runner, JSON.stringify(given)], { encoding: "utf8" }));
  return headers.find((header) => header.startsWith("Visitor-Token: "))?.slice("Visitor-Token: ".length);
}

/** Asserts that a token is signed, and valid for minutes. Returns what it proves. */
function proved(token) {
  const [header, claims, signature] = token.split(".");
  assert.equal(signature, createHmac("sha256", SECRET).update(`${header}.${claims}`).digest("base64url"));
  const parse = (part) => JSON.parse(Buffer.from(part, "base64url"));
  assert.deepEqual(parse(header), { alg: "HS256", typ: "JWT" });
  const { exp, ...rest } = parse(claims);
  assert.ok(Math.abs(exp - Date.now() / 1000 - 300) < 60);
  return rest;
}

test("The script of docs/server.md names the function that returns the visitor", () => {
  const script = snippet("docs/server.md", "Prove who a signed-in visitor is: php");
  // Without the session of a web server.
  const code = script.replace("session_start();", "$_SESSION = ['user' => $given['user']];");
  assert.notEqual(code, script);
  writeFileSync(join(folder, "chat.php"), `<?php\n${code}`);
  const user = { number: 4711, name: "Zoë", email: "zoe@shop.example" };
  const proof = proved(tokenOf("chat.php", { CHAT_VISITOR_SECRET: SECRET }, user));
  assert.deepEqual(proof, { sub: "crm-4711", name: "Zoë", email: "zoe@shop.example" });
  assert.equal(tokenOf("chat.php", { CHAT_VISITOR_SECRET: SECRET }, null), undefined);
});

test("The recipe for PHP proves who is signed in, and drops the token of the page", () => {
  const own = { CHAT_VISITOR: "signed_in", CHAT_VISITOR_SECRET: SECRET };
  const user = { id: 4711, name: "Zoë", email: "zoe@shop.example" };
  const proof = proved(tokenOf("connector.php", own, user));
  assert.deepEqual(proof, { sub: "4711", name: "Zoë", email: "zoe@shop.example" });
  assert.equal(tokenOf("connector.php", own, null), undefined);
  assert.equal(tokenOf("connector.php", own, user, "/connector/chat/config"), undefined);
  assert.equal(tokenOf("connector.php", {}, user), "from.the.page");
});

/** Serves requests with a handler, and returns its address. */
async function serve(context, handler) {
  const server = createServer(handler).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  context.after(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${server.address().port}`;
}

test("The recipe for Node proves who is signed in, and drops the token of the page", async (context) => {
  const received = [];
  const origin = await serve(context, (request, response) => {
    received.push(request.headers["visitor-token"]);
    response.end('{"ok":true,"data":{}}');
  });
  let user = { id: 4711, name: "Zoë", email: "zoe@shop.example" };
  const visitor = async (request) => {
    if (request.headers.cookie === "broken") throw new Error("no session");
    return user;
  };
  const proving = await serve(context, chatConnector({ origin, token: "t", visitor, visitorSecret: ` ${SECRET}\n` }));
  const passing = await serve(context, chatConnector({ origin, token: "t" }));
  const ask = async (proxy, path = PRESENCE, cookie = "") => {
    const headers = { "Visitor-Token": "from.the.page", ...(cookie && { cookie }) };
    const { status } = await fetch(proxy + path, { headers });
    return status === 200 ? received.pop() : status;
  };
  assert.deepEqual(proved(await ask(proving)), { sub: "4711", name: "Zoë", email: "zoe@shop.example" });
  assert.equal(await ask(proving, "/connector/chat/config"), undefined);
  assert.equal(await ask(proving, PRESENCE, "broken"), 502, "nobody may be unverified by mistake");
  user = null;
  assert.equal(await ask(proving), undefined);
  assert.equal(await ask(passing), "from.the.page");
  assert.equal(await ask(passing, "/connector/chat/config"), undefined);
  assert.throws(() => chatConnector({ origin, token: "t", visitor }), /visitorSecret/);
});

test("The plugin for WordPress proves the user who is signed in", () => {
  const user = { ID: 7, display_name: "Zoë", user_email: "zoe@shop.example" };
  const proof = proved(tokenOf("chat-widget.php", { CHAT_VISITOR_SECRET: SECRET, ABSPATH: "/" }, user));
  assert.deepEqual(proof, { sub: "wordpress-7", name: "Zoë", email: "zoe@shop.example" });
  assert.equal(tokenOf("chat-widget.php", { CHAT_VISITOR_SECRET: SECRET, ABSPATH: "/" }, null), undefined);
  assert.equal(tokenOf("chat-widget.php", { ABSPATH: "/" }, user), "from.the.page");
  const [, constant] = snippet("docs/wordpress.md", "Prove who is signed in: php").match(/define\('(\w+)', /);
  assert.equal(constant, "CHAT_VISITOR_SECRET");
});
