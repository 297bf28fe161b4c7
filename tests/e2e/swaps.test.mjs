// Navigation without a page load: Turbo, htmx, and the behaviour of Astro's router.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { snippet } from "../docs-snippets.mjs";
import { WASM, ask, delivered, eventually, openChat, part, allFilesLoaded, visitHolding } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";
const TAG = snippet("docs/frameworks.md", "Turbo and htmx: html");
/** These libraries parse HTML and add a style, which the shop's policy forbids. */
const POLICY = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'";

const library = (path) => readFileSync(new URL(`../../node_modules/${path}`, import.meta.url), "utf8");

/** Does what Astro does on navigation: replaces the body and runs its scripts again. */
const astro = `
  addEventListener("click", async (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    event.preventDefault();
    const next = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
    history.pushState({}, "", link.href);
    document.title = next.title;
    document.body.replaceWith(next.body);
    const [tag] = document.querySelectorAll("script[data-proxy]");
    const again = document.createElement("script");
    for (const { name, value } of tag.attributes) again.setAttribute(name, value);
    tag.replaceWith(again);
  });`;

/** The routers, each with its script, the attributes of its links, and whether it handles going back. */
const ROUTERS = {
  Turbo: { code: library("@hotwired/turbo/dist/turbo.es2017-esm.js"), hasHistory: true, tag: TAG },
  htmx: { code: library("htmx.org/dist/htmx.js"), classic: true, link: 'hx-boost="true"', hasHistory: true, tag: TAG },
  Astro: { code: astro, tag: snippet("docs/frameworks.md", "Astro: astro") },
};

/** Prepares a visit: a site of two pages that link to each other. */
const siteOf =
  ({ code, classic, link = "", tag }, options = "") =>
  async (page) => {
    await page.route("**/chat-widget/router.mjs", (route) =>
      route.fulfill({ contentType: "text/javascript", body: code }),
    );
    for (const [path, title, other] of [
      ["/", "Pots", "/workshops.html"],
      ["/workshops.html", "Workshops", "/"],
    ]) {
      const router = `<script ${classic ? "defer" : 'type="module"'} src="/chat-widget/router.mjs"></script>`;
      const head = `<head><title>${title}</title>${router}${tag.replace("data-proxy", `${options} data-proxy`)}</head>`;
      const body = `<!doctype html><html lang="en">${head}<body><h1>${title}</h1><a href="${other}" ${link}>On</a></body></html>`;
      const headers = { "content-type": "text/html", "content-security-policy": POLICY };
      await page.route(
        (url) => url.pathname === path,
        (route) => route.fulfill({ headers, body }),
      );
    }
  };

/** Follows the link to the other page, and asserts that there was no page load. */
async function followLink(page, title) {
  await page.evaluate(() => (window.stayed = true));
  await page.getByRole("link", { name: "On" }).click();
  await page.getByRole("heading", { name: title, exact: true }).waitFor();
  assert.equal(await page.evaluate(() => window.stayed), true, "there was no page load");
}

for (const [name, router] of Object.entries(ROUTERS)) {
  const { hasHistory } = router;
  test(`With ${name} the chat keeps its window, conversation and draft from page to page`, async ({ visit }) => {
    const page = await visit({ prepare: siteOf(router) });
    await allFilesLoaded(page);
    await openChat(page);
    await ask(page, QUESTION);
    await part(page, "input").fill("A draft");
    await followLink(page, "Workshops");
    await part(page, "message-visitor").getByText(QUESTION).waitFor();
    assert.equal(await part(page, "input").inputValue(), "A draft");
    await part(page, "input").press("Enter");
    await delivered(page);
    await followLink(page, "Pots");
    await part(page, "message-visitor").getByText("A draft").waitFor();
    if (hasHistory) {
      await page.goBack();
      await page.getByRole("heading", { name: "Workshops", exact: true }).waitFor();
      await part(page, "message-visitor").getByText("A draft").waitFor();
    }
    assert.equal(await page.locator("chat-widget").count(), 1);
  });

  test(`With ${name} a launcher removed before the module loads is restored when it loads`, async ({ visit }) => {
    const [page, wasm] = await visitHolding(visit, WASM, { prepare: siteOf(router) });
    await part(page, "launcher").waitFor();
    await wasm.requested;
    await followLink(page, "Workshops");
    wasm.release();
    await openChat(page);
    await ask(page, QUESTION);
    await eventually(async () => assert.equal(await page.locator("chat-widget").count(), 1));
  });
}

test("A launcher that is removed by navigation before any intent is restored on the next page", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: siteOf(ROUTERS.Turbo, 'data-load="intent"') });
  await part(page, "launcher").waitFor();
  await followLink(page, "Workshops");
  await part(page, "launcher").waitFor();
  assert.deepEqual(
    recordOf(page)
      .moduleFiles()
      .filter((path) => path.endsWith(".wasm")),
    [],
  );
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal(await page.locator("chat-widget").count(), 1);
});

test("A destroyed widget is not restored by navigation", async ({ visit }) => {
  const page = await visit({ prepare: siteOf(ROUTERS.Turbo, 'data-load="intent"') });
  await part(page, "launcher").waitFor();
  await page.evaluate(() => window.chatWidget.destroy());
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
  assert.equal(await page.locator("chat-widget").count(), 0);
});
