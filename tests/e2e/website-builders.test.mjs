// docs/website-builders.md: each snippet works on a page of another origin, inserted as the vendor inserts it. The vendors'
// own scripts are imitated: what they keep of a script tag, and how they change pages.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { read, snippet } from "../docs-snippets.mjs";
import { asLines, ask, errorsOf, eventually, isInView, openChat, part, ready, shopWith } from "./chat.mjs";
import { closeQuietly } from "./context.mjs";
import { launch } from "./demo.mjs";
import { servePage } from "./service.mjs";
import { startTeam } from "./team.mjs";

const QUESTION = "How long does delivery take?";

let browser;
let shop;
let service;
/** The contexts of the test that runs. */
const contexts = [];

before(async () => {
  [browser, shop] = await Promise.all([launch(), servePage(() => "")]);
  service = await startTeam(["Maren"], { origins: [shop.origin] });
});

after(async () => {
  await browser?.close();
  await Promise.all([service?.stop(), shop?.stop()]);
});

const LINE = snippet("docs/website-builders.md", "Copy the line: html");
const TAG_MANAGER = snippet("docs/website-builders.md", "Google Tag Manager: html");
const POLICY = snippet("docs/website-builders.md", "Allow the chat in a Content Security Policy: http");

/** Returns a snippet with the addresses of the test's service. */
const own = (text) =>
  text
    .replaceAll(/(?<=\/connector\/)site_\w+/g, service.site.id)
    .replaceAll("https://chat.example", service.address)
    .trim();

/** Opens a website that sends this HTML and these headers. Returns the page with the errors that its console showed. */
async function visit(html, headers = {}) {
  const context = await browser.newContext({ viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" });
  contexts.push(context);
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const errors = errorsOf(page);
  await shopWith(() => `<!doctype html><html lang="en"><title>A shop</title>${html}</html>`, headers)(page);
  await page.goto(shop.origin);
  return { page, errors };
}

afterEach(async () => {
  for (const context of contexts.splice(0)) await closeQuietly(context);
});

/** Asks in the chat, and asserts that the whole answer is in the visible area, and that `diagnose()` finds no problem. */
async function asksAndSeesTheAnswer({ page, errors }) {
  await openChat(page);
  await ask(page, QUESTION);
  await isInView(part(page, "message-assistant").last());
  await ready(page);
  const { ok, checks } = await page.evaluate(() => window.chatWidget.diagnose());
  assert.deepEqual([ok, checks.filter(({ ok }) => !ok)], [true, []]);
  assert.deepEqual(errors, []);
}

/** Asserts that the page has one chat, still open, with the conversation from before. */
async function hasOneChatWithTheConversation(page) {
  await eventually(async () => {
    assert.equal(await page.locator("chat-widget").count(), 1);
    const lines = await part(page, "message").evaluateAll(asLines);
    assert.ok(lines.includes(`visitor: ${QUESTION}`), lines.join("\n"));
  });
  await part(page, "input").waitFor();
  await isInView(part(page, "message-assistant").last());
}

/**
 * Inserts the HTML of a Custom HTML tag as Google Tag Manager does: of a script it keeps the text, the id and the address, and
 * no other attribute. It runs in the page.
 */
function insertAsTagManager(html) {
  const tag = document.createElement("div");
  tag.innerHTML = html;
  for (const node of [...tag.childNodes]) {
    if (node.nodeName !== "SCRIPT") {
      document.body.append(node);
      continue;
    }
    const script = Object.assign(document.createElement("script"), { async: false, id: node.id, text: node.text });
    script.type = "text/javascript";
    if (node.hasAttribute("src")) script.src = node.src;
    document.body.append(script);
  }
}

/** Inserts a script tag with all its attributes as a page's own router or consent banner does. It runs in the page. */
function insertScripts(html) {
  const code = document.createElement("div");
  code.innerHTML = html;
  for (const node of code.querySelectorAll("script")) {
    const script = document.createElement("script");
    for (const { name, value } of node.attributes) script.setAttribute(name, value);
    script.text = node.text;
    document.body.append(script);
  }
}

test("Google Tag Manager: the code creates a script tag that keeps its options", { timeout: 60_000 }, async () => {
  const visited = await visit("<body><h1>A shop</h1>");
  await visited.page.evaluate(insertAsTagManager, own(TAG_MANAGER));
  await asksAndSeesTheAnswer(visited);
});

test("Google Tag Manager: the line itself loses its options, and the console says which", async () => {
  const { page, errors } = await visit("<body><h1>A shop</h1>");
  await page.evaluate(insertAsTagManager, own(LINE));
  await eventually(() => assert.equal(errors.length, 1, errors.join("\n")));
  const quoted = read("docs/website-builders.md").match(/log `(the script tag needs data-proxy=)`/)[1];
  assert.ok(errors[0].includes(quoted), errors[0]);
  assert.equal(await page.locator("chat-widget").count(), 0);
});

test("Google Tag Manager: the code is ES5, which Tag Manager requires", () => {
  assert.match(TAG_MANAGER, /\bvar\b/);
  assert.doesNotMatch(TAG_MANAGER, /\b(?:const|let|class)\b|=>|`/);
});

test("Shopify: the line in theme.liquid, with the policy that Shopify sends", { timeout: 60_000 }, async () => {
  const layout = `<head>{{ content_for_header }}</head><body>{{ content_for_layout }}\n${own(LINE)}</body>`;
  const rendered = layout
    .replace("{{ content_for_header }}", "<script>var Shopify = { shop: 'pots.myshopify.com' };</script>")
    .replace("{{ content_for_layout }}", "<main><h1>A shop</h1></main>");
  assert.doesNotMatch(rendered, /\{[{%]/, "Liquid would read it as its own");
  const policy = "block-all-mixed-content; frame-ancestors 'none'; upgrade-insecure-requests;";
  const visited = await visit(rendered, { "Content-Security-Policy": policy });
  await asksAndSeesTheAnswer(visited);
});

for (const [choice, again] of [
  ["Load code once", false],
  ["on every page", true],
]) {
  test(`Wix: the chat stays open when the page changes without a reload: ${choice}`, { timeout: 60_000 }, async () => {
    const visited = await visit(`<body><div id="SITE_CONTAINER"><h1>A shop</h1></div>`);
    const { page, errors } = visited;
    // Wix loads functional code after the visitor has accepted its cookies.
    await page.evaluate(insertScripts, own(LINE));
    await asksAndSeesTheAnswer(visited);
    await page.evaluate(() => {
      history.pushState({}, "", "/about");
      document.getElementById("SITE_CONTAINER").innerHTML = "<h1>About us</h1>";
    });
    if (again) {
      const loaded = page.waitForResponse((response) => response.url().endsWith("/chat-widget.js"));
      await page.evaluate(insertScripts, own(LINE));
      await loaded;
    }
    await hasOneChatWithTheConversation(page);
    assert.deepEqual(errors, []);
  });
}

test("Squarespace: the chat restores itself when Ajax loading replaces the page", { timeout: 60_000 }, async () => {
  const visited = await visit(`<body class="homepage"><main><h1>A shop</h1></main>${own(LINE)}</body>`);
  const { page, errors } = visited;
  await asksAndSeesTheAnswer(visited);
  await page.evaluate(() => {
    history.pushState({}, "", "/about");
    document.body.className = "about";
    document.body.innerHTML = "<main><h1>About us</h1></main>";
  });
  await hasOneChatWithTheConversation(page);
  assert.deepEqual(errors, []);
});

test("Squarespace: the chat survives Ajax loading before it is there", { timeout: 60_000 }, async () => {
  const visited = await visit(`<body><main><h1>A shop</h1></main>${own(LINE)}</body>`);
  await part(visited.page, "launcher").waitFor();
  await visited.page.evaluate(() => {
    document.body.innerHTML = "<main><h1>About us</h1></main>";
  });
  await asksAndSeesTheAnswer(visited);
});

test("Webflow: the line in the footer code, after Webflow's own script", { timeout: 60_000 }, async () => {
  const footer = `<script>window.Webflow = window.Webflow || [];</script>\n${own(LINE)}`;
  const visited = await visit(`<body><h1>A shop</h1>${footer}</body>`);
  await asksAndSeesTheAnswer(visited);
});

test("The policy of the page allows what the chat needs", { timeout: 60_000 }, async () => {
  const [, directives] = own(POLICY).match(/^Content-Security-Policy: (.*)$/);
  const visited = await visit(`<body><h1>A shop</h1>${own(LINE)}</body>`, {
    "Content-Security-Policy": `default-src 'none'; ${directives}`,
  });
  await asksAndSeesTheAnswer(visited);
});

test("A website that is not in the allowed origins gets the advice of the docs", { timeout: 60_000 }, async () => {
  const stranger = await startTeam(["Maren"], { origins: ["https://shop.example"] });
  const tag = own(LINE).replaceAll(service.address, stranger.address).replace(service.site.id, stranger.site.id);
  const { page } = await visit(`<body><h1>A shop</h1>${tag}</body>`);
  await page.waitForFunction(() => window.chatWidget?.diagnose);
  const { ok, checks } = await page.evaluate(() => window.chatWidget.diagnose());
  assert.equal(ok, false);
  const [proxy] = checks.filter(({ name }) => name === "proxy");
  assert.match(proxy.message, /The proxy cannot be reached/);
  await stranger.stop();
});
