// The Leptos application of `examples/leptos/`, built by `node scripts/example.mjs`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ask, delivered, eventually, focused, openChat, part, say } from "./chat.mjs";
import { servePages, test } from "./harness.mjs";

servePages("target/leptos-shop");

/** The shop's own. */
const askUs = (page) => page.locator("#ask");
const lastHeard = (page) => page.locator("output");

/** Polls presence and messages each second. */
const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1000, suggestedPresenceIntervalMs: 1000 } };

/**
 * Counts the resources of a page that are not visible: listeners on non-elements, timers, animation frames, broadcast
 * channels, requests.
 */
const count = (page) =>
  page.addInitScript(() => {
    const held = (window.held = new Map());
    const add = (what, by) =>
      (held.get(what) ?? 0) + by > 0 ? held.set(what, (held.get(what) ?? 0) + by) : held.delete(what);

    const { addEventListener, removeEventListener } = EventTarget.prototype;
    const listener = (target, kind, by) =>
      target instanceof Element || add(`${kind} of ${target.constructor.name}`, by);
    EventTarget.prototype.addEventListener = function (kind, ...others) {
      listener(this ?? window, kind, 1);
      return addEventListener.call(this ?? window, kind, ...others);
    };
    EventTarget.prototype.removeEventListener = function (kind, ...others) {
      listener(this ?? window, kind, -1);
      return removeEventListener.call(this ?? window, kind, ...others);
    };

    for (const [begin, end, again] of [
      ["setTimeout", "clearTimeout"],
      ["requestAnimationFrame", "cancelAnimationFrame"],
      ["setInterval", "clearInterval", true],
    ]) {
      const running = new Set();
      const ended = (id) => running.delete(id) && add(begin, -1);
      const [start, stop] = [window[begin], window[end]];
      window[begin] = (run, ...others) => {
        const id = start(
          (...given) => {
            if (!again) ended(id);
            run(...given);
          },
          ...others,
        );
        running.add(id);
        add(begin, 1);
        return id;
      };
      window[end] = (id) => {
        ended(id);
        stop(id);
      };
    }

    window.BroadcastChannel = class extends BroadcastChannel {
      constructor(name) {
        super(name);
        add("BroadcastChannel", 1);
      }
      close() {
        super.close();
        add("BroadcastChannel", -1);
      }
    };

    const { fetch } = window;
    window.fetch = (...given) => {
      add("fetch", 1);
      return fetch(...given).finally(() => add("fetch", -1));
    };
  });

/** Returns the counted resources by name. */
const held = (page) => page.evaluate(() => [...window.held.keys()].sort());

/** Mounts or unmounts the component by the shop's switch. */
async function want(page, wanted) {
  await page.getByLabel("Chat", { exact: true }).setChecked(wanted);
  await page.locator("chat-widget").waitFor({ state: wanted ? "attached" : "detached" });
}

test("A Leptos application mounts the chat and receives its messages", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  const [, answer] = (await server.messages()).map((message) => message.replace(/^\w+: /, ""));
  await eventually(async () => assert.equal(await lastHeard(page).textContent(), `assistant: ${answer}`));
});

test("The application's button opens the window, gets the focus back and shows the unread count", async ({
  visit,
  server,
}) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit();
  await part(page, "launcher").waitFor();
  assert.equal(await askUs(page).getAttribute("aria-expanded"), "false");
  await askUs(page).click();
  await eventually(async () => assert.equal(await focused(page), "input"));
  assert.equal(await askUs(page).getAttribute("aria-expanded"), "true");
  await ask(page, "Is anybody there?");
  await server.operatorOnline(true);
  await page.locator("#hours").getByText("An operator is online").waitFor();
  await part(page, "close").click();
  await eventually(async () => assert.equal(await askUs(page).getAttribute("aria-expanded"), "false"));
  await server.operatorSays("I am.");
  await askUs(page).getByText("Ask us (1)").waitFor();
  await askUs(page).click();
  await askUs(page).getByText("Ask us", { exact: true }).waitFor();
});

test("A nested component calls the chat's controls", async ({ visit }) => {
  const page = await visit();
  await part(page, "launcher").waitFor();
  await page.getByRole("button", { name: "Ask about it" }).first().click();
  await part(page, "input").waitFor();
  assert.equal(await part(page, "input").inputValue(), "The mug: ");
});

test("Navigation and calls to action are reported", async ({ visit, server }) => {
  const page = await visit();
  await part(page, "launcher").waitFor();
  await page.evaluate(() => history.pushState(null, "", "/bowls"));
  await page.getByRole("button", { name: "Ask about it" }).nth(1).click();
  await eventually(async () => {
    const events = await server.events();
    const views = events.filter(({ eventType }) => eventType === "page_view");
    assert.deepEqual(
      views.map(({ path }) => path),
      ["/", "/bowls"],
    );
    const clicked = events.find(({ eventType }) => eventType === "cta_clicked");
    assert.deepEqual(clicked?.eventData, { label: "Bowl" });
  });
});

test("The theme follows the application's signal", async ({ visit }) => {
  const page = await visit();
  const colour = () => part(page, "launcher").evaluate((launcher) => getComputedStyle(launcher).backgroundColor);
  await part(page, "launcher").waitFor();
  const day = await colour();
  await page.getByLabel("Evening").check();
  await eventually(async () => assert.notEqual(await colour(), day));
  await page.getByLabel("Evening").uncheck();
  await eventually(async () => assert.equal(await colour(), day));
});

test("Unmounting the component leaves no node, listener, timer, channel or request behind", async ({
  visit,
  server,
}) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit({ prepare: count });
  // The application shows the last message, which stays.
  const whole = async () =>
    (await page.evaluate(() => document.documentElement.outerHTML)).replace(/<output>.*?<\/output>/, "");
  await part(page, "launcher").waitFor();
  await want(page, false);
  const without = await whole();
  await want(page, true);
  await openChat(page);
  await ask(page, "How long does delivery take?");
  // The counts of the mounted component prove that leaks would be noticed.
  const before = await held(page);
  for (const what of ["BroadcastChannel", "online of Window", "setTimeout", "visibilitychange of HTMLDocument"]) {
    assert.ok(before.includes(what), `${what}, in: ${before}`);
  }
  await want(page, false);
  await eventually(async () => assert.deepEqual(await held(page), []));
  assert.equal(await whole(), without);
});

test("Calls to an unmounted component have no effect, and it works once mounted again", async ({ visit, server }) => {
  const page = await visit();
  await askUs(page).click();
  await ask(page, "How long does delivery take?");
  await want(page, false);
  await eventually(async () => assert.equal(await askUs(page).getAttribute("aria-expanded"), "false"));
  await askUs(page).click();
  await page.getByRole("button", { name: "Ask about it" }).first().click();
  await want(page, true);
  // The window's state is kept in this tab.
  await part(page, "window").waitFor();
  await part(page, "message-assistant").nth(1).waitFor();
  await say(page, "And to France?");
  await delivered(page);
  assert.equal((await server.conversations()).length, 1);
});

test("An application without the JavaScript API exports none of it", () => {
  const file = (name) => readFileSync(new URL(`../../target/leptos-shop/${name}`, import.meta.url));
  const names = WebAssembly.Module.exports(new WebAssembly.Module(file("leptos-shop_bg.wasm"))).map(({ name }) => name);
  // The exports of Rust, wasm-bindgen and Leptos. A class would have an export `__wbg_NAME_free`.
  const own = /^(_(?!_wbg_)|wasm_bindgen__|main$|memory$)/;
  assert.deepEqual(
    names.filter((name) => !own.test(name)),
    [],
  );
  assert.doesNotMatch(file("leptos-shop.js").toString(), /export class/);
});
