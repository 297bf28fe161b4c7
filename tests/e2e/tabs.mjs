// Several tabs of one browser, and which of them polls the service.

import assert from "node:assert/strict";
import { ask, eventually, openChat } from "./chat.mjs";

export const QUESTION = "How long does delivery take?";

/** Opens another tab, or the first one, with its window open. */
export async function openTab(visit, options) {
  const page = await visit(options);
  await openChat(page);
  return page;
}

/** Opens a number of tabs with a conversation and open windows. */
export async function openConversationTabs(visit, count) {
  const tabs = [await openTab(visit)];
  await ask(tabs[0], QUESTION);
  while (tabs.length < count) tabs.push(await openTab(visit, { beside: tabs[0] }));
  return tabs;
}

/** Waits for a number of polls from any tab, and returns them. */
export async function nextPolls(record, count) {
  const soFar = record.polls().length;
  return eventually(() => {
    const next = record.polls().slice(soFar);
    assert.ok(next.length >= count, `${next.length} of ${count} polls`);
    return next;
  }, 30_000);
}

/** Returns the tab that sent all these polls. */
export function pollerOf(polls, tabs) {
  const pollers = new Set(polls.map(({ page }) => tabs.indexOf(page)));
  assert.equal(pollers.size, 1, `polls of the tabs ${[...pollers]}`);
  return polls[0].page;
}

/** Closes or hides the leading tab, and returns the tab that takes over. */
export async function replaceLeader(record, leader, end) {
  const ended = performance.now();
  await end(leader);
  const next = await eventually(() => {
    const next = record.polls().find(({ page, at }) => page !== leader && at > ended);
    assert.ok(next, "another tab polls");
    return next;
  });
  return next.page;
}
