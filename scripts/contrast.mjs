// Computes the contrast (WCAG 2.2) of every colour pair of the widget, from its tokens and themes. As a command, it writes
// the tables of docs/themes.md.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const PAGE = join(root, "docs/themes.md");
const SCHEMES = ["light", "dark"];
/** Minimum contrast of text, and of other visible shapes: borders, icons, focus rings. */
const TEXT = 4.5;
const SHAPE = 3;

/** The columns of the tables: the colour, its background, and the minimum ratio. */
const SHARED = {
  text: [
    "text",
    [
      "surface",
      "surface-raised",
      "surface-sunken",
      "bubble-assistant",
      "bubble-operator",
      "danger-soft",
      "warning-soft",
    ],
    TEXT,
  ],
  "muted text": [
    "text-muted",
    ["surface", "surface-raised", "surface-sunken", "surface-hover", "bubble-assistant"],
    TEXT,
  ],
  danger: ["danger", ["surface", "danger-soft"], TEXT],
  "warning icon": ["warning", ["warning-soft"], SHAPE],
  "border of a control": ["border-control", ["surface", "surface-raised"], SHAPE],
};
const THEMED = {
  "on accent": ["on-accent", ["accent", "accent-hover"], TEXT],
  "on soft": ["on-accent-soft", ["accent-soft"], TEXT],
  "on header": ["on-header", ["header-bg"], TEXT],
  "header, muted": ["on-header-muted", ["header-bg"], TEXT],
  "header, pressed": ["on-header", ["header-bg pressed"], SHAPE],
  "header, avatar": ["on-header-avatar", ["header-avatar"], SHAPE],
  "on visitor": ["on-visitor-bubble", ["visitor-bubble"], TEXT],
  link: ["link", ["surface", "surface-raised", "surface-hover", "bubble-assistant", "bubble-operator"], TEXT],
  "on badge": ["on-badge", ["badge"], TEXT],
  accent: ["accent", ["surface", "surface-raised"], SHAPE],
  outline: ["accent-line", ["surface"], SHAPE],
  focus: ["focus", ["surface", "surface-raised", "bubble-assistant", "bubble-operator"], SHAPE],
  "header, focus": ["focus-header", ["header-bg"], SHAPE],
  "header, online": ["online-dot-header", ["header-bg"], SHAPE],
  badge: ["badge", ["surface"], SHAPE],
};
/** Exempt colours: space, shape or text conveys the same information. */
const EXEMPT = ["hairline", "bubble-edge", "window-edge", "header-line"];
/** The opacity of the overlay on a pressed header button. */
const PRESSED = 0.2;

const read = (path) => readFileSync(join(root, path), "utf8");

/** The presets of `themes/`, the solid ones first. */
export const themes = readdirSync(join(root, "themes"))
  .map((file) => basename(file, ".css"))
  .sort((a, b) => a.startsWith("light_") - b.startsWith("light_") || (a < b ? -1 : 1));

/** Returns the colours of a style sheet by name: one side of each `light-dark()`. */
export function colours(css, scheme) {
  const found = new Map();
  for (const [, name, value] of css.matchAll(/--cw-([\w-]+):\s*([^;]+);/g)) {
    const sides = value.match(/^light-dark\((.+?\)?), ((?:#|rgb).+)\)$/)?.slice(1) ?? [value, value];
    const colour = sides[SCHEMES.indexOf(scheme)];
    if (/^(#|rgb)/.test(colour)) found.set(name, colour);
  }
  return found;
}

const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/** Returns the relative luminance of sRGB channels from 0 to 255. */
function luminance(rgb) {
  const [red, green, blue] = rgb.map((c) =>
    c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio of two colours, given as channels, from 1 to 21. */
export function ratio(one, other) {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** Returns the channels of a surface; a pressed one has an overlay of the colour `over`. */
function surface(set, name, over) {
  const [base, pressed] = name.split(" ");
  const below = channels(set.get(base));
  return pressed ? below.map((c, at) => c + (over[at] - c) * PRESSED) : below;
}

function measure(set, columns, where) {
  return Object.entries(columns).flatMap(([column, [paint, surfaces, least]]) => {
    const colour = channels(set.get(paint));
    return surfaces.map((on) => ({ where, column, paint, on, least, ratio: ratio(colour, surface(set, on, colour)) }));
  });
}

const tokens = (scheme) => colours(read("styles/tokens.css"), scheme);

/** Returns the pairs of one theme's style sheet, light and dark. */
export function pairsOf(css, name) {
  return SCHEMES.flatMap((scheme) =>
    measure(new Map([...tokens(scheme), ...colours(css, scheme)]), THEMED, `${name}, ${scheme}`),
  );
}

/** Returns all pairs: of the shared tokens, then of each theme. */
export function pairs() {
  const shared = SCHEMES.flatMap((scheme) => measure(tokens(scheme), SHARED, scheme));
  const themed = themes.flatMap((theme) => pairsOf(read(`themes/${theme}.css`), theme));
  return { shared, themed };
}

/** Returns the colours of the style sheets that no pair checks and no exemption lists. */
export function unmeasured() {
  const columns = Object.values({ ...SHARED, ...THEMED });
  const measured = columns.flatMap(([paint, surfaces]) => [paint, ...surfaces]);
  const known = new Set([...measured, ...EXEMPT]);
  const set = [
    ...tokens("light").keys(),
    ...themes.flatMap((theme) => [...colours(read(`themes/${theme}.css`), "light").keys()]),
  ];
  return [...new Set(set)].filter((name) => !known.has(name));
}

/** Rounds down, so that no ratio is rounded up to its minimum. */
const down = (ratio) => (Math.floor(ratio * 10) / 10).toFixed(1);

function table(measured, columns) {
  const names = Object.keys(columns);
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const worst = (where, column) =>
    down(
      Math.min(...measured.filter((pair) => pair.where === where && pair.column === column).map(({ ratio }) => ratio)),
    );
  const least = names.map((name) => columns[name][2].toFixed(1));
  return [
    row(["", ...names]),
    row(["---", ...names.map(() => "---")]),
    row(["at least", ...least]),
    ...[...new Set(measured.map(({ where }) => where))].map((where) =>
      row([where, ...names.map((name) => worst(where, name))]),
    ),
  ].join("\n");
}

/** Returns docs/themes.md with its tables replaced by the computed ones. */
export function page() {
  const { shared, themed } = pairs();
  const tables = { shared: table(shared, SHARED), themed: table(themed, THEMED) };
  return read("docs/themes.md").replace(
    /(<!-- (shared|themed) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin, name, end) => `${begin}${tables[name]}\n${end}`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, page());
  console.log(
    page()
      .match(/^\|.*$/gm)
      .join("\n"),
  );
}
