// The plugin's settings in a real WordPress, as an administrator and as others use them.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { startService } from "./service.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

/** The license of the service in its test mode. */
const LICENSE = "SANDBOX-LICENSE";
const SECRET = `whsec_${Buffer.from("a secret of the webhook").toString("base64")}`;
const PAGE = "/wp-admin/options-general.php?page=chat-widget";

let service;
let site;
before(async () => {
  service = await startService();
  site = await startWordPress({ version: "6.5", constants: [["CHAT_WEBHOOK_SECRET", SECRET]] });
});
after(async () => {
  stopWordPress();
  await stopAll();
});

/** Signs in. Returns a function that sends requests in this session. */
async function signIn(log, pwd) {
  const request = (path, { headers, ...init } = {}) =>
    fetch(site.address + path, { redirect: "manual", headers: { ...headers, cookie }, ...init });
  let cookie = "wordpress_test_cookie=WP%20Cookie%20check";
  const answer = await request("/wp-login.php", {
    method: "POST",
    body: new URLSearchParams({ log, pwd, testcookie: 1 }),
  });
  assert.equal(answer.status, 302);
  cookie = answer.headers
    .getSetCookie()
    .map((one) => one.split(";")[0])
    .join("; ");
  return request;
}

/** Sends one of the forms of the page, with the fields that it has. */
async function submit(request, action, fields, page) {
  const form = page.split("<form").find((form) => form.includes(`value="chat_widget_${action}"`));
  const nonce = form?.match(/name="_wpnonce" value="(\w+)"/)[1] ?? "";
  const body = new URLSearchParams({ action: `chat_widget_${action}`, _wpnonce: nonce, ...fields });
  return request("/wp-admin/admin-post.php", { method: "POST", body });
}

test("a visitor sees neither the settings nor a chat before the site is activated", async () => {
  const { html } = await site.read("/");
  assert.doesNotMatch(html, /chat-widget/);
  assert.equal((await fetch(site.address + PAGE, { redirect: "manual" })).status, 302);
});

test("an administrator activates the site, and the token is never shown", async () => {
  const request = await signIn("admin", "secret");
  const fields = { origin: service.origin, code: LICENSE };
  const before = await (await request(PAGE)).text();
  assert.equal((await submit(request, "activate", fields, "")).status, 403, "without a nonce");
  assert.equal((await submit(request, "activate", fields, before)).status, 302);
  const page = await (await request(PAGE)).text();
  assert.ok(page.includes(service.origin));
  assert.ok(
    !page.includes(service.token) &&
      !page.includes(site.php("echo json_encode(get_option('chat_widget_site')['token']);")),
  );
  assert.equal((await service.site()).site.platform, "wordpress");
  assert.match((await site.read("/")).html, /data-proxy="\/connector"/);
  const config = await fetch(`${site.address}/connector/chat/config`);
  assert.equal(config.status, 200);
});

test("who may not manage options may not change them", async () => {
  site.php("wp_insert_user(['user_login' => 'editor', 'user_pass' => 'secret', 'role' => 'editor']); echo 'null';");
  const request = await signIn("editor", "secret");
  assert.equal((await request(PAGE)).status, 403);
  for (const action of ["activate", "options", "disconnect", "run"])
    assert.equal((await submit(request, action, {}, "")).status, 403, action);
  assert.ok((await service.site()).site);
});

test("jobs run at once when a signed webhook arrives, and the page shows them", async () => {
  const read = await service.add("apply_seo_overlay", { path: "/<b>nowhere", title: "T" }, 1);
  const send = (headers) =>
    fetch(`${site.address}/wp-json/chat-widget/v1/run`, { method: "POST", headers, body: "{}" });
  assert.equal((await send({})).status, 401);
  const time = Math.floor(Date.now() / 1000);
  const key = Buffer.from(SECRET.slice("whsec_".length), "base64");
  const signature = `v1,${createHmac("sha256", key).update(`id.${time}.{}`).digest("base64")}`;
  const headers = { "webhook-id": "id", "webhook-timestamp": `${time}`, "webhook-signature": signature };
  assert.equal((await send(headers)).status, 204);
  assert.equal((await read()).status, "failed");
  const page = await (await (await signIn("admin", "secret"))(PAGE)).text();
  assert.ok(page.includes("apply_seo_overlay") && page.includes("&lt;b&gt;nowhere") && !page.includes("<b>nowhere"));
});

test("an administrator disconnects the site, and the chat is gone", async () => {
  const request = await signIn("admin", "secret");
  const page = await (await request(PAGE)).text();
  assert.equal((await submit(request, "disconnect", {}, page)).status, 302);
  assert.doesNotMatch((await site.read("/")).html, /data-proxy/);
  assert.equal((await fetch(`${site.address}/connector/chat/config`)).status, 404);
});
