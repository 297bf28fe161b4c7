// Every colour pair of every theme has enough contrast.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { colours, page, pairs, ratio, themes, unmeasured } from "../scripts/contrast.mjs";

test("Every colour pair reaches its contrast ratio in all eleven themes, light and dark", (t) => {
  const { shared, themed } = pairs();
  const measured = [...shared, ...themed];
  assert.equal(themes.length, 11);
  assert.equal(new Set(themed.map(({ where }) => where)).size, 22);
  t.diagnostic(`${measured.length} pairs; the tables are in docs/themes.md`);
  const low = measured.filter(({ ratio, least }) => !(ratio >= least));
  assert.deepEqual(
    low.map(({ where, paint, on, least, ratio }) => `${where}: ${paint} on ${on} ${ratio.toFixed(2)} < ${least}`),
    [],
  );
});

test("Every colour of the style sheets belongs to a checked pair", () => {
  assert.deepEqual(unmeasured(), []);
});

test("The contrast tables of docs/themes.md match the computed ratios", () => {
  const written = readFileSync(new URL("../docs/themes.md", import.meta.url), "utf8");
  assert.ok(written === page(), "run: node scripts/contrast.mjs");
});

test("Contrast ratios follow the formula of WCAG", () => {
  const [black, white, grey] = [
    [0, 0, 0],
    [255, 255, 255],
    [118, 118, 118],
  ];
  assert.equal(ratio(black, white), 21);
  assert.equal(ratio(grey, grey), 1);
  assert.equal(ratio(grey, white).toFixed(2), "4.54");
  const css =
    ":host { --cw-a: light-dark(#111111, #222222); --cw-b: #333333; --cw-c: light-dark(rgb(1 2 3 / 0.1), rgb(4 5 6 / 0.2)); --cw-d: 4px; }";
  assert.deepEqual(
    [...colours(css, "light")],
    [
      ["a", "#111111"],
      ["b", "#333333"],
      ["c", "rgb(1 2 3 / 0.1)"],
    ],
  );
  assert.deepEqual(
    [...colours(css, "dark")],
    [
      ["a", "#222222"],
      ["b", "#333333"],
      ["c", "rgb(4 5 6 / 0.2)"],
    ],
  );
});
