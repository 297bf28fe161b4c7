// An operator with the console open for the whole day: one document, which is never loaded again.

import assert from "node:assert/strict";
import { eventually } from "../chat.mjs";
import { isInView } from "../console.mjs";
import { articles, button, field, log, row } from "../inbox.mjs";
import { openConsole } from "../team.mjs";
import { readLog } from "./read-log.mjs";

const READ = {
  messages: "article[data-role=visitor], article[data-role=operator]:not(.pending)",
  text: ".bubble",
};
const LOST = "Connection lost.";
/** Attempts after an outage are up to 15 s apart. */
const RECOVERY_TIMEOUT_MS = 40_000;

/** Waits until the page has drawn its changes. It runs in the page. */
const drawn = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

export class ConsoleOperator {
  #journal;

  /** Opens the console of an operator at an address of the service. */
  static async arrive(browser, address, journal, account) {
    const operator = new ConsoleOperator();
    operator.name = account.name;
    operator.#journal = journal;
    Object.assign(
      operator,
      await openConsole(browser, { address }, account, "/console/", { prepare: (page) => page.clock.install() }),
    );
    await operator.page.getByRole("searchbox").waitFor();
    await operator.page.evaluate(() => void (window.isSameDocument = true));
    return operator;
  }

  /** Opens the conversation of a visitor from the list, wherever it is in it. */
  async opens(visitor) {
    const { page } = this;
    const scroller = page.locator("#conversations");
    // The rows stay where they are while the pointer is over them.
    await scroller.hover();
    await this.#showsNewRows();
    await scroller.evaluate((box) => box.scrollTo(0, 0));
    await eventually(async () => {
      await scroller.evaluate(drawn);
      if ((await row(page, visitor).count()) > 0) return;
      await this.#showsNewRows();
      await scroller.evaluate((box) => {
        const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
        box.scrollTo(0, isAtEnd ? 0 : box.scrollTop + box.clientHeight / 2);
      });
      assert.fail(`${visitor} is not in the list`);
    });
    await row(page, visitor).click();
    await page.getByRole("heading", { name: visitor }).first().waitFor();
    await articles(page).first().waitFor();
  }

  /** Lets the rows in that wait behind a button, if there are any. */
  async #showsNewRows() {
    const waiting = this.page.getByRole("button", { name: /new conversations?/ });
    if ((await waiting.count()) > 0) await waiting.click();
  }

  /** Writes a text into the composer. Returns it. */
  async types(visitor, words) {
    const text = this.#journal.write(visitor, "operator", words);
    await this.#writes(text);
    return text;
  }

  /** Writes a text that is not sent. */
  async begins(text) {
    await this.#writes(text);
  }

  async #writes(text) {
    await this.page.getByRole("radio", { name: "Reply" }).check({ force: true });
    await field(this.page).fill(text);
  }

  /** Sends a reply in the open conversation, whose undo time begins. Returns its text. */
  async replies(visitor, words) {
    const text = await this.types(visitor, words);
    await this.sends(text);
    return text;
  }

  /** Sends what is in the composer, and waits until it is in view at the end of the log. */
  async sends(text) {
    await button(this.page, "Send").click();
    await eventually(async () => {
      const message = articles(this.page).filter({ hasText: text }).last();
      await isInView(message.locator(".bubble"), "[role=log]");
    });
  }

  draft() {
    return field(this.page).inputValue();
  }

  /** Waits until a text is in the open conversation. */
  async sees(text) {
    await log(this.page).getByText(text, { exact: true }).waitFor({ timeout: RECOVERY_TIMEOUT_MS });
  }

  /** Waits until the console says that the connection is lost, where the operator sees it. */
  async losesConnection() {
    const banner = this.page.getByRole("status").filter({ hasText: LOST });
    await banner.waitFor();
    await isInView(banner, "body");
  }

  /** Waits until the console is connected again. */
  async recovers() {
    const banner = this.page.getByRole("status").filter({ hasText: LOST });
    await banner.waitFor({ state: "detached", timeout: RECOVERY_TIMEOUT_MS });
  }

  /** Asserts that the console is still the document that was opened in the morning. */
  async isSameDocument() {
    assert.equal(
      await this.page.evaluate(() => window.isSameDocument),
      true,
      `${this.name}'s console was loaded again`,
    );
  }

  /** Returns the names in the list, from its top to its end, as often as they are there. */
  async names() {
    const { page } = this;
    const places = new Map();
    const scroller = page.locator("#conversations");
    await scroller.evaluate((box) => box.scrollTo(0, 0));
    let isAtEnd = false;
    while (!isAtEnd) {
      await scroller.evaluate(drawn);
      const found = await scroller.evaluate((box) => {
        const rows = [...box.querySelectorAll("li[aria-posinset]")].map((one) => [
          one.getAttribute("aria-posinset"),
          one.querySelector(".row-name").textContent,
        ]);
        const isAtEnd = box.scrollTop + box.clientHeight >= box.scrollHeight - 1;
        box.scrollBy(0, box.clientHeight / 2);
        return { rows, isAtEnd };
      });
      for (const [place, name] of found.rows) places.set(place, name);
      isAtEnd = found.isAtEnd;
    }
    return [...places.values()];
  }

  /** Reads the open conversation from its end to its beginning, as soon as it has this number of texts. */
  async reads(count) {
    let found;
    await eventually(async () => {
      found = await readLog(this.page, log(this.page), READ);
      assert.ok(found.texts.length >= count, `${found.texts.length} of ${count} texts`);
    });
    return found;
  }
}
