// What a visitor can point at in the chat, does there, and sees.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { WELCOME } from "./sandbox.mjs";

/** A part of the widget, in whatever shadow root it is. */
export const part = (page, name) => page.locator(`[part~="${name}"]`);

/** The address to which messages are sent, and not the one from which they are read. */
export const SEND = (url) => url.pathname === "/connector/chat/messages" && url.search === "";
export const CONFIG = "**/connector/chat/config*";
export const WASM = "**/chat-widget.wasm";

/** The script tag of the shop's page. */
export const TAG = /<script[^>]*chat-widget\.js[^>]*><\/script>/;

/** To prepare a visit: the shop's first page as `change` makes it of its HTML, with these headers on top of its own. */
export const shopWith = (change, headers) => (page) =>
  page.route("**/", async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      headers: { ...response.headers(), ...headers },
      body: change(await response.text()),
    });
  });

/** To prepare a visit: more attributes in the shop's script tag. Of one that is there twice, the first counts. */
export const withOptions = (attributes, headers) =>
  shopWith((html) => html.replace("data-proxy=", (proxy) => `${attributes} ${proxy}`), headers);

/** For a page, before all else: a browser that lets it keep nothing. */
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

/** Waits until the module has come and taken the launcher over. */
export const ready = (page) =>
  eventually(async () => assert.ok(await page.evaluate(() => window.chatWidget?.state), "the module has come"));

/**
 * Waits until all of the widget is there, also what comes behind it: F6, the sound, the page's events, and last what a
 * module that breaks would need. From then on it asks for no file of its own accord.
 */
export async function whole(page) {
  await ready(page);
  await page.evaluate(async () => {
    await window.chatWidget.ready;
    await import("/chat-widget/recover.mjs");
  });
}

/** Waits until the WebAssembly module is compiled, and whoever waited for it has gone on. */
export const compiled = (page) =>
  page.evaluate(async () => {
    await (await import("/chat-widget/chat-widget.mjs")).load();
    await new Promise(requestAnimationFrame);
  });

/** What the page has put off to its next task is done, and drawn. */
export const nextFrame = (page) =>
  page.evaluate(() => new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve))));

export const background = (page, name) =>
  part(page, name).evaluate((element) => getComputedStyle(element).backgroundColor);

/** Opens the window by its launcher unless it stayed open from the page before, and waits until something can be typed. */
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

/** Opens the visitor's own panel by the menu. */
export async function openMyData(page) {
  await part(page, "menu").click();
  await part(page, "menu-data").click();
  await part(page, "panel").waitFor();
}

/** Types a text, and sends it. */
export async function say(page, text) {
  await part(page, "input").fill(text);
  await part(page, "input").press("Enter");
}

/** Asks, and waits until the message has arrived and an answer to it is shown. */
export async function ask(page, text) {
  const answers = await part(page, "message-assistant").count();
  await say(page, text);
  await part(page, "message-assistant").nth(answers).waitFor();
  await delivered(page);
}

/** Waits until the newest message of the visitor says that it has arrived. */
export const delivered = (page) => part(page, "message-visitor").last().getByText("Delivered").waitFor();

/** Messages of the log as lines: `author: text`, with what was not sent marked. It runs in the page. */
export const asLines = (shown) =>
  shown.map((message) => {
    const author = ["visitor", "assistant", "operator"].find((name) => message.part.contains(`message-${name}`));
    const failed = message.part.contains("message-failed") ? " (not sent)" : "";
    return `${author}${failed}: ${message.querySelector(".cw-bubble").textContent}`;
  });

/** The messages of the log. */
export const messages = (page) => part(page, "message").evaluateAll(asLines);

/** What the visitor said, from the first message to the last. What failed is tried again, if it is to be. */
export const scrollThrough = async (page, options) => (await readThrough(page, options)).map(([said]) => said);

/**
 * What the visitor said, from the first message to the last, each with what was said to it: only a part of a long
 * conversation is on the page, so that the log is scrolled through. No two messages of the visitor may say the same.
 */
export const readThrough = (page, { retry = false } = {}) =>
  page.evaluate(async (retry) => {
    const { shadowRoot } = document.querySelector("chat-widget");
    const log = shadowRoot.querySelector("[part=log]");
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    /** Resolves when the widget has answered to the log's being scrolled to `top`, false when it was there already. */
    const scroll = async (top) => {
      const before = log.scrollTop;
      const scrolled = new Promise((resolve) => log.addEventListener("scroll", resolve, { once: true }));
      log.scrollTop = top;
      if (log.scrollTop === before) return false;
      await scrolled;
      // What is put before the first message moves the place that is looked at, in the frame after.
      await frame();
      await frame();
      return true;
    };
    // What stands before the first message of all.
    while (!log.querySelector(".cw-intro")) if (!(await scroll(0))) await frame();
    await scroll(0);
    const said = new Map();
    const take = () => {
      const shown = [];
      for (const message of log.querySelectorAll("[part~=message]")) {
        const text = message.querySelector(".cw-bubble").textContent;
        if (message.matches("[part~=message-visitor]")) {
          if (retry && !said.has(text)) message.querySelector("[part=retry]")?.click();
          shown.push([text, []]);
        } else {
          shown.at(-1)?.[1].push(text);
        }
      }
      // What was said to the last one may not be on the page yet.
      for (const [text, answers] of shown) if (answers.length >= (said.get(text)?.length ?? 0)) said.set(text, answers);
    };
    take();
    // More than is seen is on the page, and some of it stays when more is put there. The way back to the end is there
    // as long as the end is not.
    while ((await scroll(log.scrollHeight)) || shadowRoot.querySelector(".cw-jump")) {
      take();
      await frame();
    }
    take();
    return [...said];
  }, retry);

/** Waits until the log shows the welcome and all that the service has, in its order, each message once. */
export const showsAll = (page, server) =>
  eventually(async () =>
    assert.deepEqual(await messages(page), [`assistant: ${WELCOME}`, ...(await server.messages())]),
  );

/** The part that has the focus, `page` when it is outside of the widget. */
export const focused = (page) =>
  page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.getAttribute("part") ?? "page");

/** What the widget keeps in the browser: the text under each of its keys, parsed. */
export async function stored(page) {
  const kept = await page.evaluate(() => ({ ...localStorage }));
  return Object.fromEntries(Object.entries(kept).map(([key, text]) => [key, JSON.parse(text)]));
}

/** How many messages of the visitor's are kept to be sent. */
export const unsent = (page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("chat-widget:outbox:")).length);

/** Puts the tab behind another, `hidden`, or in front, `visible`: without a screen, all tabs are in front. */
export const see = (page, state) =>
  page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
    document.dispatchEvent(new Event("visibilitychange"));
  }, state);

/**
 * Tries a check again until it holds; fails with what was wrong last. `within` in milliseconds, as long as a busy machine
 * may need.
 */
export async function eventually(check, within = 30_000) {
  const deadline = performance.now() + within;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > deadline) throw error;
    }
    await pause(40);
  }
}

/**
 * Keeps requests to an address from leaving the browser: `asked` when the first one wants to, until `release()`. Then
 * they go, or fail as `failure` says.
 */
export async function hold(page, address, failure) {
  const gate = {};
  const released = new Promise((resolve) => (gate.release = resolve));
  gate.asked = new Promise((resolve) => {
    gate.closed = page.route(address, async (route) => {
      resolve();
      await released;
      // The page may be gone by now.
      await (failure ? route.abort(failure) : route.continue()).catch(() => {});
    });
  });
  await gate.closed;
  return gate;
}

/** Time passes in the page, whose clock must be in hand, step by step so that what each brings can happen. */
export async function timePasses(page, { minutes }) {
  for (let step = 0; step < minutes * 6; step += 1) await page.clock.fastForward(10_000);
}
