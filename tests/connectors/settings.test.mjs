// The plugin's settings in a real WordPress, as an administrator and as others use them.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { startService } from "./service.mjs";
import { PAGE, signIn, submit } from "./settings.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

/** The license of the service in its test mode. */
const LICENSE = "SANDBOX-LICENSE";
const SECRET = `whsec_${Buffer.from("a secret of the webhook").toString("base64")}`;

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

test("a visitor sees neither the settings nor a chat before the site is activated", async () => {
  const { html } = await site.read("/");
  assert.doesNotMatch(html, /chat-widget/);
  assert.equal((await fetch(site.address + PAGE, { redirect: "manual" })).status, 302);
});

test("an administrator activates the site, and the token is never shown", async () => {
  const request = await signIn(site, "admin", "secret");
  const fields = { origin: service.origin, code: LICENSE };
  const before = await (await request(PAGE)).text();
  assert.equal((await submit(request, "activate", fields, "")).status, 403, "without a nonce");
  for (const [wrong, answer] of [
    [{ ...fields, code: "WRONG" }, /The service refused the code\. Create a new one/],
    [{ ...fields, origin: `${service.origin}/admin` }, /Enter the address of the service, such as https/],
    [{ ...fields, origin: "http://127.0.0.1:1" }, /The service does not answer\. Check the address/],
  ]) {
    assert.equal((await submit(request, "activate", wrong, before)).status, 302);
    const refused = await (await request(`${PAGE}&settings-updated=true`)).text();
    assert.match(refused, answer);
    assert.match(refused, /There is no chat on your pages yet/);
  }
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
  const request = await signIn(site, "editor", "secret");
  assert.equal((await request(PAGE)).status, 403);
  for (const action of ["activate", "options", "disconnect", "pause", "run"])
    assert.equal((await submit(request, action, {}, "")).status, 403, action);
  assert.ok((await service.site()).site);
});

test("author and category are chosen by their names, and only from those that exist", async () => {
  const [category, editor] = site.php(`wp_insert_user(['user_login' => 'reader', 'user_pass' => 'secret']);
    wp_update_user(['ID' => get_user_by('login', 'editor')->ID, 'display_name' => '<b>Ada</b>']);
    echo json_encode([wp_insert_term('Glazes & "kilns"', 'category')['term_id'], get_user_by('login', 'editor')->ID]);`);
  const request = await signIn(site, "admin", "secret");
  const page = await (await request(PAGE)).text();
  const options = (page, name) => [
    ...(page.match(new RegExp(`<select[^>]*name=['"]${name}['"][^]*?</select>`))?.[0] ?? "").matchAll(
      /<option([^>]*)>([^<]*)/g,
    ),
  ];
  const texts = options(page, "author").map(([, , text]) => text.trim());
  assert.deepEqual(texts, ["— No author —", "Ada (editor)", "admin (admin)"], "a subscriber is not offered");
  assert.ok(options(page, "category").some(([, , text]) => /^Glazes &amp; .*kilns/.test(text.trim())));
  await submit(request, "options", { author: editor, category, visitorSecret: "a%41secret" }, page);
  const saved = await (await request(PAGE)).text();
  const selected = (name) => options(saved, name).find(([, attributes]) => attributes.includes("selected"))?.[1];
  assert.match(selected("author"), new RegExp(`value=['"]${editor}['"]`));
  assert.match(selected("category"), new RegExp(`value=['"]${category}['"]`));
  assert.ok(!saved.includes("a%41secret") && saved.includes("A secret is stored."));
  const stored = () => site.php("echo json_encode(get_option('chat_widget_site'));");
  assert.equal(stored().visitorSecret, "a%41secret");
  const reader = site.php("echo json_encode(get_user_by('login', 'reader')->ID);");
  for (const fields of [
    { author: reader, category },
    { author: "1 OR 1=1", category: 99999 },
    { author: editor, category: "-7" },
  ])
    await submit(request, "options", fields, saved);
  assert.deepEqual([stored().author, stored().category], [`${editor}`, `${category}`]);
  await submit(request, "options", { author: 0, category: 0, "remove-visitorSecret": "1" }, saved);
  assert.deepEqual([stored().author, stored().category, stored().visitorSecret], ["0", "0", ""]);
});

test("the page says in one sentence how the connection is, and what to do", async () => {
  const request = await signIn(site, "admin", "secret");
  const page = async () => (await request(PAGE)).text();
  assert.match(await page(), /Connected\. The first run begins within a minute\./);
  assert.match(await page(), /No jobs yet\. The first one appears when/);
  await submit(request, "run", {}, await page());
  assert.match(await page(), /Connected\. Jobs run every minute\./);

  await submit(request, "pause", {}, await page());
  assert.match(await page(), /Paused\. The chat goes on\./);
  const read = await service.add("sync_content", {});
  for (const hook of ["chat_widget_run", "chat_widget_push", "chat_widget_reconcile"]) await site.run({}, hook);
  assert.equal((await read()).status, "pending");
  assert.equal((await fetch(`${site.address}/connector/chat/config`)).status, 200);
  await submit(request, "pause", {}, await page());
  await site.run();
  assert.equal((await read()).status, "succeeded");

  await service.faults({ status: 503 });
  await site.run();
  assert.match(await page(), /The service does not answer\.<\/strong> Nothing is lost/);
  await service.faults({});
  await site.run();
  assert.match(await page(), /Connected\. Jobs run every minute\./);

  const set = (option, values) =>
    site.php(`update_option('${option}', ${values} + get_option('${option}')); echo 'null';`);
  set("chat_widget_state", "['ranAt' => time() - 3600]");
  assert.match(await page(), /nothing has run for a while\.<\/strong> WP-Cron runs when somebody visits/);

  set("chat_widget_site", "['token' => 'of-yesterday']");
  await site.run();
  const refused = await page();
  assert.match(refused, /no longer accepts the token of this site\.<\/strong> Create a license code in the console/);
  await submit(request, "activate", { origin: service.origin, code: LICENSE }, refused);
  await site.run();
  assert.match(await page(), /Connected\. Jobs run every minute\./);
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
  const page = await (await (await signIn(site, "admin", "secret"))(PAGE)).text();
  assert.ok(page.includes("Change a page head") && page.includes("&lt;b&gt;nowhere") && !page.includes("<b>nowhere"));
});

test("an administrator disconnects the site, and the chat is gone", async () => {
  const request = await signIn(site, "admin", "secret");
  const page = await (await request(PAGE)).text();
  assert.equal((await submit(request, "disconnect", {}, page)).status, 302);
  assert.doesNotMatch((await site.read("/")).html, /data-proxy/);
  assert.equal((await fetch(`${site.address}/connector/chat/config`)).status, 404);
});
