// A visitor in Chromium, by Playwright: with a clock, touch, a network to lose and more tabs.

import { see } from "../e2e/chat.mjs";
import { closeQuietly } from "../e2e/context.mjs";
import { setTimeout as pause } from "node:timers/promises";
import { Record } from "../e2e/record.mjs";
import { installFilm } from "./in-page.mjs";
import { SIZES } from "./sizes.mjs";
import { Visitor } from "./visitor.mjs";

/** The time that a response of the service takes on this machine. */
const ANSWER_DELAY_MS = 25;

/** Adds options to the script tag of the shop's pages. */
function withOptions(html, options) {
  const attributes = Object.entries(options).map(
    ([name, value]) => `data-${name}='${String(value).replaceAll("'", "&#39;")}' `,
  );
  // The first of two attributes with the same name counts.
  return html.replace("data-proxy=", (found) => attributes.join("") + found);
}

export class BrowserVisitor extends Visitor {
  /** The page, for actions that only this driver has. */
  page;
  #context;
  #record;
  #site;

  /**
   * Opens the site as a new visitor. `options` are attributes of the script tag without `data-`; `prepare(page)` is called
   * before anything loads; `path` is the page to open, or null for none.
   */
  static async arrive({ browser, site, token, sizeName, scheme }, { options = {}, prepare, path = "/" } = {}) {
    const { clip, ...screen } = SIZES[sizeName];
    const visitor = new BrowserVisitor({ name: sizeName, clip, touch: screen.hasTouch === true });
    const context = await browser.newContext({ ...screen, reducedMotion: "reduce", colorScheme: scheme });
    context.setDefaultTimeout(10_000);
    visitor.#context = context;
    visitor.#site = site;
    visitor.#record = await Record.of(context, site, token);
    await context.addInitScript(installFilm);
    const attributes = { "color-scheme": scheme, ...options };
    await context.route(
      (url) => /(\/|\.html)$/.test(url.pathname),
      async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, body: withOptions(await response.text(), attributes) });
      },
    );
    visitor.page = await context.newPage();
    await visitor.page.clock.install();
    await prepare?.(visitor.page, visitor);
    if (path) await visitor.goto(path);
    return visitor;
  }

  /** Opens another tab of the same visitor. */
  async opensTab(path = "/") {
    const other = new BrowserVisitor(this.size);
    Object.assign(other, { page: await this.#context.newPage() });
    other.#context = this.#context;
    other.#site = this.#site;
    await other.page.clock.install();
    await other.goto(path);
    return other;
  }

  /** Returns the site's address. */
  get site() {
    return this.#site;
  }

  evaluate(work, given) {
    return this.page.evaluate(work, given);
  }

  async goto(path) {
    await this.page.goto(this.#site + path, { waitUntil: "commit" });
  }

  async reloadPage() {
    await this.page.reload({ waitUntil: "commit" });
  }

  tap(x, y) {
    return this.size.touch ? this.page.touchscreen.tap(x, y) : this.page.mouse.click(x, y);
  }

  write(text) {
    return text.length > 200 ? this.page.keyboard.insertText(text) : this.page.keyboard.type(text);
  }

  key(name) {
    return this.page.keyboard.press(name);
  }

  /** Advances the page's clock and runs its timers. */
  async letTimePass(ms) {
    await this.page.clock.runFor(ms);
  }

  /** Advances the clock by seconds, step by step, so that each step's requests are answered before the next. */
  async waits(seconds) {
    for (let left = seconds * 1000; left > 0; left -= 1000) {
      await this.page.clock.runFor(Math.min(left, 1000));
      await pause(ANSWER_DELAY_MS);
    }
  }

  /** Scrolls the log with the mouse wheel, as a visitor does. */
  async scrolls(dy) {
    const { x, y } = await this.evaluate(() => {
      const { left, right, top, bottom } = window.film.rectOf(window.film.find("log")[0]);
      return { x: (left + right) / 2, y: (top + bottom) / 2 };
    });
    await this.page.mouse.move(x, y);
    await this.page.mouse.wheel(0, dy);
    // Scrolling takes several frames, and may insert messages above.
    const place = () => this.evaluate(() => window.film.find("log")[0].scrollTop);
    let before;
    do {
      before = await place();
      await pause(60);
    } while (before !== (await place()));
  }

  /** Resizes the viewport, as zooming does. */
  async resizes(width, height) {
    await this.page.setViewportSize({ width, height });
    const { clip } = this.size;
    if (clip)
      this.size = {
        ...this.size,
        clip: { x: Math.max(0, width - clip.width), y: 0, width: Math.min(clip.width, width), height },
      };
    await this.settled();
  }

  /** Switches the network off or on. */
  async isOffline(offline) {
    await this.#context.setOffline(offline);
  }

  /** Sets the tab's visibility, `hidden` or `visible`. */
  isSeen(state) {
    return see(this.page, state);
  }

  /** Accepts this text in the console. */
  tolerates(text) {
    this.#record.tolerate(text);
  }

  picture() {
    return this.page.screenshot({ clip: this.size.clip, animations: "disabled", caret: "initial" });
  }

  /** Returns the complaints about the browser's requests and errors. */
  async complaints() {
    await this.#record.judge().catch(() => {});
    return this.#record.takeComplaints();
  }

  async leaves() {
    // A page that is left sends requests, which would reach the sandbox of the next scene.
    await closeQuietly(this.#context);
  }
}
