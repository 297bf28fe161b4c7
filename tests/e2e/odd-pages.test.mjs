// Pages that remove, copy or duplicate the widget, or call it with invalid values.

import assert from "node:assert/strict";
import { ask, background, delivered, eventually, focused, nextFrame } from "./chat.mjs";
import { openChat, part, say, WASM, allFilesLoaded, visitHolding, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const QUESTION = "How long does delivery take?";
const ELEMENTS = '<script type="module" src="/chat-widget/element.mjs"></script>';
const TAG = '<script async src="/chat-widget/chat-widget.js" data-proxy="/connector"></script>';
const INLINE = '<chat-widget inline proxy="/connector"></chat-widget>';

const element = (page) => page.locator("chat-widget");

test("An element removed while its module loads is not mounted until it is added again", async ({ visit }) => {
  const prepare = pageOf(`<chat-widget proxy="/connector"></chat-widget>${ELEMENTS}`);
  const [page, wasm] = await visitHolding(visit, WASM, { prepare });
  await wasm.requested;
  const taken = await page.evaluateHandle(() => {
    const element = document.querySelector("chat-widget");
    element.remove();
    return element;
  });
  wasm.release();
  await page.evaluate(async () => (await import("/chat-widget/chat-widget.mjs")).load());
  await nextFrame(page);
  await nextFrame(page);
  assert.equal(await element(page).count(), 0);
  await page.evaluate((element) => document.body.append(element), taken);
  await openChat(page);
  await ask(page, QUESTION);
});

for (const [place, attributes] of [
  ["in a container", 'data-container="main"'],
  ["without a shadow root", 'data-isolate="false"'],
]) {
  test(`A widget ${place} does not wait for intent`, async ({ visit }) => {
    const page = await visit({ prepare: withOptions(`${attributes} data-load="intent"`) });
    await part(page, place === "in a container" ? "input" : "launcher").waitFor();
  });
}

test("Without a shadow root the live region announces messages and takes no space", async ({ visit }) => {
  const page = await visit({ prepare: withOptions('data-isolate="false"') });
  await openChat(page);
  await ask(page, QUESTION);
  const announcer = page.locator("chat-widget > [slot=announcer]");
  await announcer.getByText("We pack on weekdays").waitFor({ state: "attached" });
  const { width, height } = await announcer.boundingBox();
  assert.deepEqual([width, height], [1, 1]);
});

test("hide() closes the window: a phone's page scrolls again, and new messages are unread", async ({
  visit,
  server,
}) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit({ viewport: { width: 375, height: 667 }, isMobile: true, hasTouch: true });
  await openChat(page);
  await ask(page, QUESTION);
  const overflow = () => page.evaluate(() => document.documentElement.style.overflow);
  assert.equal(await overflow(), "hidden");
  await page.evaluate(() => window.chatWidget.hide());
  assert.equal(await overflow(), "");
  await server.operatorSays("Anna here.");
  await part(page, "badge").waitFor({ state: "attached" });
  await page.evaluate(() => window.chatWidget.show());
  await part(page, "badge").waitFor();
});

test("Changing the theme keeps the scroll position and the contact form's input", async ({ visit }) => {
  const page = await visit({ viewport: { width: 480, height: 480 } });
  await openChat(page);
  await ask(page, QUESTION);
  await ask(page, "Can I talk to a person?");
  await part(page, "form").locator("input").first().fill("ann@example");
  const log = part(page, "log");
  await log.evaluate((log) => (log.scrollTop = 40));
  const teal = await background(page, "header");
  await page.evaluate(async () => window.chatWidget.setTheme("rose"));
  assert.notEqual(await background(page, "header"), teal);
  assert.equal(await log.evaluate((log) => log.scrollTop), 40);
  assert.equal(await part(page, "form").locator("input").first().inputValue(), "ann@example");
});

test("Setting isolate to false remounts an element without its shadow root", async ({ visit }) => {
  const page = await visit({ prepare: pageOf(`${INLINE}${ELEMENTS}`) });
  await ask(page, QUESTION);
  await element(page).evaluate((element) => (element.isolate = false));
  await page.locator("chat-widget > div [part=input]").waitFor();
  await say(page, "And to Norway?");
  await delivered(page);
});

test("A change by a method survives an attribute change, and setting an object again applies it", async ({ visit }) => {
  const page = await visit({
    prepare: pageOf(`<chat-widget proxy="/connector" theme="teal"></chat-widget>${ELEMENTS}`),
  });
  await part(page, "launcher").waitFor();
  const place = await part(page, "launcher").boundingBox();
  await element(page).evaluate(async (element) => element.setTheme("rose"));
  const rose = await background(page, "launcher");
  await element(page).evaluate((element) => element.setAttribute("position", "start"));
  await eventually(async () => assert.ok((await part(page, "launcher").boundingBox()).x < place.x));
  assert.equal(await background(page, "launcher"), rose);
  const offset = await page.evaluateHandle(() => ({ x: 30, y: 30 }));
  const x = async () => (await part(page, "launcher").boundingBox()).x;
  await element(page).evaluate((element, offset) => (element.offset = offset), offset);
  await eventually(async () => assert.equal(await x(), 30));
  await element(page).evaluate((element, offset) => (element.offset = Object.assign(offset, { x: 90 })), offset);
  await eventually(async () => assert.equal(await x(), 90));
});

test("A second floating widget beside the script tag's is rejected", async ({ visit, recordOf }) => {
  const prepare = async (page) => {
    recordOf(page).tolerate("floats above the page already");
    await pageOf(TAG)(page);
  };
  const page = await visit({ prepare });
  await allFilesLoaded(page);
  const message = await page.evaluate(async () => {
    const element = document.createElement("chat-widget");
    element.setAttribute("proxy", "/connector");
    const error = new Promise((resolve) =>
      element.addEventListener("chat-widget:error", ({ detail }) => resolve(detail.message)),
    );
    document.body.append(element);
    return error;
  });
  assert.match(message, /floats above the page already/);
  assert.equal(await part(page, "launcher").count(), 1);
});

test("A body that is removed for a while or cloned keeps one chat", async ({ visit }) => {
  const page = await visit({ prepare: pageOf(`<p>Shop</p>${TAG}`) });
  await allFilesLoaded(page);
  await openChat(page);
  await ask(page, QUESTION);
  await page.evaluate(async () => {
    const { body } = document;
    body.remove();
    await new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve)));
    document.documentElement.append(Object.assign(document.createElement("body"), { id: "next" }));
  });
  await page.locator("#next > chat-widget").waitFor({ state: "attached" });
  await part(page, "input").waitFor();
  await page.evaluate(() =>
    document.body.replaceChildren(...[...document.body.children].map((child) => child.cloneNode(true))),
  );
  await eventually(async () => assert.equal(await page.locator("chat-widget > [slot=announcer]").count(), 1));
  await part(page, "message-visitor").getByText(QUESTION).waitFor();
});

test("One of several widgets reports page events, and F6 moves from each to the page", async ({ visit, server }) => {
  const page = await visit({
    prepare: pageOf(`<button data-chat-cta="Buy">Buy</button>${INLINE}${INLINE}${ELEMENTS}`),
  });
  await page.waitForFunction(() => [...document.querySelectorAll("chat-widget")].every(({ state }) => state));
  await page.evaluate(() =>
    Promise.all([...document.querySelectorAll("chat-widget")].map(async ({ ready }) => (await ready).ready)),
  );
  await page.getByRole("button", { name: "Buy" }).click();
  await page.evaluate(() => document.querySelector("chat-widget").track("last"));
  const named = async (name) => (await server.events()).filter(({ eventType }) => eventType === name).length;
  await eventually(async () => assert.equal(await named("last"), 1));
  assert.equal(await named("cta_clicked"), 1);
  await page.locator("chat-widget").nth(1).locator("[part=input]").focus();
  await page.keyboard.press("F6");
  assert.equal(await focused(page), "page");
});

test("An invalid queued call is logged and does not block the others", async ({ visit, recordOf }) => {
  const queue = () => {
    window.chatWidget = [
      null,
      ["state"],
      ["nothing"],
      ["setTheme", 7],
      [
        "identify",
        {
          get name() {
            throw new Error("mine");
          },
        },
      ],
      ["open"],
    ];
  };
  const logged = [];
  const prepare = async (page) => {
    recordOf(page).tolerate("Error: ");
    page.on("console", (message) => message.type() === "error" && logged.push(message.text()));
    await page.addInitScript(queue);
  };
  const page = await visit({ prepare });
  await part(page, "input").waitFor();
  assert.equal(await part(page, "launcher").count(), 1);
  await eventually(() => assert.equal(logged.length, 5, logged.join("\n")));
  assert.match(logged.join("\n"), /option theme must be one of teal, [^]*, not 7/);
  assert.match(logged.join("\n"), /Error: mine/);
});

test("Calls before the module loads return promises, which reject on an invalid option", async ({ visit }) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await part(page, "launcher").waitFor();
  const update = page.evaluate(() => window.chatWidget.update({ position: "middle" }).catch(String));
  wasm.release();
  assert.match(await update, /option position must be one of end, start/);
});

test("An invalid launcher selector is rejected, and destroy() removes all launcher attributes", async ({ visit }) => {
  const page = await visit({ prepare: pageOf('<button class="ask">Ask</button>') });
  const [refused, changed] = await page.evaluate(async () => {
    const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
    const mount = (launcher) => ChatWidget.mount({ proxy: "/connector", launcher });
    const widget = await mount(".ask");
    window.marked = document.querySelector(".ask").getAttribute("aria-expanded");
    const changed = await widget.update({ launcher: ".ask:no" }).catch(String);
    document.querySelector(".ask").click();
    window.opened = widget.state.open;
    widget.destroy();
    return [await mount(".ask:nope").catch(String), changed];
  });
  assert.match(
    refused,
    /option launcher must be default, none or a selector of the page's own buttons, not ".ask:nope"/,
  );
  assert.match(changed, /option launcher must be default, none or a selector of the page's own buttons, not ".ask:no"/);
  assert.equal(await page.evaluate(() => window.opened), true, "the call had no effect");
  assert.equal(await page.evaluate(() => window.marked), "false");
  assert.equal(await page.locator(".ask").getAttribute("aria-expanded"), null);
  assert.equal(await element(page).count(), 0);
});

test("sendMessage() and setDraft() ignore empty values", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await page.evaluate(() => {
    window.chatWidget.setDraft(undefined);
    window.chatWidget.sendMessage(null);
    window.chatWidget.sendMessage();
  });
  assert.equal(await part(page, "input").inputValue(), "");
  await ask(page, QUESTION);
  assert.equal((await server.sends()).length, 1);
});
