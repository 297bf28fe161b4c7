// What a screen reader is told in each scene: recorded, plain, and off the page afterwards.

import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

const FILE = new URL("announcements.json", import.meta.url);
/** An announcement has left the page after this. Seconds. */
const GONE_AFTER_S = 15;
/** What is written for the eye. */
const MARKS = [/\*\*/, /```/, /\| /, /\|\s*-{3}/, /(^|\s)#{1,6} /, /\]\(/, /(^|\s)_{2}\w/, /(^|\s)> /];

export function readAnnouncements() {
  try {
    return JSON.parse(readFileSync(FILE, "utf8"));
  } catch {
    return {};
  }
}

/** Takes what was announced in these scenes in place of what was recorded. */
export function recordAnnouncements(heard) {
  const all = { ...readAnnouncements(), ...heard };
  const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** What is wrong with what was announced in a scene. */
export async function announcementProblems(visitor, { title }, recorded) {
  const problems = [];
  for (const said of visitor.announced) {
    const mark = MARKS.find((mark) => mark.test(said));
    if (mark) problems.push(`what is announced has marks of Markdown: "${said.slice(0, 80)}"`);
  }
  const expected = recorded?.[title];
  if (expected && !isDeepStrictEqual(visitor.announced, expected)) {
    problems.push(`announced: ${JSON.stringify(visitor.announced)}, recorded: ${JSON.stringify(expected)}`);
  }
  const left = () => visitor.evaluate(() => document.querySelector("[slot=announcer]")?.childElementCount ?? 0);
  if (visitor.waits && (await left()) > 0) {
    await visitor.waits(GONE_AFTER_S);
    const count = await left();
    if (count > 0) problems.push(`${count} announcements are still on the page ${GONE_AFTER_S} s later`);
  }
  return problems;
}
