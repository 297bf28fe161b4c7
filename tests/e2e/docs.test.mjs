// The snippets of the docs, run on a page.

import assert from "node:assert/strict";
import { snippet } from "../docs-snippets.mjs";
import { WASM, allFilesLoaded, ask, eventually, focused } from "./chat.mjs";
import { openChat, part, ready, shopWith, visitHolding } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf, pageWith, unbundled } from "./pages.mjs";

const QUESTION = "How long does delivery take?";
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
  const logged = [];
  page.on("console", (message) => logged.push(message.text()));
  await part(page, "launcher").waitFor();
  await eventually(async () => assert.equal(await colour(page, "launcher"), "rgb(10, 107, 74)"));
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal(logged[0], `visitor ${QUESTION}`);
  assert.match(logged[1], /^assistant ./);
});

test("The marked link of docs/frontend.md is reported as a call to action", async ({ visit, server }) => {
  const link = snippet("docs/frontend.md", "Report visitor events: html");
  const page = await visit({ prepare: shopWith((html) => html.replace("<main", `${link}<main`)) });
  await allFilesLoaded(page);
  await page.getByRole("link", { name: "Book", exact: true }).click();
  const called = async () => (await server.events()).find(({ eventType }) => eventType === "cta_clicked");
  await eventually(async () => assert.deepEqual((await called())?.eventData, { label: "Book a workshop" }));
});

test("The launcher has the colours of docs/themes.md before and after the module loads, and the window too", async ({
  visit,
}) => {
  const css = snippet("docs/themes.md", "Set your own colours: css");
  const prepare = (page) =>
    page.route("**/shop.css", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()) + css });
    });
  const [page, wasm] = await visitHolding(visit, WASM, { prepare });
  await part(page, "launcher").waitFor();
  assert.equal(await colour(page, "launcher"), "rgb(107, 47, 179)");
  wasm.release();
  await ready(page);
  assert.equal(await colour(page, "launcher"), "rgb(107, 47, 179)");
  await openChat(page);
  assert.equal(await colour(page, "launcher"), "rgb(87, 36, 143)", "under the pointer");
  assert.equal(await colour(page, "header"), "rgb(107, 47, 179)");
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
  const prepare = async (page) => {
    await page.addInitScript(() => (window.startedMs = Date.now()));
    await pageOf(tag)(page);
  };
  const page = await visit({ clock: true, prepare });
  await ready(page);
  // The clock has run while the page was loading.
  await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
  const passedMs = await page.evaluate(() => Date.now() - window.startedMs);
  await page.clock.runFor(14_000 - passedMs);
  assert.equal(await part(page, "preview").count(), 0);
  await page.clock.runFor(15_000);
  await part(page, "preview").getByText("Passt der Becher in die Spülmaschine? Fragen Sie.").waitFor();
  await page.clock.resume();
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
  // The loader keeps early clicks, from its first line on.
  await page.waitForFunction(() => window.chatWidget);
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
