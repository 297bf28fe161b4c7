// The shared steps of the console tests: visitors without a browser, and checks of the operator's view.

import assert from "node:assert/strict";

/** Returns a visitor of the service, whose `say(message)` starts or continues a conversation. */
export function visitorOf({ origin, token }, name) {
  const visitor = { visitorId: `v-${crypto.randomUUID()}`, name };
  let conversationId;
  return {
    async say(message) {
      const response = await fetch(`${origin}/api/connector/v1/chat/messages`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ message, conversationId, visitor }),
      });
      assert.equal(response.status, 200);
      conversationId = (await response.json()).data.conversationId;
      return conversationId;
    },
    /** Sends a reply of an operator. */
    async hears(content) {
      const response = await fetch(`${origin}/operator/api/conversations/${conversationId}/messages`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ content }),
      });
      assert.equal(response.status, 200);
    },
  };
}

/** Returns the entry of a visitor in the console's list. */
export const entry = (console, name) => console.locator("#conversations .entry").filter({ hasText: name });

/** Opens the conversation of a visitor, and waits until its messages are shown. */
export async function choose(console, name) {
  await entry(console, name).click();
  // The layout of a very long conversation takes a while.
  await console.getByRole("heading", { name }).waitFor({ timeout: 30_000 });
  await console.locator("#log article").first().waitFor();
}

/** Edits the responses of the console's API. `change(conversation)` gets each conversation, in the list or alone. */
export const changeAnswers = (console, change) =>
  console.route(/\/operator\/api\/conversations(\/[^/]+)?$/, async (route) => {
    // The page may be closed already.
    const response = await route.fetch().catch(() => undefined);
    const answer = await response?.json().catch(() => undefined);
    if (answer)
      await route
        .fulfill({ response, json: Array.isArray(answer) ? answer.map(change) : change(answer) })
        .catch(() => {});
  });

/** Asserts that all of an element is in the visible part of its box and of the screen, and that nothing covers it. */
export async function isInView(locator, box) {
  const look = () =>
    locator.evaluate((element, selector) => {
      // The list was rendered anew in this moment.
      if (!element.isConnected) return "replaced";
      const rect = element.getBoundingClientRect();
      const { top, right, bottom, left } = element.closest(selector).getBoundingClientRect();
      // The browser rounds by up to half a pixel.
      const inside =
        rect.top >= Math.max(top, 0) - 0.5 &&
        rect.bottom <= Math.min(bottom, innerHeight) + 0.5 &&
        rect.left >= Math.max(left, 0) - 0.5 &&
        rect.right <= Math.min(right, innerWidth) + 0.5;
      const corners = [
        [rect.left + 2, rect.top + 2],
        [rect.right - 2, rect.bottom - 2],
      ];
      const isElement = (found) => found && (element.contains(found) || found.contains(element));
      const covered = corners.map(([x, y]) => document.elementFromPoint(x, y)).find((found) => !isElement(found));
      if (rect.height > 0 && inside && covered === undefined) return undefined;
      return `${JSON.stringify(rect)} in ${JSON.stringify({ top, right, bottom, left })}, covered by ${covered?.outerHTML.slice(0, 80)}`;
    }, box);
  let hidden = await look();
  while (hidden === "replaced") hidden = await look();
  assert.equal(hidden, undefined);
}

/** Asserts that the newest message is this one, and in view down to its last line. */
export const newestIsInView = async (console, text) => {
  const newest = console.locator("#log article").last();
  assert.equal(await newest.locator(".bubble").innerText(), text);
  await isInView(newest, "#log");
};
