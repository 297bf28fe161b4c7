// A visitor of the shop, who chats in the real widget.

import { eventually, openChat, part } from "../chat.mjs";
import { closeQuietly } from "../context.mjs";
import { readLog } from "./read-log.mjs";

const OWN = "[part~=message-visitor], [part~=message-operator]";
/** The undo time of a reply, the intervals of polls, and attempts after an outage. */
const ARRIVAL_TIMEOUT_MS = 40_000;

export class ShopVisitor {
  #journal;
  #context;

  /** Opens the shop for a customer with this name, at a network address of its own, and opens the chat. */
  static async arrive(browser, shop, journal, name, number) {
    const visitor = new ShopVisitor();
    visitor.name = name;
    visitor.#journal = journal;
    visitor.#context = await browser.newContext({
      viewport: { width: 900, height: 700 },
      extraHTTPHeaders: { "X-Forwarded-For": `203.0.113.${number + 1}` },
    });
    visitor.#context.setDefaultTimeout(ARRIVAL_TIMEOUT_MS);
    visitor.page = await visitor.#context.newPage();
    const address = new URL(shop.address);
    address.searchParams.set("customer", name);
    await visitor.page.goto(address.href, { waitUntil: "commit" });
    await part(visitor.page, "launcher").waitFor();
    await openChat(visitor.page);
    return visitor;
  }

  /** Writes the next text, without waiting for its delivery. Returns it. */
  async writes(words) {
    const text = this.#journal.write(this.name, "visitor", words);
    await part(this.page, "input").fill(text);
    await part(this.page, "input").press("Enter");
    return text;
  }

  /** Writes the next text, and waits until it is delivered. Returns it. */
  async says(words) {
    const text = await this.writes(words);
    await this.#message("visitor", text).getByText("Delivered").waitFor();
    return text;
  }

  #message(author, text) {
    return part(this.page, `message-${author}`).filter({ hasText: text });
  }

  /** Waits until a text of an operator is in the window. */
  async hears(text) {
    await this.#message("operator", text).waitFor();
  }

  /** Waits until a text of the visitor is delivered. */
  async delivers(text) {
    await this.#message("visitor", text).getByText("Delivered").waitFor();
  }

  isOffline(offline) {
    return this.#context.setOffline(offline);
  }

  /** Reads the conversation from its end to its beginning, as soon as it has this number of texts. */
  async reads(count) {
    const read = () => readLog(this.page, part(this.page, "log"), { messages: OWN, text: ".cw-bubble" });
    let found;
    await eventually(async () => {
      found = await read();
      if (found.texts.length < count) throw new Error(`${found.texts.length} of ${count} texts`);
    });
    return found;
  }

  leaves() {
    return closeQuietly(this.#context);
  }
}
