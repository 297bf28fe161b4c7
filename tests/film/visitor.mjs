// A visitor with actions and views on the page, independent of the driver of the browser.
//
// A subclass implements what differs between drivers: `evaluate(work, given)`, `goto(path)`, `tap(x, y)`,
// `write(text)`, `key(name)`, `reloadPage()`, and `letTimePass(ms)`, without which time passes by itself.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { lookAround } from "./in-view.mjs";

/** The timeout of a wait, in milliseconds. */
const PATIENCE_MS = Number(process.env.FILM_PATIENCE_MS ?? 8_000);
const POLL_MS = 30;
/** The pace at which time passes in the page while somebody else's words are awaited: this much at each look. */
const HURRY_MS = 250;
/** Maximum wait until nothing has changed for two frames, in milliseconds. */
const SETTLE_TIMEOUT_MS = 900;

export class Visitor {
  /** What was announced in the scene, in order. */
  announced = [];
  /** What cannot be seen when it is wanted, and goes on all the same. */
  problems = [];
  /** The visitor did something in the window in this step. */
  acted = false;
  /** Time passes faster in the page until what is awaited is there. */
  hurries = false;

  constructor(size) {
    this.size = size;
  }

  /** The timeout of a wait, in milliseconds. */
  get patience() {
    return PATIENCE_MS;
  }

  /** Repeats a check until it passes; after the timeout, throws its last error. */
  async until(check, within = this.patience) {
    const deadline = performance.now() + within;
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      if (this.hurries) await this.letTimePass(HURRY_MS);
      await pause(POLL_MS);
    }
  }

  /** The count of elements of a part, or of a selector, that are drawn; those with a text in them if one is given. */
  count(target, text) {
    return this.evaluate(({ target, text }) => window.film.find(target, text).length, { target, text });
  }

  /** Waits until something is drawn, wherever that is. */
  has(target, text) {
    const what = text === undefined ? target : `${target} "${text}"`;
    return this.until(async () => assert.ok((await this.count(target, text)) > 0, `${what} is not there`));
  }

  /** Waits until something is not drawn any more. */
  misses(target, text) {
    const what = text === undefined ? target : `${target} "${text}"`;
    return this.until(async () => assert.equal(await this.count(target, text), 0, `${what} is still there`));
  }

  /** Waits until something can be seen as a whole: it is inside of what scrolls, and nothing covers it. */
  async sees(target, text) {
    await this.has(target, text);
    const hidden = () =>
      this.evaluate(
        ({ target, text }) => {
          const found = window.film.find(target, text).at(-1);
          return found ? (window.film.hiddenBy(found) ?? null) : "it is gone";
        },
        { target, text },
      );
    await this.until(async () => {
      const why = await hidden();
      assert.equal(why, null, `${target}${text === undefined ? "" : ` "${text}"`} cannot be seen: ${why}`);
    }, 1500);
  }

  /** The text of the newest element of a part. */
  textOf(target) {
    return this.evaluate((target) => window.film.find(target).at(-1)?.textContent ?? null, target);
  }

  /** Waits until the focus is on something. */
  hasFocus(target) {
    return this.until(async () => {
      const { on, is } = await this.evaluate((target) => {
        const { focused, nameOf, selectorOf } = window.film;
        return { on: nameOf(focused()) || "the page", is: focused().matches(selectorOf(target)) };
      }, target);
      assert.ok(is, `the focus is on ${on}, not on ${target}`);
    });
  }

  /**
   * Clicks or taps the middle of something. A visitor can only point at what is there to be seen: what is not is a problem,
   * and is scrolled to. With `scroll`, the visitor looks for it.
   */
  async click(target, text, { scroll = false, at = [0.5, 0.5] } = {}) {
    await this.has(target, text);
    let place;
    await this.until(async () => {
      place = await this.evaluate(
        async ({ target, text, scroll, at }) => {
          const { find, hiddenBy, rectOf, lines, contains, clipOf, isOver, elementAt, nameOf } = window.film;
          await new Promise((resolve) => requestAnimationFrame(resolve));
          const found = find(target, text).at(-1);
          if (!found) return null;
          if (scroll && hiddenBy(found)) found.scrollIntoView({ block: "nearest" });
          window.film.used = found;
          // A link may go over several lines: its first one is clicked.
          const place = found.matches("a") ? lines(found)[0] : rectOf(found);
          const [x, y] = [
            place.left + (place.right - place.left) * at[0],
            place.top + (place.bottom - place.top) * at[1],
          ];
          const hit = elementAt(x, y);
          if (!contains(clipOf(found), place)) return { x, y, why: hiddenBy(found, place) };
          return { x, y, why: isOver(found, hit) ? null : `it is covered by ${hit ? nameOf(hit) : "nothing"}` };
        },
        { target, text, scroll, at },
      );
      assert.ok(place && !place.why, `${target} cannot be clicked: ${place?.why ?? "it is gone"}`);
    }, 1500).catch(async (error) => {
      this.problems.push(error.message);
      place = await this.evaluate(
        ({ target, text, at }) => {
          const found = window.film.find(target, text).at(-1);
          found?.scrollIntoView({ block: "nearest" });
          if (!found) return null;
          const { left, top, right, bottom } = window.film.rectOf(found);
          return { x: left + (right - left) * at[0], y: top + (bottom - top) * at[1] };
        },
        { target, text, at },
      );
      assert.ok(place, `${target} is gone`);
    });
    this.acted = !target.startsWith("page ");
    await this.tap(place.x, place.y);
  }

  /** Types into what has the focus. */
  async type(text) {
    this.acted = true;
    await this.write(text);
  }

  /** Presses a key, by Playwright's name of it, where the focus is. */
  async press(...names) {
    this.acted = true;
    await this.evaluate(() => void (window.film.used = undefined));
    for (const name of names) await this.key(name);
  }

  /** Opens the window by its launcher, and waits for something to write in. */
  async opens() {
    await this.whole();
    await this.click("launcher");
    await this.has("composer");
    await this.settled();
  }

  /** Closes it by its button. */
  async closes() {
    await this.click("close");
    await this.misses("window");
  }

  /** Writes a message and sends it: by Enter, or where there is no such key by the button. */
  async says(text) {
    const onField = await this.evaluate(() => window.film.focused().matches("[part~=input]"));
    if (!onField) await this.click("input");
    await this.type(text);
    if (this.size.touch) await this.click("send");
    else await this.press("Enter");
  }

  /** Says something, and waits for what the assistant says to it. */
  async asks(text) {
    const before = await this.count("message-assistant");
    await this.says(text);
    await this.until(async () => assert.ok((await this.count("message-assistant")) > before, `no answer to "${text}"`));
    await this.has("message-visitor", "Delivered");
  }

  /** Waits until the module has taken the launcher over. */
  whole() {
    return this.until(async () =>
      assert.ok(await this.evaluate(() => Boolean(window.chatWidget?.state)), "the module has come"),
    );
  }

  async reloads() {
    await this.takeAnnounced();
    await this.reloadPage();
    await this.whole();
  }

  /** Goes to another page of the site. */
  async goes(path) {
    await this.takeAnnounced();
    await this.goto(path);
    await this.whole();
  }

  /** Waits for the page to draw what it was told. */
  settled() {
    return this.evaluate(async () => {
      for (let frames = 0; frames < 2; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    });
  }

  /** Takes what was announced since the last time. The space between words is not heard. */
  async takeAnnounced() {
    const said = (await this.evaluate(() => window.film?.said.splice(0) ?? [])) ?? [];
    this.announced.push(...said.map((text) => text.replace(/\s+/g, " ").trim()));
  }

  /** What is wrong with what can be seen now, once it has come to rest. */
  async judge(relaxed) {
    const given = { relaxed, acted: this.acted };
    let problems = [];
    const deadline = performance.now() + SETTLE_TIMEOUT_MS;
    do {
      await this.settled();
      problems = await this.evaluate(lookAround, given);
    } while (problems.length > 0 && performance.now() < deadline);
    await this.takeAnnounced();
    return [...this.problems.splice(0), ...problems];
  }
}
