// The mistakes of `npm run mutations` fit the sources as they are.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { MISTAKES } from "../../scripts/mistakes.mjs";

test("The session has the text of each mistake once", () => {
  for (const { name, file, edits } of MISTAKES) {
    const source = readFileSync(new URL(`../../crates/session/src/${file}`, import.meta.url), "utf8");
    for (const [before] of edits) assert.equal(source.split(before).length, 2, `${name}: ${before}`);
  }
});
