// The steps of operators in the inbox.

import assert from "node:assert/strict";
import { eventually } from "./chat.mjs";
import { isInView } from "./console.mjs";

export const list = (page) => page.getByRole("region", { name: "Conversations" });
/** Returns the row of a visitor in the list. */
export const row = (page, name) => list(page).getByRole("link").filter({ hasText: name });
export const log = (page) => page.getByRole("log");
export const articles = (page) => log(page).getByRole("article");
export const field = (page) => page.locator("#composer-text");
export const button = (page, name) => page.getByRole("button", { name, exact: true });

/** Opens the conversation of a visitor from the list, and waits until its messages are shown. */
export async function choose(page, name) {
  await row(page, name).click();
  await page.getByRole("heading", { name }).first().waitFor();
  await articles(page).first().waitFor();
}

/** Writes a text for the visitor and sends it, without waiting for its arrival. */
export async function reply(page, text) {
  await page.getByRole("radio", { name: "Reply" }).check({ force: true });
  await field(page).fill(text);
  await button(page, "Send").click();
}

/** Waits until the newest message has this text, and is in the visible area down to its last line. */
export const newest = (page, text) =>
  eventually(async () => {
    const last = articles(page).last();
    assert.match(await last.innerText(), new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
    await isInView(last, "[role=log]");
  });

/** Returns the visitor's view of a conversation: role and text of each message. */
export async function seenBy(visitor) {
  const messages = await visitor.poll();
  return messages.map(({ role, content }) => `${role}: ${content}`);
}
