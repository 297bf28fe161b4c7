// Checks the announcements to screen readers in each scene: as recorded, without symbols, and removed afterwards.

import { readFileSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

const FILE = new URL("announcements.json", import.meta.url);
/** The time after which an announcement has left the page, in seconds. */
const GONE_AFTER_S = 15;
/** Symbols that are only for the eye. */
const MARKS = [/\*\*/, /```/, /\| /, /\|\s*-{3}/, /(^|\s)#{1,6} /, /\]\(/, /(^|\s)_{2}\w/, /(^|\s)> /];

export function readAnnouncements() {
  try {
    return JSON.parse(readFileSync(FILE, "utf8"));
  } catch {
    return {};
  }
}

/** Records the announcements of these scenes. */
export function recordAnnouncements(announced) {
  const all = { ...readAnnouncements(), ...announced };
  const sorted = Object.fromEntries(Object.entries(all).sort(([one], [other]) => (one < other ? -1 : 1)));
  writeFileSync(FILE, `${JSON.stringify(sorted, null, 2)}\n`);
}

/** Returns the problems of the announcements of a scene. */
export async function announcementProblems(visitor, { title }, recorded) {
  const problems = [];
  for (const text of visitor.announced) {
    const mark = MARKS.find((mark) => mark.test(text));
    if (mark) problems.push(`the announcement contains Markdown: "${text.slice(0, 80)}"`);
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
