// The snippets of the docs, run on a page.

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
import { SEND, TAG, WASM, ask, eventually, focused, hold, openChat } from "./chat.mjs";
import { part, ready, say, shopWith, stored, allFilesLoaded } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf, pageWith, unbundled } from "./pages.mjs";

const QUESTION = "How long does delivery take?";
const COMMAND = "target/debug/site-connector";
const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1000, suggestedPresenceIntervalMs: 3000 } };

const colour = (page, name) => part(page, name).evaluate((element) => getComputedStyle(element).backgroundColor);

for (const [page, name] of [
  ["README.md", "Put it on a page: html"],
  ["docs/site-owner.md", "For site owners: html"],
]) {
  test(`The script tag of ${page} adds the chat to a page`, async ({ visit }) => {
    const visited = await visit({ prepare: pageOf(snippet(page, name)) });
    await openChat(visited);
    await ask(visited, QUESTION);
  });
}

test("The README's import mounts and opens a widget and shows the unread count in the page's title", async ({
  visit,
  server,
}) => {
  await server.setFaults(FAST_POLLING);
  const code = unbundled(snippet("README.md", "Put it on a page: ts"));
  const page = await visit({ prepare: pageWith(`${code}\nwindow.widget = widget;`) });
  await part(page, "input").waitFor();
  await ask(page, QUESTION);
  await page.evaluate(() => window.widget.close());
  await server.operatorSays("Hello");
  await eventually(async () => assert.equal(await page.title(), "(1) Shop"));
});

test("Under the policy of docs/csp.md the chat works without violations", async ({ visit, recordOf }) => {
  const [name, policy] = snippet("docs/csp.md", "Content Security Policy and Trusted Types: http")
    .trim()
    .split(/: (.*)/);
  const page = await visit({ prepare: shopWith((html) => html, { [name.toLowerCase()]: policy }) });
  await openChat(page);
  await ask(page, QUESTION);
  assert.deepEqual(recordOf(page).complaints, []);
});

test("The script tag of docs/frontend.md accepts a click on the page's button before the module loads", async ({
  visit,
}) => {
  const page = await visit({ prepare: pageOf(snippet("docs/frontend.md", "Add the chat to a page: html")) });
  await page.locator("#help").click();
  await part(page, "suggestion").getByText("Do you ship?").click();
  await part(page, "message-assistant").nth(1).waitFor();
});

test("The element of docs/frontend.md is inline and has its theme", async ({ visit }) => {
  const page = await visit({ prepare: pageOf(snippet("docs/frontend.md", "Add the chat to a page: html 2")) });
  await ask(page, QUESTION);
  assert.equal(await part(page, "launcher").count(), 0);
  assert.equal(await colour(page, "header"), "rgb(56, 70, 91)");
});

test("The module example of docs/frontend.md emits messages and uses the page's accent", async ({ visit }) => {
  const code = unbundled(snippet("docs/frontend.md", "Add the chat to a page: ts"));
  const page = await visit({ prepare: pageWith(code) });
  const said = [];
  page.on("console", (message) => said.push(message.text()));
  await part(page, "launcher").waitFor();
  await eventually(async () => assert.equal(await colour(page, "launcher"), "rgb(10, 107, 74)"));
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal(said[0], `visitor ${QUESTION}`);
  assert.match(said[1], /^assistant ./);
});

test("The marked link of docs/frontend.md is reported as a call to action", async ({ visit, server }) => {
  const link = snippet("docs/frontend.md", "Report visitor events: html");
  const page = await visit({ prepare: shopWith((html) => html.replace("<main", `${link}<main`)) });
  await allFilesLoaded(page);
  await page.getByRole("link", { name: "Book", exact: true }).click();
  const called = async () => (await server.events()).find(({ eventType }) => eventType === "cta_clicked");
  await eventually(async () => assert.deepEqual((await called())?.eventData, { label: "Book a workshop" }));
});

test("The launcher has the colours of docs/themes.md before and after the module loads", async ({ visit }) => {
  const css = snippet("docs/themes.md", "Set your own colours: css");
  let wasm;
  const page = await visit({
    prepare: async (page) => {
      wasm = await hold(page, WASM);
      await page.route("**/shop.css", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: (await response.text()) + css });
      });
    },
  });
  await part(page, "launcher").waitFor();
  assert.equal(await colour(page, "launcher"), "rgb(107, 47, 179)");
  wasm.release();
  await ready(page);
  assert.equal(await colour(page, "launcher"), "rgb(107, 47, 179)");
  await openChat(page);
  assert.equal(await colour(page, "launcher"), "rgb(87, 36, 143)", "under the pointer");
});

test("The single accent of docs/themes.md colours the whole window, light and dark", async ({ visit }) => {
  const tag = snippet("docs/themes.md", "Derive a theme from your brand's colour: html");
  const seen = async (tag) => {
    const page = await visit({ prepare: pageOf(tag) });
    await openChat(page);
    await ask(page, "How long does delivery take?");
    return colour(page, "header");
  };
  const dark = await seen(tag.replace("data-theme=", 'data-color-scheme="dark" data-theme='));
  assert.equal(await seen(tag), "rgb(10, 102, 194)");
  const [red, , blue] = dark.match(/\d+/g).map(Number);
  assert.ok(blue > 2 * red && blue < 194, `${dark} is a darker blue`);
});

test("The options of docs/site-owner.md take effect", async ({ visit }) => {
  const tag = snippet("docs/site-owner.md", "Change the look and the texts: html");
  const page = await visit({ clock: true, prepare: pageOf(tag) });
  await ready(page);
  await page.clock.runFor(14_000);
  assert.equal(await part(page, "preview").count(), 0);
  await page.clock.runFor(2_000);
  await part(page, "preview").getByText("Passt der Becher in die Spülmaschine? Fragen Sie.").waitFor();
  const { x, y, height } = await part(page, "launcher").boundingBox();
  assert.deepEqual([x, 720 - y - height], [24, 80]);
  await openChat(page);
  await part(page, "presence").getByText("Wir antworten werktags bis 17 Uhr.").waitFor();
  await part(page, "suggestion").getByText("Wie lange dauert der Versand?").waitFor();
  assert.equal(await part(page, "input").getAttribute("placeholder"), "Nachricht schreiben");
  assert.equal(await colour(page, "header"), "rgb(5, 120, 68)");
});

test("The buttons of docs/site-owner.md open and close the chat, without another launcher", async ({ visit }) => {
  const page = await visit({ prepare: pageOf(snippet("docs/site-owner.md", "Use your own buttons: html")) });
  const button = page.getByRole("button", { name: "ask us now" });
  await button.click();
  await eventually(async () => assert.equal(await focused(page), "input"));
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  assert.equal(await part(page, "launcher").count(), 0);
  await button.click();
  await part(page, "window").waitFor({ state: "detached" });
});

test("The versioned folder of docs/site-owner.md is self-contained", async ({ visit, recordOf }) => {
  const tag = snippet("docs/site-owner.md", "Update the chat: html");
  const [, folder] = tag.match(/src="(\/chat-widget\/[^"]+\/)chat-widget\.js"/);
  const page = await visit({
    prepare: async (page) => {
      await pageOf(tag)(page);
      await page.route(`**${folder}**`, async (route) =>
        route.fulfill({ response: await route.fetch({ url: route.request().url().replace(folder, "/chat-widget/") }) }),
      );
    },
  });
  await openChat(page);
  await ask(page, QUESTION);
  const files = recordOf(page)
    .paths()
    .filter((path) => path.includes("/chat-widget/"));
  assert.ok(files.length > 3 && files.every((path) => path.includes(folder)), files.join("\n"));
});

/** Returns the keys in the browser's storage, without their variable parts. */
const kinds = (keys) =>
  [...new Set(keys.map((key) => key.replace(/^(chat-widget:(outbox|event|batch):).*/, "$1…")))].sort();

test("The browser stores exactly the keys of docs/privacy.md, and reset() leaves the documented ones", async ({
  visit,
  server,
}) => {
  const page = await visit({
    clock: true,
    prepare: async (page) => {
      // Includes keys that are stored for a moment only.
      await page.addInitScript(() => {
        const { setItem } = Storage.prototype;
        window.kept = { local: [], session: [] };
        Storage.prototype.setItem = function (key, text) {
          window.kept[this === localStorage ? "local" : "session"].push(key);
          setItem.call(this, key, text);
        };
      });
      await shopWith((html) => html.replace("data-proxy=", 'data-greeting="Hello" data-proxy='))(page);
    },
  });
  await ready(page);
  await page.clock.runFor(10_000);
  await part(page, "preview").getByText("Hello").click();
  await part(page, "input").waitFor();
  await ask(page, QUESTION);
  await part(page, "menu").click();
  await part(page, "sound").click();
  await part(page, "menu-contact").click();
  await part(page, "form").getByLabel("E-mail").fill("ann@example.com");
  await part(page, "contact-send").click();
  await part(page, "contact-done").waitFor();
  await server.setFaults({ trackingDisabled: true });
  await page.evaluate(() => window.chatWidget.track("quiz_done"));
  await page.clock.runFor(10_000);
  await eventually(async () =>
    assert.ok((await page.evaluate(() => window.kept.local)).includes("chat-widget:tracking")),
  );
  await part(page, "input").fill("A draft");
  await eventually(async () => assert.ok((await page.evaluate(() => window.kept.session)).length > 0));

  const kept = await page.evaluate(() => window.kept);
  const text = read("docs/privacy.md");
  const rows = text.split("\n").filter((line) => line.startsWith("| `chat-widget:"));
  const named = rows.flatMap((line) => [...line.split("|")[1].matchAll(/`([^`]+)`/g)].map(([, key]) => key));
  assert.deepEqual(kinds(kept.local), [...named].sort());
  const ofTab = text.match(/In `sessionStorage`.*/)[0].matchAll(/`(chat-widget[^`]+)`/g);
  assert.deepEqual(
    kinds(kept.session),
    [...ofTab].map(([, key]) => key),
  );
  assert.equal(await page.evaluate(() => document.cookie), "");

  await page.evaluate(() => window.chatWidget.reset());
  const left = ["config", "greeted", "sound", "tracking", "visitor"].map((name) => `chat-widget:${name}`);
  await eventually(async () => assert.deepEqual(Object.keys(await stored(page)).sort(), left));
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), ["chat-widget::open"]);
});

test("A customer's storage keys are named as docs/privacy.md says", async ({ visit }) => {
  const page = await visit({
    prepare: shopWith((html) => html.replace("data-proxy=", 'data-customer-id="ann" data-proxy=')),
  });
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "input").fill("A draft");
  const shared = ["chat-widget:config"];
  const others = async () =>
    Object.keys(await stored(page)).filter((key) => !shared.includes(key) && !key.endsWith("@ann"));
  assert.deepEqual(await others(), []);
  const draft = read("docs/privacy.md").match(/the draft is `([^`]+)`/)[1];
  const ofTab = [draft, draft.replace("draft", "open")];
  await eventually(async () => assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage).sort()), ofTab));
});

test("The consent page of docs/privacy.md stores nothing before consent, and remembers the choice", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: pageOf(snippet("docs/privacy.md", "Ask for consent: html")) });
  const keys = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("chat-widget:")));
  await openChat(page);
  await ask(page, QUESTION);
  assert.deepEqual([await keys(), recordOf(page).of("/connector/events")], [[], []]);
  await page.getByRole("button", { name: "I agree" }).click();
  await eventually(async () => assert.ok((await keys()).includes("chat-widget:conversation")));
  await page.reload();
  await openChat(page);
  await part(page, "message-visitor").getByText(QUESTION).waitFor();
});

test("The logout of docs/privacy.md erases the conversation", async ({ visit }) => {
  const tag = snippet("docs/site-owner.md", "For site owners: html");
  const page = await visit({
    prepare: pageWith(
      snippet("docs/privacy.md", "What a visitor can do: js"),
      `${tag}<button id="logout">Log out</button>`,
    ),
  });
  await openChat(page);
  await ask(page, QUESTION);
  const { visitorId } = (await stored(page))["chat-widget:visitor"];
  await page.locator("#logout").click();
  await eventually(async () => assert.equal(await part(page, "message-visitor").count(), 0));
  await eventually(async () => assert.notEqual((await stored(page))["chat-widget:visitor"].visitorId, visitorId));
  assert.equal((await stored(page))["chat-widget:conversation"], undefined);
});

test("An unsent message is in the outbox key of docs/privacy.md until it is delivered", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  const send = await hold(page, SEND);
  await say(page, QUESTION);
  await send.asked;
  assert.ok(kinds(Object.keys(await stored(page))).includes("chat-widget:outbox:…"));
  send.release();
  await eventually(async () => assert.ok(!kinds(Object.keys(await stored(page))).includes("chat-widget:outbox:…")));
});

test("The diagnose() call of docs/troubleshooting.md prints a table of the checks", async ({ visit }) => {
  const page = await visit();
  await page.waitForFunction(() => window.chatWidget?.diagnose);
  const table = page.waitForEvent("console", (message) => message.type() === "table");
  const code = snippet("docs/troubleshooting.md", "Troubleshooting: js");
  // As in the console, where `await` needs no function around it.
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Runtime.evaluate", { expression: code, awaitPromise: true, replMode: true });
  const rows = await (await table).args()[0].jsonValue();
  assert.deepEqual(
    rows.map(({ name, ok }) => [name, ok]),
    ["options", "wasm", "files", "launcher", "proxy", "config", "clock", "storage", "policy"].map((name) => [
      name,
      true,
    ]),
  );
});

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
    const [, count] = read("docs/server.md").match(/each of (\d+) sentences/);
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

test("The plugin of docs/wordpress.md writes a working script tag, and serves as its proxy", async ({ visit }) => {
  const plugin = snippet("docs/wordpress.md", "WordPress, by hand: php");
  const [, handle, file, strategy] = plugin.match(
    /wp_enqueue_script\('([\w-]+)', '([^']+)', \[\], null, \['strategy' => '(\w+)'\]\)/,
  );
  const [, id] = plugin.match(/\$attributes\['id'\] \?\? ''\) === '([^']+)'/);
  const attributes = [...plugin.matchAll(/\$attributes\['(data-[\w-]+)'\] = '([^']*)';/g)].map(
    ([, name, value]) => `${name}="${value}"`,
  );
  assert.equal(id, `${handle}-js`, "the id that WordPress gives the tag");
  const tag = `<script src="${file}" id="${id}" ${strategy} data-wp-strategy="${strategy}" ${attributes.join(" ")}></script>`;
  const page = await visit({ prepare: shopWith((html) => html.replace(TAG, () => tag)) });
  await openChat(page);
  await ask(page, QUESTION);

  const [, prefix] = plugin.match(/str_starts_with\(\$_SERVER\['REQUEST_URI'\] \?\? '', '([^']+)'\)/);
  assert.ok(attributes.includes(`data-proxy="${prefix.replace(/\/$/, "")}"`));
  const recipe = read("docs/recipes/connector.php");
  assert.ok(recipe.includes(`$prefix = '${prefix.replace(/\/$/, "")}'`));
  const settings = snippet("docs/wordpress.md", "WordPress, by hand: php 2");
  for (const [, constant] of settings.matchAll(/define\('(\w+)', /g))
    assert.ok(recipe.includes(`\\${constant}`), constant);
});
