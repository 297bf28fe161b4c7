// Several tabs of one browser, and which of them asks the service for news.

import assert from "node:assert/strict";
import { ask, eventually, openChat } from "./chat.mjs";

/** As often as the widget lets itself be told. */
export const QUICK = { presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } };
export const QUESTION = "How long does delivery take?";

/** Another tab, or the first one, with its window open. */
export async function openTab(visit, options) {
  const page = await visit(options);
  await openChat(page);
  return page;
}

/** So many tabs with a conversation, and their windows open. */
export async function talkingTabs(visit, count) {
  const tabs = [await openTab(visit)];
  await ask(tabs[0], QUESTION);
  while (tabs.length < count) tabs.push(await openTab(visit, { beside: tabs[0] }));
  return tabs;
}

/** The next so many polls, of whatever tab. */
export async function nextPolls(record, count) {
  const soFar = record.polls().length;
  return eventually(() => {
    const next = record.polls().slice(soFar);
    assert.ok(next.length >= count, `${next.length} of ${count} polls`);
    return next;
  }, 30_000);
}

/** The tab that all these polls are from. */
export function pollerOf(polls, tabs) {
  const pollers = new Set(polls.map(({ page }) => tabs.indexOf(page)));
  assert.equal(pollers.size, 1, `polls of the tabs ${[...pollers]}`);
  return polls[0].page;
}

/** Ends that this tab leads, and waits until another one does in its place, which it gives. */
export async function replaced(record, leader, end) {
  const ended = performance.now();
  await end(leader);
  const next = await eventually(() => {
    const next = record.polls().find(({ page, at }) => page !== leader && at > ended);
    assert.ok(next, "another tab polls");
    return next;
  });
  assert.ok(next.at - ended <= 2000, `after ${next.at - ended} ms`);
  return next.page;
}
