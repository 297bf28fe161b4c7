// The parts of the chat, and the actions of a visitor in it.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { WELCOME } from "./sandbox.mjs";

/** Returns the locator of a part of the widget, in any shadow root. */
export const part = (page, name) => page.locator(`[part~="${name}"]`);

/** Matches the warnings by which Vue and Svelte report that a page of the server does not fit. */
const HYDRATION = /\[(?:Vue warn|svelte)\].*hydration/i;

/** Returns the list to which the errors of a page are added, as texts. */
export function errorsOf(page) {
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("console", (message) => {
    const isFailure = message.type() === "error" || (message.type() === "warning" && HYDRATION.test(message.text()));
    if (isFailure) wrong.push(`${message.text()} ${message.location().url}`);
  });
  return wrong;
}

/** Matches the URL for sending messages, not the one for reading them. */
export const SEND = (url) => url.pathname === "/connector/chat/messages" && url.search === "";
export const CONFIG = "**/connector/chat/config*";
export const WASM = "**/chat-widget.wasm";

/** The script tag of the shop's page. */
export const TAG = /<script[^>]*chat-widget\.js[^>]*><\/script>/;

/** Prepares a visit: `change` edits the HTML of the shop's first page; `headers` are added to its own. */
export const shopWith = (change, headers) => (page) =>
  page.route("**/", async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      headers: { ...response.headers(), ...headers },
      body: change(await response.text()),
    });
  });

/** Prepares a visit with more attributes in the shop's script tag, which take precedence over those there. */
export const withOptions = (attributes, headers) =>
  shopWith((html) => html.replace("data-proxy=", (proxy) => `${attributes} ${proxy}`), headers);

/** Init scripts by which a browser refuses storage to a page. */
export const REFUSES = {
  "is blocked": () =>
    Object.defineProperty(window, "localStorage", {
      get() {
        throw new DOMException("Access is denied for this document.", "SecurityError");
      },
    }),
  "is full": () => {
    Storage.prototype.setItem = () => {
      throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
    };
  },
};

/**
 * Points at the launcher, or calls a control where there is none, unless the module has started. Waits until it has taken
 * over the launcher.
 */
export const ready = (page) =>
  eventually(async () => assert.ok(await page.evaluate(startModule), "the module has started"));

/** Shows the intent that starts the module. It runs in the page, and returns whether the module has started. */
function startModule() {
  const { chatWidget } = window;
  if (chatWidget?.state) return true;
  const launcher = document.querySelector("chat-widget")?.shadowRoot?.querySelector("[part~=launcher]");
  if (launcher) launcher.dispatchEvent(new PointerEvent("pointerenter"));
  else if (document.readyState === "complete") chatWidget?.close?.();
  return false;
}

/**
 * Waits until the widget has loaded all its files: the listeners on the page, the module's deferred functions, and the recovery
 * of a broken module. It requests no further file by itself.
 */
export async function allFilesLoaded(page) {
  await ready(page);
  await page.evaluate(async () => {
    await window.chatWidget.ready;
    const { load } = await import("/chat-widget/chat-widget.mjs");
    await (await load()).deferred;
    await import("/chat-widget/recover.mjs");
  });
}

/** Waits until the WebAssembly module is compiled and its users have continued. */
export const compiled = (page) =>
  page.evaluate(async () => {
    await (await import("/chat-widget/chat-widget.mjs")).load();
    await new Promise(requestAnimationFrame);
  });

/** Waits until the page has run its next task and painted. */
export const nextFrame = (page) =>
  page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))));

export const background = (page, name) =>
  part(page, name).evaluate((element) => getComputedStyle(element).backgroundColor);

/** Opens the window by its launcher, unless it is open from the page before, and waits for a usable input. */
export async function openChat(page) {
  const staysOpen = () => {
    try {
      const isSmall = matchMedia("(width < 480px), (height < 480px)").matches;
      const customer = document.querySelector("script[data-customer-id]")?.dataset.customerId;
      return !isSmall && sessionStorage.getItem(`chat-widget:${customer ? `@${customer}` : ""}:open`) !== null;
    } catch {
      // Storage is blocked.
      return false;
    }
  };
  const isOpen = (await part(page, "input").isVisible()) || (await page.evaluate(staysOpen));
  if (!isOpen) await part(page, "launcher").click();
  await part(page, "input").waitFor();
}

/** Opens the panel of the visitor's data by the menu. */
export async function openMyData(page) {
  await part(page, "menu").click();
  await part(page, "menu-data").click();
  await part(page, "panel").waitFor();
}

/** Types a text and sends it. */
export async function say(page, text) {
  await part(page, "input").fill(text);
  await part(page, "input").press("Enter");
}

/** Sends a question, and waits until it is delivered and the log shows the answer. */
export async function ask(page, text) {
  const answers = await part(page, "message-assistant").count();
  await say(page, text);
  await part(page, "message-assistant").nth(answers).waitFor();
  await delivered(page);
}

/** Waits until the newest message of the visitor is marked as delivered. */
export const delivered = (page) => part(page, "message-visitor").last().getByText("Delivered").waitFor();

/** Asserts that a message has a text, and that all of it is in the visible part of the log and of the page. */
export async function isInView(message) {
  assert.notEqual((await message.innerText()).trim(), "");
  const place = await message.evaluate((element) => {
    const { top, bottom, left, right } = element.getBoundingClientRect();
    const log = element.closest("[part=log]").getBoundingClientRect();
    return { top: top - log.top, bottom: log.bottom - bottom, left, right: innerWidth - right };
  });
  for (const [side, distance] of Object.entries(place)) assert.ok(distance >= -0.5, `${side}: ${distance}`);
}

/** Returns messages of the log as lines, `author: text`, with undelivered ones marked. It runs in the page. */
export const asLines = (shown) =>
  shown.map((message) => {
    const author = ["visitor", "assistant", "operator"].find((name) => message.part.contains(`message-${name}`));
    const failed = message.part.contains("message-failed") ? " (not sent)" : "";
    return `${author}${failed}: ${message.querySelector(".cw-bubble").textContent}`;
  });

/** Returns the messages of the log as lines. */
export const messages = (page) => part(page, "message").evaluateAll(asLines);

/** Returns the visitor's messages from the first to the last. With `retry`, failed ones are sent again. */
export const scrollThrough = async (page, options) => (await readThrough(page, options)).map(([text]) => text);

/**
 * Returns the visitor's messages from the first to the last, each with its replies. The log is scrolled through, because the
 * page shows only a part of a long conversation. No two messages of the visitor may have the same text.
 */
export const readThrough = (page, { retry = false } = {}) =>
  page.evaluate(async (retry) => {
    const { shadowRoot } = document.querySelector("chat-widget");
    const log = shadowRoot.querySelector("[part=log]");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    /** Scrolls the log to `top` and waits for the widget's update. Resolves with false if the log was there already. */
    const scroll = async (top) => {
      const before = log.scrollTop;
      const scrolled = new Promise((resolve) => log.addEventListener("scroll", resolve, { once: true }));
      log.scrollTop = top;
      if (log.scrollTop === before) return false;
      await scrolled;
      // Messages inserted before the first one move the scroll position in the next frame.
      await frame();
      await frame();
      return true;
    };
    // The entries before the first message.
    while (!log.querySelector(".cw-intro")) if (!(await scroll(0))) await frame();
    await scroll(0);
    const replies = new Map();
    const take = () => {
      const shown = [];
      for (const message of log.querySelectorAll("[part~=message]")) {
        const text = message.querySelector(".cw-bubble").textContent;
        if (message.matches("[part~=message-visitor]")) {
          if (retry && !replies.has(text)) message.querySelector("[part=retry]")?.click();
          shown.push([text, []]);
        } else {
          shown.at(-1)?.[1].push(text);
        }
      }
      // The replies to the last one may not be rendered yet.
      for (const [text, answers] of shown)
        if (answers.length >= (replies.get(text)?.length ?? 0)) replies.set(text, answers);
    };
    take();
    // The page holds more than the visible messages, and keeps some of them when it renders others. The button to the end
    // is shown until the end is visible.
    while ((await scroll(log.scrollHeight)) || shadowRoot.querySelector(".cw-jump")) {
      take();
      await frame();
    }
    take();
    return [...replies];
  }, retry);

/** Waits until the log shows the welcome and all messages of the service, in its order, each once. */
export const showsAll = (page, server) =>
  eventually(async () =>
    assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, ...(await server.messages())]),
  );

/** Returns the part with the focus; `page` for an element outside of the widget. */
export const focused = (page) =>
  page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute("part") ?? "page");

/** Returns the widget's values in local storage by their keys, parsed. */
export async function stored(page) {
  const kept = await page.evaluate(() => ({ ...localStorage }));
  return Object.fromEntries(Object.entries(kept).map(([key, text]) => [key, JSON.parse(text)]));
}

/** Returns the number of stored messages that are not delivered yet. */
export const unsent = (page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("chat-widget:outbox:")).length);

/** Asserts that service and page have one message of the visitor and its reply, with one key for all attempts. */
export async function arrivedOnce(page, server, text) {
  await delivered(page);
  await eventually(async () => assert.equal((await server.messages()).length, 2));
  assert.equal((await server.messages())[0], `visitor: ${text}`);
  await showsAll(page, server);
  const keys = new Set((await server.sends()).map(({ idempotencyKey }) => idempotencyKey));
  assert.equal(keys.size, 1, "every attempt had the same key");
  assert.equal((await server.conversation()).messages[0].idempotencyKey, [...keys][0]);
  assert.equal(await unsent(page), 0);
}

/** Sets the visibility of the tab, `hidden` or `visible`: without a screen, all tabs are visible. */
export const see = (page, state) =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/** Repeats a check until it passes, for at most `within` milliseconds; then throws its last error. */
export async function eventually(check, within = 30_000) {
  const deadline = performance.now() + within;
  for (;;) {
    try {
      const result = await check();
      // A condition that is returned instead of asserted.
      assert.notEqual(result, false, "the condition does not hold");
      return result;
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await pause(40);
  }
}

/**
 * Holds requests to an address until `release()`; then they continue, or fail with `failure`. The promise `requested` is
 * fulfilled with the first request.
 */
export async function hold(page, address, failure) {
  const gate = {};
  const released = new Promise((resolve) => (gate.release = resolve));
  gate.requested = new Promise((resolve) => {
    gate.closed = page.route(address, async (route) => {
      resolve();
      await released;
      // The page may be closed already.
      await (failure ? route.abort(failure) : route.continue()).catch(() => {});
    });
  });
  await gate.closed;
  return gate;
}

/** Opens a page as `visit` does, and holds its requests to an address. Returns the page and what `hold` returns. */
export async function visitHolding(visit, address, { prepare, failure, ...options } = {}) {
  let held;
  const holdAndPrepare = async (page) => {
    held = await hold(page, address, failure);
    await prepare?.(page);
  };
  return [await visit({ ...options, prepare: holdAndPrepare }), held];
}

/** Advances the installed clock of a page step by step, so that the work of each step can happen. */
export async function advanceClock(page, { minutes }) {
  for (let step = 0; step < minutes * 6; step += 1) await page.clock.fastForward(10_000);
}
