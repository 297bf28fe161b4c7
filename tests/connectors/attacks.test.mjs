// Attacks on the plugin in a real WordPress: people without the right to change it, forged requests, jobs with hostile
// content, people who edit at the same time, and connections that break.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { pluginSources } from "../../scripts/wordpress-plugin.mjs";
import { startService } from "./service.mjs";
import { PAGE, signIn } from "./settings.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

const ACTIONS = ["activate", "options", "pause", "run", "disconnect"];
/** The site's own rows and the plugin's settings. */
const STATE = `global $wpdb; echo json_encode([get_option('chat_widget_site'), get_option('chat_widget'),
  $wpdb->get_results("SELECT ID, post_title, post_content, post_status, post_name, post_type FROM $wpdb->posts WHERE
    guid NOT LIKE 'urn:chat-widget:%' AND post_type <> 'revision' ORDER BY ID"),
  $wpdb->get_col("SHOW TABLES"), $wpdb->get_results("SELECT user_login, user_email FROM $wpdb->users"),
  $wpdb->get_results("SELECT * FROM $wpdb->usermeta WHERE meta_key LIKE '%capabilities'")]);`;

let service;
let site;
before(async () => {
  service = await startService();
  site = await startWordPress({ version: "6.5" });
  site.php(`update_option('chat_widget_site', ['origin' => '${service.origin}', 'token' => '${service.token}']);
    foreach (['subscriber', 'editor'] as $role)
      wp_insert_user(['user_login' => $role, 'user_pass' => 'secret', 'role' => $role, 'display_name' => ucfirst($role)]);
    echo 'null';`);
});
after(async () => {
  stopWordPress();
  await stopAll();
});

/** Adds a job, and runs it once. Returns it. */
async function job(type, payload, attempts = 1) {
  const read = await service.add(type, payload, attempts);
  const { output } = await site.run();
  assert.doesNotMatch(output, /Warning|Notice|Deprecated|Fatal/, output);
  return read();
}

/** Returns a nonce that WordPress makes for a user's session of this request function. */
async function nonces(request) {
  const page = await (await request(PAGE)).text();
  return Object.fromEntries(
    [...page.matchAll(/value="chat_widget_(\w+)"><input type="hidden" name="_wpnonce" value="(\w+)"/g)].map((found) =>
      found.slice(1),
    ),
  );
}

test("Who may not manage the site changes nothing, whatever they send", async () => {
  const own = await nonces(await signIn(site, "admin", "secret"));
  assert.deepEqual(Object.keys(own).sort(), ["disconnect", "options", "pause", "run"]);
  const unchanged = site.php(STATE);
  for (const role of ["subscriber", "editor", null]) {
    const request = role
      ? await signIn(site, role, "secret")
      : (path, init) => fetch(site.address + path, { redirect: "manual", ...init });
    for (const action of ACTIONS)
      for (const nonce of [own[action] ?? "", "0123456789", ""])
        for (const method of ["POST", "GET"]) {
          const fields = new URLSearchParams({
            action: `chat_widget_${action}`,
            _wpnonce: nonce,
            author: 1,
            origin: "x",
          });
          const answer =
            method === "POST"
              ? await request("/wp-admin/admin-post.php", { method, body: fields })
              : await request(`/wp-admin/admin-post.php?${fields}`);
          // Without a session, WordPress runs the hooks for visitors, and the plugin has none.
          if (role) assert.equal(answer.status, 403, `${role} ${method} ${action}`);
          else assert.doesNotMatch(await answer.text(), /chat_widget/);
        }
    const body = new URLSearchParams({
      option_page: "chat_widget",
      action: "update",
      chat_widget: "<script data-proxy='https://evil.example/'>",
    });
    assert.notEqual((await request("/wp-admin/options.php", { method: "POST", body })).status, 200);
    for (const path of ["/wp-json/chat-widget/v1/run", "/?rest_route=/chat-widget/v1/run"])
      assert.ok([401, 403].includes((await request(path, { method: "POST", body: "{}" })).status), path);
  }
  assert.deepEqual(site.php(STATE), unchanged);
});

test("An administrator's browser is not enough: a page of another site has no nonce", async () => {
  const request = await signIn(site, "admin", "secret");
  const own = await nonces(request);
  const unchanged = site.php(STATE);
  const other = { options: own.run, run: own.options, pause: own.disconnect, disconnect: own.pause, activate: own.run };
  for (const action of ACTIONS)
    for (const nonce of [other[action], "", "0123456789"]) {
      const body = new URLSearchParams({ action: `chat_widget_${action}`, _wpnonce: nonce });
      assert.equal((await request("/wp-admin/admin-post.php", { method: "POST", body })).status, 403, action);
    }
  assert.deepEqual(site.php(STATE), unchanged);
});

test("A webhook runs jobs only with a fresh signature of its own body", async () => {
  const secret = `whsec_${Buffer.from("a secret").toString("base64")}`;
  const send = (headers, body = "{}") =>
    fetch(`${site.address}/wp-json/chat-widget/v1/run`, { method: "POST", headers, body });
  const sign = (time, body = "{}", key = Buffer.from("a secret")) => ({
    "webhook-id": "id",
    "webhook-timestamp": `${time}`,
    "webhook-signature": `v1,${createHmac("sha256", key).update(`id.${time}.${body}`).digest("base64")}`,
  });
  const now = Math.floor(Date.now() / 1000);
  assert.equal((await send(sign(now, "{}", ""))).status, 401, "without a secret, nothing is signed");
  site.php(
    `update_option('chat_widget_site', ['webhookSecret' => '${secret}'] + get_option('chat_widget_site')); echo 'null';`,
  );
  for (const [headers, body] of [
    [sign(now - 3600)],
    [sign(now + 3600)],
    [sign(now), '{"other":1}'],
    [sign(now, "{}", Buffer.from("another"))],
    [{ ...sign(now), "webhook-id": "other" }],
    [{ ...sign(now), "webhook-signature": "v1," }],
    [{}],
  ])
    assert.equal((await send(headers, body)).status, 401);
  assert.equal((await send(sign(now))).status, 204);
});

/** HTML that must not run in a visitor's browser. */
const HOSTILE_HTML = `<p onclick="alert(1)">Text of the article.</p><script>alert(2)</script><ScRiPt
>alert(3)</sCrIpT ><img src=x onerror=alert(4)><a href="javascript:alert(5)">a</a><a href="jav&#x09;ascript:alert(6)">b</a>
<iframe src="https://evil.example"></iframe><svg onload="alert(7)"><script>alert(8)</script></svg><style>*{display:none}</style>
<form action="https://evil.example"><input name="password"></form><!-- wp:html --><script>alert(9)</script><!-- /wp:html -->
<object data="https://evil.example/x.swf"></object><embed src="https://evil.example"><meta http-equiv="refresh" content="0;url=https://evil.example">
<base href="https://evil.example/"><math><mtext></form><form><mglyph><style></math><img src onerror=alert(10)>
<?php echo 'alert(11)'; ?><p style="background:url(javascript:alert(12))">end of it</p>`;

test("Hostile HTML of a job is published without anything that runs", async () => {
  const done = await job("publish_article", {
    contentId: "hostile",
    type: "post",
    path: "/hostile",
    title: "<img src=x onerror=alert(0)>A title</title><script>alert(0)</script>",
    content: HOSTILE_HTML,
    action: "publish",
  });
  const { html } = await site.read("/hostile/");
  const article = html.slice(html.indexOf("entry-content"), html.indexOf("end of it"));
  assert.ok(done.status === "succeeded" && article.includes("Text of the article."), done.error);
  assert.doesNotMatch(
    article,
    /<script|<iframe|<object[^>]+data|<embed|<base|<meta|<style|<form|<input|<svg|\son\w+\s*=|javascript:|<\?php/i,
  );
  assert.doesNotMatch(html, /<script[^>]*>\s*alert|<img[^>]*onerror/i);
});

test("Hostile values of a page head stay values", async () => {
  const text = `"><script>alert(1)</script><meta http-equiv=refresh content='0;url=https://evil.example'></title></head><body onload=alert(2)>`;
  const done = await job("apply_seo_overlay", {
    path: "/hostile",
    title: text,
    description: text,
    robots: text,
    canonicalUrl: `https://kiln.example/${text}`,
    openGraph: { title: text, [`x"><script>alert(3)</script>`]: text },
    structuredData: [{ "@type": "FAQPage", text: `</script><script>alert(4)</script>${text}` }],
  });
  const { html } = await site.read("/hostile/");
  assert.equal(done.status, "succeeded", done.error);
  assert.doesNotMatch(html, /<script[^>]*>\s*alert|<meta http-equiv=refresh|<body onload/i);
  assert.equal(html.match(/<\/head>/g).length, 1);
  await job("apply_seo_overlay", { path: "/hostile" });
});

test("Hostile names, paths and kinds of jobs change nothing of the site's own", async () => {
  const [draft, secret] = site.php(`$fields = ['post_author' => 1, 'post_content' => 'x'];
    echo json_encode([wp_insert_post($fields + ['post_title' => 'A draft', 'post_status' => 'draft']),
      wp_insert_post($fields + ['post_title' => 'A secret', 'post_status' => 'private', 'post_name' => 'secret'])]);`);
  const unchanged = site.php(STATE);
  const article = { title: "T", content: "<p>Text of an attack.</p>", action: "publish" };
  const attacks = [
    ...[
      `post-${draft}`,
      `post-${secret}`,
      "post-1 OR 1=1",
      "post-1'; DROP TABLE wp_posts; --",
      "post-99999999999999999999",
    ].map((externalId) => ({ externalId, path: `/attack-${externalId.length}`, ...article })),
    ...[
      "/",
      "",
      "//evil.example/x",
      "/../../wp-config.php",
      "/%00",
      "/a%2f..%2fb",
      "/?p=1",
      "/secret",
      `/${"x".repeat(5000)}`,
      "/\u202e\ufffd",
      "/wp-admin",
      "/feed",
      "https://evil.example/x",
      "/-",
    ].map((path, number) => ({ contentId: `path-${number}`, path, ...article })),
    ...["revision", "attachment", "nav_menu_item", "wp_template", "product", "__proto__"].map((type) => ({
      contentId: `type-${type}`,
      path: `/of-type-${type.replaceAll("_", "-")}`,
      type,
      ...article,
    })),
    { contentId: "x".repeat(100_000), path: "/long-id", ...article },
    { contentId: ["a"], path: { a: 1 }, title: 7, content: null },
    {
      contentId: "shortcode",
      path: "/shortcode",
      title: "[gallery]",
      content: "<p>[gallery ids=1] [caption]x[/caption]</p>",
    },
    {},
  ];
  for (const payload of attacks) {
    const { status, result } = await job("publish_article", payload);
    assert.ok(["succeeded", "failed"].includes(status));
    // A success is true: the page is there, and it is a post or a page of the service.
    if (status === "succeeded")
      assert.match((await site.read(new URL(result.url).pathname)).html, /Text of an attack|\[gallery\]/);
  }
  for (const path of [
    "",
    "no-slash",
    "//evil.example/x",
    "/\r\nX: y",
    "/../../etc/passwd",
    "/wp-login.php",
    `/${"y".repeat(5000)}`,
  ])
    assert.equal((await job("apply_seo_overlay", { path, title: "T" })).status, "failed", path.slice(0, 30));
  assert.equal((await job("no_such_type", {})).status, "failed");
  const types =
    site.php(`global $wpdb; echo json_encode($wpdb->get_col("SELECT DISTINCT post_type FROM $wpdb->posts WHERE
    guid LIKE 'urn:chat-widget:%'"));`);
  assert.deepEqual(
    types.filter((type) => !["post", "page"].includes(type)),
    [],
  );
  assert.deepEqual(site.php(STATE), unchanged);
});

const editing = (path, text) => ({
  contentId: path,
  type: "post",
  path,
  title: "Edited",
  content: `<p>${text}</p>`,
  action: "publish",
});

test("A page that a person has open in the editor is left alone, and the job says who it is", async () => {
  await job("publish_article", editing("/open", "The first version"));
  const [{ ID }] = site.posts("open");
  site.php(`update_post_meta(${ID}, '_edit_lock', time() . ':' . get_user_by('login', 'editor')->ID); echo 'null';`);
  for (const type of ["publish_article", "delete_article"]) {
    const refused = await job(type, editing("/open", "The second version"));
    assert.equal(refused.status, "failed");
    assert.match(refused.error, /Editor has the page open in the editor/);
    assert.match((await site.read("/open/")).html, /The first version/);
  }
  site.php(`delete_post_meta(${ID}, '_edit_lock'); echo 'null';`);
  assert.equal((await job("publish_article", editing("/open", "The second version"))).status, "succeeded");
  assert.match((await site.read("/open/")).html, /The second version/);
  await job("rollback_article", editing("/open", ""));
  assert.match((await site.read("/open/")).html, /The first version/, "the refused jobs are no versions");
});

test("What a person saves while a job runs is kept, and comes back", async () => {
  for (const [number, step] of ["record", "update"].entries()) {
    const path = `/meanwhile-${number}`;
    await job("publish_article", editing(path, "The first version"));
    const [{ ID }] = site.posts(path.slice(1));
    const read = await service.add("publish_article", editing(path, "The second version"));
    const { child, ended, paused } = await site.run({ PAUSE_AT: step });
    await paused;
    site.edit({ ID: Number(ID), post_title: "Edited", post_content: "<p>Saved by a person</p>" });
    child.stdin.write("\n");
    await ended;
    for (let tries = 0; (await read()).status !== "succeeded" && tries < 10; tries += 1) await site.run();
    assert.equal((await read()).status, "succeeded", (await read()).error);
    assert.match((await site.read(`${path}/`)).html, /The second version/);
    await job("rollback_article", editing(path, ""));
    assert.match((await site.read(`${path}/`)).html, /Saved by a person/, step);
  }
});

test("A connection that breaks in the middle is no success, and the next run completes the work", async () => {
  const read = await service.add("publish_article", editing("/broken", "Text of the broken one"));
  const pages = `${site.address}/broken`;
  site.test("offline", pages);
  await site.run();
  assert.notEqual((await read()).status, "succeeded");
  assert.match((await read()).error, /could not read its own page .*Connection reset/);
  site.test("offline", null);
  for (let tries = 0; (await read()).status !== "succeeded" && tries < 10; tries += 1) await site.run();
  assert.equal((await read()).status, "succeeded", (await read()).error);
  assert.equal(site.posts("broken").length, 1);

  await service.faults({ only: "sync", dropRequests: 0.999 });
  await site.run({}, "chat_widget_reconcile");
  assert.match(site.php("echo json_encode(get_option('chat_widget_state')['syncErrorKind']);"), /away/);
  await service.faults({});
  await site.run({}, "chat_widget_reconcile");
  const published = site.php(`global $wpdb; echo json_encode($wpdb->get_var("SELECT COUNT(*) FROM $wpdb->posts WHERE
    post_status = 'publish' AND post_type IN ('post', 'page')"));`);
  const { content } = await service.site();
  assert.equal(content.filter(({ externalId }) => /^post-/.test(externalId)).length, Number(published));
});

test("A file of the plugin that is requested by its address says nothing", async () => {
  for (const path of Object.keys(pluginSources()).filter((path) => path.endsWith(".php"))) {
    const { status, html } = await site.read(`/wp-content/plugins/chat-widget/${path}`);
    assert.deepEqual([status, html], [200, ""], path);
  }
});

test("The plugin speaks the user's language, whatever its region", async () => {
  for (const [locale, sentence] of [
    ["de_AT", "Artikel und Seitenköpfe"],
    ["fr_FR", "Articles et en-têtes de page"],
    ["es_MX", "Artículos y cabeceras de página"],
    ["ar", "المقالات ورؤوس الصفحات"],
    ["nl_NL", "Articles and page heads"],
  ]) {
    site.test("locale", locale);
    const page = await (await (await signIn(site, "admin", "secret"))(PAGE)).text();
    assert.ok(page.includes(sentence), locale);
    assert.doesNotMatch(page, /(Warning|Notice|Deprecated)<\/b>/);
  }
  site.test("locale", null);
});
