// The plugin for WordPress: its archive, its setting and its script tag. `scripts/check-recipes.mjs` checks its proxy.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test as nodeTest } from "node:test";
import { fileURLToPath } from "node:url";
import { debianTool } from "../../scripts/setup.mjs";
import { packPlugin, pluginFiles } from "../../scripts/wordpress-plugin.mjs";
import { zip } from "../../scripts/zip.mjs";
import { read, snippet } from "../docs-snippets.mjs";
import { TAG, ask, isInView, openChat, part, ready, shopWith } from "./chat.mjs";
import { test } from "./harness.mjs";

const folder = mkdtempSync(join(tmpdir(), "chat-wordpress-"));
const WITHOUT_WORDPRESS = fileURLToPath(new URL("wordpress.php", import.meta.url));
const CODE =
  '<script async src="https://chat.example/chat-widget/chat-widget.js" data-proxy="https://chat.example/connector/site_4f2a"></script>';
const TYPES = { js: "text/javascript", mjs: "text/javascript", wasm: "application/wasm" };
const TOKEN = { CHAT_ORIGIN: "https://service.example", CHAT_TOKEN: "a token" };

before(() => {
  debianTool("php");
  debianTool("unzip");
  execFileSync("unzip", ["-q", packPlugin(folder), "-d", folder]);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the unpacked plugin, and returns what it did. */
function run({ constants = {}, ...given }) {
  const json = JSON.stringify({
    folder: join(folder, "chat-widget"),
    constants: { ABSPATH: "/", ...constants },
    ...given,
  });
  return JSON.parse(execFileSync("php", [WITHOUT_WORDPRESS, json], { encoding: "utf8" }));
}

nodeTest("The archive has the same bytes whenever it is packed", () => {
  const again = mkdtempSync(join(folder, "again-"));
  assert.deepEqual(readFileSync(packPlugin(again)), readFileSync(packPlugin(folder)));
  const files = { "a.txt": Buffer.from("a"), "b/ü.txt": Buffer.from("b".repeat(1000)) };
  assert.deepEqual(zip(files), zip(Object.fromEntries(Object.entries(files).reverse())));
});

nodeTest("The archive unpacks into the plugin, the proxy and the files that pages load", () => {
  const archive = packPlugin(folder);
  execFileSync("unzip", ["-tq", archive]);
  const names = execFileSync("unzip", ["-Z1", archive], { encoding: "utf8" }).trim().split("\n");
  const files = pluginFiles();
  assert.deepEqual(names, Object.keys(files).sort());
  for (const [path, bytes] of Object.entries(files)) assert.ok(readFileSync(join(folder, path)).equals(bytes), path);
  for (const path of ["chat-widget.php", "lib/src/Proxy.php", "uninstall.php", "readme.txt", "widget/.htaccess"])
    assert.ok(names.includes(`chat-widget/${path}`), path);
  assert.deepEqual(
    names.filter((name) => name.includes("/tests/")),
    [],
  );
  const inWidget = names.map((name) => name.split("/")).filter(([, folder, , file]) => folder === "widget" && file);
  const folders = new Set(inWidget.map(([, , folder]) => folder));
  assert.deepEqual([...folders], ["locales", "themes"]);
});

nodeTest("PHP accepts every file of the plugin", () => {
  const scripts = Object.keys(pluginFiles()).filter((path) => path.endsWith(".php"));
  assert.ok(scripts.length >= 3);
  for (const path of scripts) execFileSync("php", ["-l", join(folder, path)]);
});

nodeTest("The versions of the plugin are the package's, and those that the docs name", () => {
  const { version } = JSON.parse(read("package.json"));
  const plugin = read("connectors/wordpress/chat-widget.php");
  const readme = read("connectors/wordpress/readme.txt");
  const field = (text, name) => text.match(new RegExp(`^[ *]*${name}: (.+)$`, "m"))?.[1];
  assert.equal(field(plugin, "Version"), version);
  assert.equal(field(readme, "Stable tag"), version);
  assert.match(readme, new RegExp(`^= ${version.replaceAll(".", "\\.")} =$`, "m"));
  assert.ok(read("docs/wordpress.md").includes(`\`chat-widget-wordpress-${version}.zip\``));
  for (const name of ["Requires at least", "Requires PHP", "License"])
    assert.equal(field(readme, name), field(plugin, name));
  const [wordpress, php] = ["Requires at least", "Requires PHP"].map((name) => field(plugin, name));
  assert.ok(read("docs/wordpress.md").includes(`WordPress ${wordpress} and PHP ${php}, or newer`));
});

nodeTest("Without a code and a token, the plugin adds nothing to the pages", () => {
  const { tags, page, links, capability } = run({});
  assert.deepEqual(tags, []);
  assert.match(page, /<textarea [^>]*name="chat_widget"[^>]*><\/textarea>/);
  assert.equal(capability, "manage_options");
  assert.deepEqual(links, ['<a href="/wp-admin/options-general.php?page=chat-widget">Settings</a>', "Deactivate"]);
});

nodeTest("The form takes the options of the code, and nothing else", () => {
  const code = `<script async src="https://evil.example/x.js" onload="alert(1)" data-proxy="https://chat.example/connector/a"
    data-greeting='{"text": "A \\"quoted\\" <b>"}' data-strings="{&quot;send&quot;: &quot;Go&quot;}">alert(2)</script>`;
  const { setting, errors, tags, page } = run({ form: code });
  assert.deepEqual(setting, {
    "data-proxy": "https://chat.example/connector/a",
    "data-greeting": '{"text": "A \\"quoted\\" <b>"}',
    "data-strings": '{"send": "Go"}',
  });
  assert.deepEqual(errors, []);
  assert.equal(tags.length, 1);
  assert.match(
    tags[0],
    /^<script src="\/wp-content\/plugins\/chat-widget\/widget\/chat-widget\.js" id="chat-widget-js" async=""/,
  );
  assert.doesNotMatch(tags[0] + page, /evil|onload|alert/);
  const text = page.match(/<textarea[^>]*>([^<]*)<\/textarea>/)[1];
  const shown = text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  assert.deepEqual(run({ form: shown }).setting, setting, "saving the form again changes nothing");
});

nodeTest("The form refuses a code without the address of the service, and keeps the setting", () => {
  const setting = { "data-proxy": "https://chat.example/connector/a" };
  for (const form of [
    "hello",
    '<script data-theme="rose"></script>',
    '<script data-proxy="javascript:alert(1)"></script>',
  ]) {
    const did = run({ setting, form });
    assert.deepEqual(did.setting, setting, form);
    assert.match(did.errors[0], /^invalid code: expected a script tag with data-proxy=/);
  }
  assert.deepEqual(run({ setting, form: "" }).tags, [], "an empty form switches the chat off");
});

nodeTest("With a token in wp-config.php, the website is the proxy", () => {
  const settings = snippet("docs/wordpress.md", "Keep the token on your server: php");
  assert.deepEqual(
    [...settings.matchAll(/define\('(\w+)', /g)].map(([, constant]) => constant),
    Object.keys(TOKEN),
  );
  for (const constant of Object.keys(TOKEN)) assert.ok(read("docs/recipes/connector.php").includes(constant));
  const [tag] = run({ constants: TOKEN }).tags;
  assert.match(tag, / data-proxy="\/connector">/);
  const [themed] = run({ constants: TOKEN, form: CODE.replace("></script>", ' data-theme="rose"></script>') }).tags;
  assert.match(themed, / data-proxy="\/connector" data-theme="rose">/);
});

test("The plugin's script tag and files show the chat", async ({ visit, recordOf }) => {
  const [tag] = run({ constants: TOKEN, form: '<script data-theme="rose"></script>' }).tags;
  const prepare = async (page) => {
    recordOf(page).tolerate("an unexpected request: /wp-content/plugins/chat-widget/widget/");
    await shopWith((html) => html.replace(TAG, () => tag))(page);
    await page.route("**/wp-content/plugins/**", (route) => {
      const path = new URL(route.request().url()).pathname.replace("/wp-content/plugins/", "");
      return route.fulfill({ path: join(folder, path), contentType: TYPES[path.split(".").at(-1)] });
    });
  };
  const page = await visit({ prepare });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await isInView(part(page, "message-assistant").last());
  await ready(page);
  const { ok, checks } = await page.evaluate(() => window.chatWidget.diagnose());
  assert.deepEqual([ok, checks.filter(({ ok }) => !ok)], [true, []]);
  const requested = recordOf(page).requests.map(({ path }) => path);
  for (const file of ["chat-widget.js", "chat-widget.wasm", "themes/rose.mjs"])
    assert.ok(requested.includes(`/wp-content/plugins/chat-widget/widget/${file}`), file);
  assert.ok(!requested.some((path) => path.startsWith("/chat-widget/")), "no file of another place is loaded");
});
