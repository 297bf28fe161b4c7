// `<chat-widget>`: added to a page, changed, moved, removed and added again, alone and with others.

import assert from "node:assert/strict";
import { ask, eventually, nextFrame, openChat, part, ready, stored, openMyData } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";

/** Adds elements with these attributes to a page without the script tag's widget. */
async function withElements(visit, ...elements) {
  const page = await visit();
  await ready(page);
  await page.evaluate(async (elements) => {
    window.chatWidget.destroy();
    window.errors = [];
    addEventListener("chat-widget:error", ({ detail, target }) => window.errors.push(`${target.id} ${detail.message}`));
    for (const attributes of elements) {
      const element = document.createElement("chat-widget");
      for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
      document.querySelector("main").prepend(element);
    }
    await import("/chat-widget/element.mjs");
  }, elements);
  return page;
}

const INLINE = { id: "one", proxy: "/connector", inline: "" };

/** Runs a function with the element of an id, by default this one. */
const withElement = (page, run, id = "one") =>
  page.evaluate(
    ([run, id]) => new Function("element", `return (${run})(element)`)(document.getElementById(id)),
    [String(run), id],
  );

test("An element mounts an inline widget, and changing its attributes updates it", async ({ visit, server }) => {
  const page = await withElements(visit, { ...INLINE, "suggested-questions": '["Do you ship?"]' });
  await part(page, "input").waitFor();
  assert.equal(await part(page, "launcher").count(), 0);
  assert.deepEqual(await part(page, "suggestion").allTextContents(), ["Do you ship?"]);
  await ask(page, QUESTION);
  const header = () => part(page, "header").evaluate((header) => getComputedStyle(header).backgroundColor);
  const teal = await header();
  await withElement(page, (element) => element.setAttribute("theme", "rose"));
  await eventually(async () => assert.notEqual(await header(), teal));
  await withElement(page, (element) => (element.locale = "de"));
  await part(page, "input").and(page.getByPlaceholder("Nachricht schreiben")).waitFor();
  await withElement(page, (element) => element.removeAttribute("theme"));
  await eventually(async () => assert.equal(await header(), teal));
  assert.equal((await server.messages()).length, 2);
});

test("The border of an inline window is visible on all sides, also with the data panel open", async ({ visit }) => {
  const page = await withElements(visit, INLINE);
  const edges = async () => {
    const { x, y, width, height } = await part(page, "window").boundingBox();
    const at = (x, y) =>
      page.screenshot({ clip: { x, y, width: 1, height: 1 } }).then((image) => image.toString("base64"));
    const [top, bottom] = [y, y + height - 1].map((y) => at(x + width / 2, y));
    const [start, end] = [x, x + width - 1].map((x) => at(x, y + height / 2));
    return { colours: await Promise.all([top, bottom, start, end]), inside: await at(x + width / 2, y + height - 3) };
  };
  const isAround = ({ colours, inside }) => {
    assert.equal(new Set(colours).size, 1);
    assert.notEqual(colours[0], inside);
  };
  await part(page, "input").waitFor();
  await page.evaluate(() => document.querySelector("chat-widget").scrollIntoView());
  isAround(await edges());
  await openMyData(page);
  await page.evaluate(() => document.getAnimations().forEach((animation) => animation.finish()));
  isAround(await edges());
});

test("Moving an element keeps its state", async ({ visit, recordOf }) => {
  const page = await withElements(visit, INLINE);
  await ask(page, QUESTION);
  await part(page, "input").fill("A draft");
  const log = await part(page, "log").elementHandle();
  const configRequests = recordOf(page).of("/connector/chat/config").length;
  await withElement(page, (element) => document.querySelector("footer, body").append(element));
  await withElement(page, (element) => {
    const { parentElement } = element;
    element.remove();
    parentElement.prepend(element);
  });
  // Pending work has finished.
  await nextFrame(page);
  assert.ok(await log.evaluate((log) => log.isConnected), "it is the same window");
  assert.equal(await part(page, "input").inputValue(), "A draft");
  assert.equal(recordOf(page).of("/connector/chat/config").length, configRequests);
});

test("Removing an element unmounts it, and adding it again restores its conversation", async ({ visit }) => {
  const page = await withElements(visit, INLINE);
  await ask(page, QUESTION);
  await page.evaluate(() => {
    window.kept = document.getElementById("one");
    window.kept.addEventListener("chat-widget:destroy", () => (window.gone = true));
    window.kept.remove();
  });
  await eventually(async () => assert.ok(await page.evaluate(() => window.gone)));
  assert.equal(await page.evaluate(() => window.kept.shadowRoot.childElementCount + window.kept.childElementCount), 0);
  await page.evaluate(() => document.querySelector("main").prepend(window.kept));
  await part(page, "message-visitor").getByText(QUESTION).waitFor();
});

test("An element that is added, removed and added at once, as in React's strict mode, is mounted once", async ({
  visit,
  recordOf,
}) => {
  const page = await withElements(visit);
  const before = recordOf(page).of("/connector/chat/config").length;
  await page.evaluate(() => {
    const element = document.createElement("chat-widget");
    element.id = "one";
    element.proxy = "/connector";
    element.toggleAttribute("inline", true);
    const main = document.querySelector("main");
    for (let times = 0; times < 3; times += 1) {
      main.prepend(element);
      if (times < 2) element.remove();
    }
  });
  await part(page, "input").waitFor();
  assert.equal(await part(page, "window").count(), 1);
  assert.equal(recordOf(page).of("/connector/chat/config").length, before + 1);
});

test("A page may have several inline elements and one floating one", async ({ visit, recordOf }) => {
  const prepare = (page) => void recordOf(page).tolerate("floats above the page already");
  const page = await withElements(
    (options) => visit({ ...options, prepare }),
    INLINE,
    { ...INLINE, id: "two", "customer-id": "ann" },
    { id: "three", proxy: "/connector" },
    { id: "four", proxy: "/connector" },
  );
  await page.locator("#one").locator('[part="input"]').waitFor();
  await page.locator("#two").locator('[part="input"]').waitFor();
  await eventually(async () => assert.equal(await part(page, "launcher").count(), 1));
  await eventually(async () =>
    assert.match((await page.evaluate(() => window.errors)).join(), /(three|four) .*floats above the page already/),
  );
});

test("Properties set before the element is defined, and its methods, work like attributes", async ({ visit }) => {
  const page = await withElements(visit);
  await page.evaluate(() => {
    const element = document.createElement("chat-widget");
    element.id = "one";
    Object.assign(element, { proxy: "/connector", strings: { write: "Ask the potter" } });
    document.body.append(element);
    element.open();
    element.setDraft("A draft");
  });
  await part(page, "input").and(page.getByPlaceholder("Ask the potter")).waitFor();
  await eventually(async () => assert.equal(await part(page, "input").inputValue(), "A draft"));
  await withElement(page, (element) => element.close());
  await part(page, "window").waitFor({ state: "detached" });
  assert.equal(await withElement(page, (element) => element.ready.then(({ state }) => state.open)), false);
});

test("Setting a property to null resets the option, also one given as an attribute", async ({ visit }) => {
  const page = await withElements(visit, { ...INLINE, "suggested-questions": '["Do you ship?"]', locale: "de" });
  await part(page, "suggestion").waitFor();
  await withElement(page, (element) => Object.assign(element, { suggestedQuestions: null, locale: null }));
  await eventually(async () => assert.equal(await part(page, "suggestion").count(), 0));
  await page.getByRole("textbox", { name: "Write a message" }).waitFor();
});

test("A string property is parsed like its attribute", async ({ visit }) => {
  const page = await withElements(visit, INLINE);
  await withElement(page, (element) => Object.assign(element, { suggestedQuestions: '["Do you ship?"]' }));
  await part(page, "suggestion").getByText("Do you ship?").waitFor();
});

test("Changing the customer of an element changes the conversation", async ({ visit }) => {
  const page = await withElements(visit, INLINE);
  await ask(page, QUESTION);
  await withElement(page, (element) => element.setAttribute("customer-id", "ann"));
  await eventually(async () => assert.equal(await part(page, "message-visitor").count(), 0));
  await part(page, "input").waitFor();
  assert.ok((await stored(page))["chat-widget:visitor@ann"]);
});

for (const [how, swap] of [
  [
    "replaced, as with Turbo and Astro",
    () => document.body.replaceWith(Object.assign(document.createElement("body"), { id: "next" })),
  ],
  [
    "emptied, as with htmx",
    () => document.body.replaceChildren(Object.assign(document.createElement("main"), { id: "next" })),
  ],
]) {
  test(`The script tag's widget survives a body that is ${how}`, async ({ visit, server }) => {
    const page = await visit();
    await openChat(page);
    await ask(page, QUESTION);
    await part(page, "input").fill("A draft");
    await page.waitForFunction(() => customElements.get("chat-widget"));
    await page.evaluate(swap);
    await page.locator("#next").waitFor({ state: "attached" });
    await part(page, "message-visitor").getByText(QUESTION).waitFor();
    assert.equal(await part(page, "input").inputValue(), "A draft");
    await part(page, "input").press("Enter");
    await eventually(async () => assert.equal((await server.messages()).length, 4));
    await page.evaluate(() => window.chatWidget.destroy());
    await nextFrame(page);
    assert.equal(await page.locator("chat-widget").count(), 0, "destroy() is not a method");
  });
}

test("An element asks another function who is signed in, and the same one no more", async ({ visit }) => {
  const page = await withElements(visit, INLINE);
  await part(page, "input").waitFor();
  const calls = () => page.evaluate(() => window.calls);
  await page.evaluate(() => {
    window.calls = [];
    const element = document.getElementById("one");
    const askFor = (name) => () => (window.calls.push(name), null);
    window.first = askFor("first");
    element.visitorToken = window.first;
    window.second = askFor("second");
  });
  await eventually(async () => assert.deepEqual(await calls(), ["first"]));
  await withElement(page, (element) => void (element.visitorToken = window.first));
  await withElement(page, (element) => void (element.visitorToken = window.second));
  await eventually(async () => assert.deepEqual(await calls(), ["first", "second"]));
  await withElement(page, (element) => void (element.visitorToken = window.second));
  await withElement(page, (element) => element.update({ theme: "rose" }));
  assert.deepEqual(await calls(), ["first", "second"]);
  assert.equal(await withElement(page, (element) => element.getAttribute("visitor-token")), null);
});
