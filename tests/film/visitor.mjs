// A visitor with actions and views on the page, independent of the driver of the browser.
//
// A subclass implements what differs between drivers: `evaluate(work, given)`, `goto(path)`, `tap(x, y)`,
// `write(text)`, `key(name)`, `reloadPage()`, and `letTimePass(ms)` if it controls the clock.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { viewProblems } from "./in-view.mjs";

/** The timeout of a wait, in milliseconds. */
const WAIT_TIMEOUT_MS = Number(process.env.FILM_PATIENCE_MS ?? 8_000);
const POLL_MS = 30;
/** The time by which the page's clock advances at each check while a message of another person is awaited. */
const CLOCK_STEP_MS = 250;
/** Maximum wait until nothing has changed for two frames, in milliseconds. */
const SETTLE_TIMEOUT_MS = 900;

export class Visitor {
  /** The announcements of the scene, in order. */
  announced = [];
  /** The problems that do not end the scene. */
  problems = [];
  /** Whether the visitor used the window in this step. */
  acted = false;
  /** Whether the page's clock runs faster until the awaited condition is met. */
  hurries = false;

  constructor(size) {
    this.size = size;
  }

  /** The timeout of a wait, in milliseconds. */
  get waitTimeout() {
    return WAIT_TIMEOUT_MS;
  }

  /** Repeats a check until it passes; after the timeout, throws its last error. */
  async until(check, within = this.waitTimeout) {
    const deadline = performance.now() + within;
    for (;;) {
      try {
        return await check();
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      if (this.hurries) await this.letTimePass(CLOCK_STEP_MS);
      await pause(POLL_MS);
    }
  }

  /** Returns the number of drawn elements of a part or selector, filtered by a text if given. */
  count(target, text) {
    return this.evaluate(({ target, text }) => window.film.find(target, text).length, { target, text });
  }

  /** Waits until a target is drawn anywhere. */
  has(target, text) {
    const what = text === undefined ? target : `${target} "${text}"`;
    return this.until(async () => assert.ok((await this.count(target, text)) > 0, `${what} is not there`));
  }

  /** Waits until a target is no longer drawn. */
  misses(target, text) {
    const what = text === undefined ? target : `${target} "${text}"`;
    return this.until(async () => assert.equal(await this.count(target, text), 0, `${what} is still there`));
  }

  /** Waits until a target is wholly visible: neither clipped nor covered. */
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

  /** Returns the text of the newest element of a part. */
  textOf(target) {
    return this.evaluate((target) => window.film.find(target).at(-1)?.textContent ?? null, target);
  }

  /** Waits until a target has the focus. */
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
   * Clicks or taps the centre of a target. An invisible target is a problem, and is scrolled into view; with `scroll`, it
   * is scrolled into view without a problem.
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
          // A link may wrap: its first line is clicked.
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

  /** Types into the focused element. */
  async type(text) {
    this.acted = true;
    await this.write(text);
  }

  /** Presses a key on the focused element, by Playwright's name. */
  async press(...names) {
    this.acted = true;
    await this.evaluate(() => void (window.film.used = undefined));
    for (const name of names) await this.key(name);
  }

  /** Opens the window by its launcher, and waits for the input. */
  async opens() {
    await this.allFilesLoaded();
    await this.click("launcher");
    await this.has("composer");
    await this.settled();
  }

  /** Closes the window by its button. */
  async closes() {
    await this.click("close");
    await this.misses("window");
  }

  /** Writes a message and sends it by Enter, or by the button on touch screens. */
  async says(text) {
    const onField = await this.evaluate(() => window.film.focused().matches("[part~=input]"));
    if (!onField) await this.click("input");
    await this.type(text);
    if (this.size.touch) await this.click("send");
    else await this.press("Enter");
  }

  /** Sends a message, and waits for the assistant's reply. */
  async asks(text) {
    const before = await this.count("message-assistant");
    await this.says(text);
    await this.until(async () => assert.ok((await this.count("message-assistant")) > before, `no reply to "${text}"`));
    await this.has("message-visitor", "Delivered");
  }

  /** Points at the launcher, unless the module has started, and waits until it has taken the launcher over. */
  allFilesLoaded() {
    return this.until(async () => assert.ok(await this.evaluate(startModule), "the module has started"));
  }

  async reloads() {
    await this.takeAnnounced();
    await this.reloadPage();
    await this.allFilesLoaded();
  }

  /** Goes to another page of the site. */
  async goes(path) {
    await this.takeAnnounced();
    await this.goto(path);
    await this.allFilesLoaded();
  }

  /** Waits until the page has drawn its changes. */
  settled() {
    return this.evaluate(async () => {
      for (let frames = 0; frames < 2; frames += 1) await new Promise((resolve) => requestAnimationFrame(resolve));
    });
  }

  /** Removes and returns the announcements since the last call, with normalized white space. */
  async takeAnnounced() {
    const announced = (await this.evaluate(() => window.film?.announced.splice(0) ?? [])) ?? [];
    this.announced.push(...announced.map((text) => text.replace(/\s+/g, " ").trim()));
  }

  /** Returns the problems of the current view once it no longer changes. */
  async judge(relaxed) {
    const given = { relaxed, acted: this.acted };
    let problems = [];
    const deadline = performance.now() + SETTLE_TIMEOUT_MS;
    do {
      await this.settled();
      problems = await this.evaluate(viewProblems, given);
    } while (problems.length > 0 && performance.now() < deadline);
    await this.takeAnnounced();
    return [...this.problems.splice(0), ...problems];
  }
}

/** Shows the intent that starts the module. It runs in the page, and returns whether the module has started. */
function startModule() {
  if (window.chatWidget?.state) return true;
  const root = document.querySelector("chat-widget")?.shadowRoot;
  root?.querySelector("[part~=launcher]")?.dispatchEvent(new PointerEvent("pointerenter"));
  return false;
}
