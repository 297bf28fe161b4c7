// axe-core reports no violation of WCAG 2.0, 2.1 and 2.2, levels A and AA, and leaves no rule undecided.

import assert from "node:assert/strict";
import { TAGS, withAxe } from "./axe.mjs";
import { BLANK, look, THEMES } from "./gallery.mjs";
import { test } from "./harness.mjs";

/** Returns axe's violations and undecided rules in the widget, each as `rule: element: why`. */
function findings(page, runOnly) {
  return page.evaluate(async (runOnly) => {
    const { violations, incomplete, passes } = await window.axe.run("chat-widget", { runOnly });
    const lines = (results) =>
      results.flatMap(({ id, nodes }) =>
        nodes.map(({ target, any, all, none }) => {
          const why = [...any, ...all, ...none].map(({ message }) => message).join("; ");
          return `${id}: ${target.flat().at(-1)}: ${why}`;
        }),
      );
    return { violations: lines(violations), incomplete: lines(incomplete), passed: passes.map(({ id }) => id) };
  }, runOnly);
}

/** Results that axe leaves to manual review, with the finding of that review. */
const EXPLAINED = [
  // Long lines of code are clipped by their box, which axe takes for an overlapping element. The colour pair is
  // in tests/contrast.test.mjs.
  "color-contrast: pre > code: Element's background color could not be determined because it's partially obscured",
  // The open menu covers the introduction.
  "color-contrast: .cw-intro-note:nth-child(3): Element's background color could not be determined because it is overlapped",
];

const STATES = [
  "closed",
  "preview",
  "empty",
  "conversation",
  "joined",
  "failed",
  "noreply",
  "offline",
  "person-offered",
  "form",
  "contact-done",
  "menu",
  "rtl",
];

for (const [index, state] of STATES.entries()) {
  // Every theme is here with two states; tests/contrast.test.mjs has each pair of colours of each theme.
  const themes = [index, index + STATES.length - 1].map((at) => THEMES[at % THEMES.length]);
  test(`axe reports no violation in the state "${state}" in ${themes.join(" and ")}, light or dark`, async ({
    visit,
    site,
  }) => {
    const page = await visit({ path: BLANK, prepare: withAxe });
    const found = [];
    for (const theme of themes) {
      await page.emulateMedia({ colorScheme: "light" });
      await look(page, site, state, { theme, scheme: "auto" });
      // The dark scheme differs in its colours only.
      for (const [colorScheme, runOnly] of [
        ["light", TAGS],
        ["dark", ["color-contrast"]],
      ]) {
        await page.emulateMedia({ colorScheme });
        const { violations, incomplete, passed } = await findings(page, runOnly);
        assert.ok(state === "closed" || passed.includes("color-contrast"), "axe saw the colours");
        const open = incomplete.filter((text) => !EXPLAINED.some((known) => text.startsWith(known)));
        for (const text of [...violations, ...open]) found.push(`${theme}, ${colorScheme}: ${text}`);
      }
    }
    assert.deepEqual(found, []);
  });
}
