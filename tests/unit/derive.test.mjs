// Themes that are derived from one colour: enough contrast for any colour, and close to the preset of the same colour.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { colours, pairsOf, themes } from "../../scripts/contrast.mjs";
import { numbers } from "./random.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const SCHEMES = ["light", "dark"];
/** Maximum distance in OKLab to a preset's colour. A difference around 0.02 is just noticeable. */
const MAX_DISTANCE = 0.05;
const MAX_MEAN_DISTANCE = 0.005;

async function bundle(path) {
  const { outputFiles } = await build({
    entryPoints: [`${root}/www/${path}`],
    bundle: true,
    format: "esm",
    write: false,
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

const { derive } = await bundle("derive.ts");
const { oklch, paint } = await bundle("colour.ts");

const preset = (theme) => readFileSync(`${root}/themes/${theme}.css`, "utf8");
const sheet = (tokens) =>
  Object.entries(tokens)
    .map(([name, value]) => `--cw-${name}: ${value};`)
    .join("\n");
const accentOf = (css, scheme = "light") => colours(css, scheme).get("accent");
const hex = (number) => `#${number.toString(16).padStart(6, "0")}`;

/** Returns colours from a generator with a fixed seed. */
function randomColours(count) {
  const next = numbers(13);
  return Array.from({ length: count }, () => hex(Math.floor(next() * 2 ** 32) & 0xffffff));
}

/** Returns the distance in OKLab. */
function distance(one, other) {
  const [[l1, c1, h1], [l2, c2, h2]] = [oklch(one), oklch(other)];
  return Math.hypot(l1 - l2, c1 * Math.cos(h1) - c2 * Math.cos(h2), c1 * Math.sin(h1) - c2 * Math.sin(h2));
}

/** Returns the pairs of a derived theme below their ratio. The edge replaces an accent as bright as the page. */
function lowPairs(accent) {
  const tokens = derive(accent);
  const css = sheet(tokens);
  const edged = pairsOf(css.replace(/--cw-accent: [^;]+;/, `--cw-accent: ${tokens["accent-edge"]};`), accent);
  return pairsOf(css, accent)
    .map((pair, at) => (pair.column === "accent" ? edged[at] : pair))
    .filter(({ ratio, least }) => !(ratio >= least))
    .map(({ where, paint, on, least, ratio }) => `${where}: ${paint} on ${on} ${ratio.toFixed(2)} < ${least}`);
}

test("every pair reaches its contrast for the accents of the presets and for extreme colours", () => {
  const presets = themes.flatMap((theme) => SCHEMES.map((scheme) => accentOf(preset(theme), scheme)));
  assert.equal(presets.length, 22);
  const extremes = ["#000", "#fff", "#ff0", "#f00", "#0f0", "#00f", "#0ff", "#f0f", "#808080"];
  assert.deepEqual([...presets, ...extremes].flatMap(lowPairs), []);
});

test("every pair reaches its contrast for 2,000 colours", () => {
  assert.deepEqual(randomColours(2000).flatMap(lowPairs), []);
});

test("a theme has the tokens of a preset and the accent's edge, as pairs of six-digit colours", () => {
  const tokens = derive("#0a66c2");
  const expected = [...colours(preset("teal"), "light").keys(), "accent-edge"].sort();
  assert.deepEqual(Object.keys(tokens).sort(), expected);
  for (const value of Object.values(tokens)) assert.match(value, /^light-dark\(#[\da-f]{6}, #[\da-f]{6}\)$/);
});

test("a theme that is derived from a solid preset's accent is near the preset", (t) => {
  for (const theme of themes.filter((theme) => !theme.startsWith("light_"))) {
    const css = sheet(derive(accentOf(preset(theme))));
    const distances = SCHEMES.flatMap((scheme) => {
      const derived = colours(css, scheme);
      return [...colours(preset(theme), scheme)].map(([name, colour]) => [
        distance(colour, derived.get(name)),
        `${name}, ${scheme}`,
      ]);
    }).sort(([one], [other]) => other - one);
    const mean = distances.reduce((sum, [distance]) => sum + distance, 0) / distances.length;
    const [[farthest, name]] = distances;
    t.diagnostic(`${theme}: ${mean.toFixed(4)} in the mean, ${farthest.toFixed(3)} at most (${name})`);
    assert.ok(farthest <= MAX_DISTANCE, `${theme}: ${name} is ${farthest} away`);
    assert.ok(mean <= MAX_MEAN_DISTANCE, `${theme}: ${mean} in the mean`);
  }
});

test("an accent that carries white or dark text is kept as it is", () => {
  for (const accent of ["#0a66c2", "#e50914", "#ff5a00", "#1db954", "#ffcc00", "#000000"]) {
    assert.equal(accentOf(sheet(derive(accent))), accent);
  }
});

test("an accent keeps its hue, and changes only as far as white text requires", () => {
  for (const accent of randomColours(500)) {
    const derived = accentOf(sheet(derive(accent)));
    const [[lightness, chroma, hue], [moved, kept, turned]] = [oklch(accent), oklch(derived)];
    assert.ok(lightness - moved < 0.08 && lightness >= moved - 0.001, `${accent}: ${lightness} became ${moved}`);
    // The hue of a colour with little chroma is unstable.
    if (Math.min(chroma, kept) > 0.02) assert.ok(Math.cos(hue - turned) > 0.99, `${accent} became ${derived}`);
  }
});

test("deriving from a derived accent again makes no visible change", () => {
  for (const accent of randomColours(300)) {
    const once = sheet(derive(accent));
    const again = sheet(derive(accentOf(once)));
    assert.equal(accentOf(again), accentOf(once), accent);
    for (const scheme of SCHEMES) {
      const [first, second] = [colours(once, scheme), colours(again, scheme)];
      for (const [name, colour] of first)
        assert.ok(distance(colour, second.get(name)) < 0.03, `${accent}, ${scheme}: ${name}`);
    }
  }
});

test("a colour may have three digits and capital letters", () => {
  assert.deepEqual(derive("#F60"), derive("#ff6600"));
});

test("anything but a hex colour throws a TypeError that names the expected form", () => {
  for (const wrong of [
    "",
    "red",
    "#12",
    "#1234",
    "#12345678",
    "123456",
    "#ggg",
    " #fff",
    "#fff\n",
    "rgb(0 0 0)",
    undefined,
    null,
    7,
    {},
    ["#fff"],
  ]) {
    assert.throws(() => derive(wrong), {
      name: "TypeError",
      message: /invalid accent: expected a colour such as "#097477", got /,
    });
  }
});

test("converting a colour to OKLCH and back returns the same colour", () => {
  for (const colour of randomColours(500)) assert.equal(paint(...oklch(colour)), colour);
});
