// Runs axe-core in the pages of a test.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** The rules of WCAG 2.0, 2.1 and 2.2, levels A and AA. */
export const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa"];

/** Prepares a visit with axe in its page. */
export const withAxe = (page) => page.addInitScript(AXE);

/** Returns axe's violations on a page, without the frames in it, each as `rule: element: why`. */
export const pageFindings = (page) =>
  page.evaluate(async (runOnly) => {
    const { violations } = await window.axe.run(document, { runOnly, iframes: false });
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`),
    );
  }, TAGS);
