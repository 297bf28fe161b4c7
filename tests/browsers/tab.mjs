// A tab of the browser, with the actions of a visitor in it.

import assert from "node:assert/strict";
import webdriver from "selenium-webdriver";
import { asLines, eventually, focused } from "../e2e/chat.mjs";
import { WELCOME } from "../e2e/sandbox.mjs";

export const { Key } = webdriver;

/** Returns the elements of a part of the widget in the order of the page, where it runs. */
const find = (name) => [
  ...(document.querySelector("chat-widget")?.shadowRoot?.querySelectorAll(`[part~="${name}"]`) ?? []),
];

/** Resolves when an element has not moved for a frame. It runs in the page. */
async function comesToRest(element) {
  const place = () => JSON.stringify(element.getBoundingClientRect());
  let before;
  do {
    before = place();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
  } while (place() !== before);
}

export class Tab {
  #browser;
  #handle;
  #framed;
  shop;

  /** The tab of a window handle, in the shop; `framed` when it is in a frame of the page. */
  constructor(browser, handle, shop, framed) {
    this.#browser = browser;
    this.#handle = handle;
    this.#framed = framed;
    this.shop = shop;
  }

  /** Switches the driver to this tab. */
  async #inFront() {
    await this.#browser.switchTo().window(this.#handle);
    return this.#browser;
  }

  async goto(path) {
    await (await this.#inFront()).get(this.shop.origin + path);
  }

  async reload() {
    await (await this.#inFront()).navigate().refresh();
  }

  async back() {
    await (await this.#inFront()).navigate().back();
  }

  async close() {
    await (await this.#inFront()).close();
  }

  /** Switches the driver to the shop's page. */
  async #inShop() {
    const browser = await this.#inFront();
    if (this.#framed) await browser.switchTo().frame(0);
    return browser;
  }

  /** Returns the result of a function that runs in the page. */
  async evaluate(work, ...given) {
    return (await this.#inShop()).executeScript(work, ...given);
  }

  /** Returns the elements of a part of the widget in the order of the page. */
  parts(name) {
    return this.evaluate(find, name);
  }

  /** Returns the result of a function that runs in the page with the elements of a part. */
  read(name, work) {
    return this.evaluate(`return (${work})((${find})(arguments[0]))`, name);
  }

  /** Waits for the only element of a part, and returns it. */
  part(name) {
    return eventually(() => this.#only(name));
  }

  async #only(name) {
    const found = await this.parts(name);
    assert.equal(found.length, 1, `${found.length} elements of the part ${name}`);
    return found[0];
  }

  count(name) {
    return this.read(name, (elements) => elements.length);
  }

  /** Waits until a part has this number of elements. */
  has(name, count) {
    return eventually(async () => assert.equal(await this.count(name), count, name));
  }

  /**
   * Clicks the position of a part once it no longer moves: the module's launcher may replace the loader's meanwhile. The
   * driver's own click adds a listener for `unload` in Firefox, which keeps the page out of the back-forward cache.
   */
  click(name) {
    return eventually(async () => {
      const origin = await this.#only(name);
      await this.evaluate(comesToRest, origin);
      await this.#browser.actions().move({ origin }).click().perform();
    });
  }

  /** Returns the position of the only element of a part once it no longer moves, and the width of the viewport. */
  async box(name) {
    await this.evaluate(comesToRest, await this.part(name));
    return this.read(name, ([element]) => {
      const { left, right, width, height } = element.getBoundingClientRect();
      return { left, right, width, height, screen: document.documentElement.clientWidth };
    });
  }

  /** Presses keys on the focused element. */
  async press(...keys) {
    await (await this.#inShop())
      .actions()
      .sendKeys(...keys)
      .perform();
  }

  /** Opens the window by its launcher, and waits until its input has the focus. */
  async openChat() {
    await this.click("launcher");
    await eventually(async () => assert.equal(await focused(this), "input"));
  }

  /** Waits for the window that was open on the previous page, and focuses its input. */
  async stayedOpen() {
    await this.click("input");
    await eventually(async () => assert.equal(await focused(this), "input"));
  }

  /** Sends a question, and waits until it is delivered and a reply is shown. */
  async ask(text) {
    const answers = await this.count("message-assistant");
    await (await this.part("input")).sendKeys(text, Key.RETURN);
    await this.answered(answers);
  }

  /** Waits until one more reply is shown, and the newest message is marked as delivered. */
  async answered(before) {
    await this.has("message-assistant", before + 1);
    const newest = (messages) => messages.at(-1).textContent;
    await eventually(async () => assert.match(await this.read("message-visitor", newest), /Delivered/));
  }

  /** Returns the messages of the log, each as `author: text`. */
  messages() {
    return this.read("message", asLines);
  }

  /** Waits until the log shows the welcome and all messages of the service, in its order, each once. */
  showsAll(server) {
    return eventually(async () =>
      assert.deepEqual(await this.messages(), [`assistant: ${WELCOME}`, ...(await server.messages())]),
    );
  }
}
