// The widget on pages with conflicting styles, dialogs, listeners and prototypes.

import assert from "node:assert/strict";
import { snippet } from "../docs-snippets.mjs";
import { ask, delivered, eventually, focused, openChat, part, say, shopWith, allFilesLoaded } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf, pageWith } from "./pages.mjs";

const QUESTION = "How long does delivery take?";
const TAG = snippet("docs/site-owner.md", "For site owners: html");
const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1 } };

/** Page styles that change every property of every element. */
const STYLES = `
  html { font-size: 62.5%; writing-mode: vertical-rl; }
  * {
    all: unset !important; font: 30px/3 serif !important; letter-spacing: 3px !important; word-spacing: 9px !important;
    text-align: center !important; text-transform: uppercase !important; text-indent: 40px !important; color: red !important;
    background: yellow !important; border: 3px solid !important; margin: 5px !important; direction: rtl !important;
    visibility: hidden !important; pointer-events: none !important; user-select: none !important; opacity: 0.5 !important;
    transition: all 9s !important; cursor: wait !important; white-space: nowrap !important;
  }
  *::before, *::after { content: "x" !important; display: block !important; }
  div, section, ul, li, p, slot { display: none !important; }
  button, input, textarea { appearance: auto !important; outline: 9px solid red !important; }
  svg, path { fill: red !important; stroke: red !important; width: 1px !important; }
  ::placeholder, ::selection { color: red !important; background: red !important; }
  chat-widget { display: none !important; transform: rotate(9deg) !important; filter: blur(9px) !important; }`;

/**
 * Reads the computed styles of every element of the widget and its pseudo-elements in the page. Stores them, and returns
 * the differences from the previous call.
 */
function look() {
  const looks = [];
  for (const element of document.querySelector("chat-widget").shadowRoot.querySelectorAll(".cw *")) {
    const { x, y, width, height } = element.getBoundingClientRect();
    const name = `${element.localName}.${element.getAttribute("class")}`;
    looks.push(`${name} ${x} ${y} ${width} ${height}`);
    for (const pseudo of ["", "::before", "::after", ...(element.placeholder ? ["::placeholder"] : [])]) {
      const style = getComputedStyle(element, pseudo);
      for (const property of style) looks.push(`${name}${pseudo} ${property}: ${style.getPropertyValue(property)}`);
    }
  }
  const before = window.looks ?? [];
  window.looks = looks;
  return { count: looks.length, changed: looks.filter((look, index) => look !== before[index]).slice(0, 20) };
}

test("No style of the page reaches the widget, whether inherited, universal or !important", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "input").fill("A draft");
  await page.mouse.move(1, 1);
  await page.evaluate(() => document.getAnimations().forEach((animation) => animation.finish()));
  const { count } = await page.evaluate(look);
  assert.ok(count > 10_000, "every property of every element");
  await page.evaluate((styles) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(styles);
    document.adoptedStyleSheets = [sheet];
  }, STYLES);
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("h1")).color), "rgb(255, 0, 0)");
  assert.deepEqual(await page.evaluate(look), { count, changed: [] });
});

const HIDES_EMPTY = `
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(":empty { display: none !important; }");
  document.adoptedStyleSheets = [sheet];`;

test("A page rule that hides empty elements does not hide the live region", async ({ visit }) => {
  const page = await visit({ prepare: pageWith(HIDES_EMPTY, `<p id="empty"></p>${TAG}`) });
  await openChat(page);
  const shown = (selector) => page.locator(selector).evaluate((element) => getComputedStyle(element).display);
  assert.equal(await shown("#empty"), "none");
  assert.equal(await page.locator("chat-widget > [slot=announcer]:empty").count(), 1);
  assert.equal(await shown("chat-widget > [slot=announcer]"), "block");
});

test("A capturing listener sees the widget as the target of its keys, and the example of the docs ignores them", async ({
  visit,
}) => {
  const page = await visit({
    prepare: pageWith(snippet("docs/frontend.md", "Avoid page conflicts: js"), `<input type="search">${TAG}`),
  });
  await openChat(page);
  await part(page, "input").focus();
  await page.keyboard.type("and/or");
  assert.equal(await part(page, "input").inputValue(), "and/or");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("/");
  await page.locator("input[type=search]:focus").waitFor();
  assert.equal(await page.locator("input[type=search]").inputValue(), "");
});

/** Returns the page's element at the centre of a part: the widget's host, or an element above it. */
async function above(page, name) {
  const { x, y, width, height } = await part(page, name).boundingBox();
  return page.evaluate(([x, y]) => document.elementFromPoint(x, y)?.localName, [x + width / 2, y + height / 2]);
}

test("Below the page's modal <dialog> the chat is visible and inert, and keeps receiving messages", async ({
  visit,
  server,
}) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit({ prepare: pageOf(`<dialog><button>Done</button></dialog>${TAG}`) });
  await openChat(page);
  await ask(page, QUESTION);
  await page.evaluate(() => document.querySelector("dialog").showModal());
  assert.equal(await above(page, "launcher"), "dialog");
  assert.equal(await focused(page), "page");
  await page.keyboard.press("F6");
  assert.equal(await focused(page), "page");
  await server.operatorSays("Anna here.");
  await part(page, "message-operator").waitFor();
  await page.evaluate(() => document.querySelector("dialog").close());
  assert.equal(await above(page, "launcher"), "chat-widget");
  await ask(page, "And to Norway?");
});

for (const early of [true, false]) {
  test(`The page of docs/frontend.md hides the chat while its dialog is open, ${early ? "also before the chat loads" : "and unread messages are counted"}`, async ({
    visit,
    server,
  }) => {
    await server.setFaults(FAST_POLLING);
    const body = snippet("docs/frontend.md", "Avoid page conflicts: html");
    const tag = early ? TAG.replace("data-proxy", 'data-load="intent" data-proxy') : TAG;
    const page = await visit({ prepare: pageOf(body + tag) });
    await part(page, "launcher").waitFor();
    if (!early) {
      await openChat(page);
      await ask(page, QUESTION);
      await part(page, "close").click();
    }
    await page.locator("#buy").click();
    await part(page, "launcher").waitFor({ state: "hidden" });
    if (!early) await server.operatorSays("Anna here.");
    if (!early) await part(page, "badge").waitFor({ state: "attached" });
    await page.getByRole("button", { name: "Done" }).click();
    await part(page, "launcher").waitFor();
    await openChat(page);
  });
}

test("In the dialog of docs/frontend.md the chat keeps its state, and Escape closes it first", async ({ visit }) => {
  const body = `<button id="buy">Buy</button><dialog id="order"><button>Done</button></dialog>${TAG}`;
  const page = await visit({ prepare: pageWith(snippet("docs/frontend.md", "Avoid page conflicts: js 2"), body) });
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "input").fill("A draft");
  const box = await part(page, "launcher").boundingBox();
  await page.locator("#buy").click();
  assert.equal(await part(page, "input").inputValue(), "A draft");
  assert.deepEqual(await part(page, "launcher").boundingBox(), box, "in its corner");
  await part(page, "input").press("Enter");
  await delivered(page);
  await part(page, "input").press("Escape");
  await part(page, "window").waitFor({ state: "detached" });
  const isOpen = () => page.evaluate(() => document.getElementById("order").open);
  assert.equal(await isOpen(), true);
  await page.keyboard.press("Escape");
  await page.locator("body > chat-widget").waitFor({ state: "attached" });
  assert.equal(await isOpen(), false);
  await openChat(page);
  assert.equal(await part(page, "message-visitor").count(), 2);
});

const MODAL = `<main><button>Behind</button></main><div id="modal" role="dialog" tabindex="-1" hidden><button>Within</button></div>${TAG}`;

test("Beside the dialog of docs/frontend.md the chat is usable while the rest of the page is inert", async ({
  visit,
}) => {
  const code = snippet("docs/frontend.md", "Avoid page conflicts: js 3");
  const page = await visit({ prepare: pageWith(`${code}\nwindow.show = show;`, MODAL) });
  await openChat(page);
  await page.evaluate(() => window.show(true));
  await page.locator("#modal:focus").waitFor();
  await part(page, "input").click();
  await say(page, QUESTION);
  await delivered(page);
  assert.equal(await focused(page), "input");
  await page.evaluate(() => document.querySelector("main button").focus());
  assert.equal(await focused(page), "input", "an inert element cannot be focused");
  await page.evaluate(() => window.show(false));
  await page.getByRole("button", { name: "Behind" }).click();
});

test("A page's focus trap or inert attribute makes the chat unreachable", async ({ visit }) => {
  const page = await visit({ prepare: pageOf(MODAL) });
  await openChat(page);
  await page.evaluate(() => {
    for (const element of document.body.children) element.inert = element.id !== "modal";
  });
  assert.equal(await above(page, "launcher"), "html");
  await page.evaluate(() => {
    const modal = document.getElementById("modal");
    for (const element of document.body.children) element.inert = false;
    modal.hidden = false;
    document.addEventListener("focusin", ({ target }) => modal.contains(target) || modal.focus());
  });
  await part(page, "input").click();
  assert.equal(await focused(page), "page");
});

test("A page that locks scrolling does not move the chat", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  const boxes = async () => [await part(page, "launcher").boundingBox(), await part(page, "window").boundingBox()];
  await page.evaluate(() => scrollTo(0, 300));
  const before = await boxes();
  await page.evaluate(() => {
    document.documentElement.style.overflow = "hidden";
    Object.assign(document.body.style, { position: "fixed", overflow: "hidden", top: "-300px", width: "100%" });
  });
  assert.deepEqual(await boxes(), before);
  await ask(page, QUESTION);
});

/** Changes of pages to built-in objects before the widget loads. */
const CHANGED_GLOBALS = {
  "that add to the prototypes of arrays, objects and functions": () => {
    Array.prototype.foo = () => {};
    Object.prototype.foo = "bar";
    Object.prototype.each = () => {};
    Function.prototype.foo = true;
    Element.prototype.foo = 1;
  },
  "with a library that replaces toJSON, bind and Array.from": () => {
    Array.prototype.toJSON = function () {
      return `[${this.map((one) => JSON.stringify(one)).join(", ")}]`;
    };
    String.prototype.toJSON = function () {
      return `"${this}"`;
    };
    Function.prototype.bind = function (self) {
      return (...given) => this.apply(self, given);
    };
    Array.from = (list) => (list ? Array.prototype.slice.call(list) : []);
  },
  "without requestIdleCallback, whose console has only log()": () => {
    window.console = { log() {} };
    delete window.requestIdleCallback;
  },
};

for (const [pages, change] of Object.entries(CHANGED_GLOBALS)) {
  // The record of each test fails on an uncaught error.
  test(`The chat works on pages ${pages}`, async ({ visit, server }) => {
    const prepare = async (page) => {
      await page.addInitScript(change);
      await shopWith((html) =>
        html.replace(
          "data-proxy=",
          'data-launcher="h1" data-offset=\'{"x":40}\' data-visitor=\'{"name":"Ann"}\' data-proxy=',
        ),
      )(page);
    };
    const page = await visit({ prepare });
    await allFilesLoaded(page);
    await page.locator("h1").click();
    await part(page, "input").waitFor();
    await ask(page, QUESTION);
    await page.evaluate(() =>
      window.chatWidget.update({ locale: "de", strings: { write: "Fragen Sie" }, theme: "rose" }),
    );
    await page.getByPlaceholder("Fragen Sie").waitFor();
    await page.evaluate(() => window.chatWidget.track("quiz_done", { answers: [1, "two"] }));
    const quiz = async () => (await server.events()).find(({ eventType }) => eventType === "quiz_done");
    await eventually(async () => assert.deepEqual((await quiz())?.eventData.answers, [1, "two"]));
    assert.equal((await server.messages())[0], `visitor: ${QUESTION}`);
    assert.equal((await server.conversation()).visitor.name, "Ann");
    await page.reload();
    await allFilesLoaded(page);
    await page.evaluate(() => window.chatWidget.open());
    await part(page, "message-visitor").getByText(QUESTION).waitFor();
    assert.equal((await page.evaluate(() => window.chatWidget.diagnose())).ok, true);
  });
}
