// A theme from one brand colour: every colour that a file of `themes/` sets, for light and dark. It is loaded by pages
// that give an accent of their own, and where the file of a theme is missing. Lightness, share of chroma and contrast of
// each colour are those of the presets.

import { contrast, oklch, paint } from "./colour.js";

/** A colour on the light side and on the dark side. */
type Sides = [light: string, dark: string];

/** The backgrounds of `styles/tokens.css` with the least contrast, light and dark. */
const PAGE = "#ffffff";
const GROUND = "#f0f2f4";
const DARK_PAGE = "#1d2024";
const DARK_GROUND = "#26292e";

const WHITE = "#ffffff";
/** The step of lightness between tried colours. */
const STEP = 0.004;
/** Maximum reduction of a brand's lightness for white text. A brand that needs more gets dark text. */
const MAX_SHIFT = 0.07;
/** The accent of the default theme. */
const DEFAULT_ACCENT = "#097477";
/** The hues of the badge and of the presence dot, in radians. */
const RED = 0.44;
const GREEN = 2.65;

/**
 * Returns the colours of a theme by the names of their tokens without `--cw-`, each as `light-dark(#light, #dark)`.
 *
 * `accent` is `#rgb` or `#rrggbb`; anything else throws a `TypeError`. Its hue is kept, and its lightness as far as the
 * contrast allows. `accent-edge` is a line around buttons, which only a very bright accent needs on a white page: it is
 * the accent itself elsewhere.
 */
export function derive(accent: string): Record<string, string> {
  if (typeof accent !== "string" || !/^#([\da-f]{3}){1,2}$/i.test(accent)) {
    throw new TypeError(
      `chat widget: invalid accent: expected a colour such as "#097477", got ${JSON.stringify(accent)}`,
    );
  }
  const brand = (accent.length < 5 ? accent.replace(/\w/g, "$&$&") : accent).toLowerCase();
  const [lightness, chroma, hue] = oklch(brand);

  /** Returns the first colour with this contrast from a lightness upwards or downwards, or else white or black. */
  const reach = (from: number, strength: number, step: number, ratio: number, ground: string, tone = hue): string => {
    const colour = paint(from, strength, tone);
    if (contrast(colour, ground) >= ratio || from < 0 || from > 1) return colour;
    return reach(from + step, strength, step, ratio, ground, tone);
  };
  /** Returns a colour if it has this contrast, else the nearest one of its hue that has. */
  const keep = (colour: string, step: number, ratio: number, ground: string): string =>
    contrast(colour, ground) < ratio ? reach(oklch(colour)[0], chroma, step, ratio, ground) : colour;
  const shift = (colour: string, by: number): string => paint(oklch(colour)[0] + by, chroma, hue);
  /** Returns a tint of the brand. The tint of a grey is grey. */
  const tint = (at: number, most: number): string => paint(at, Math.min(most, chroma * 0.37), hue);

  const faint = Math.min(0.03, chroma);
  const solid = keep(brand, -STEP, 4.5, WHITE);
  const isBright = lightness - oklch(solid)[0] > MAX_SHIFT;
  const light = isBright ? brand : solid;
  const lit = isBright ? brand : keep(solid, STEP, 3.45, DARK_PAGE);
  // A grey button looks disabled, so black becomes white in the dark scheme.
  const isInverted = chroma < 0.03 && oklch(lit)[0] - lightness > 0.2;
  const dark = isInverted ? paint(0.94, chroma, hue) : lit;
  // Black has no darker shade.
  const hover = lightness < 0.25 ? paint(0.32, chroma, hue) : shift(light, isBright ? -0.045 : -0.067);
  const ink = isBright ? reach(0.25, faint, -STEP, 5, hover) : WHITE;

  const soft: Sides = [tint(0.963, 0.02), tint(0.275, 0.035)];
  const line: Sides = [reach(0.9, chroma * 0.85, -STEP, 3.3, PAGE), reach(0.3, chroma * 0.7, STEP, 3.5, DARK_PAGE)];
  const link = keep(light, -STEP, 4.6, GROUND);
  // A bright header would be glaring in the dark scheme, so it is dark there, with the accent on it.
  const header = isBright ? tint(0.255, 0.03) : reach(0.6, chroma * 0.62, -STEP, chroma < 0.06 ? 12 : 9.2, WHITE);
  // A red badge would be invisible on red.
  const isReddish = chroma > 0.05 && Math.cos(hue - RED) > 0.6;

  const colours: Record<string, Sides> = {
    accent: [light, dark],
    "accent-hover": [hover, isBright ? hover : shift(dark, -0.04)],
    "on-accent": [ink, isInverted ? paint(0.2, chroma, hue) : ink],
    "accent-soft": soft,
    "on-accent-soft": [reach(0.5, chroma, -STEP, 8, soft[0]), tint(0.9, 0.05)],
    "accent-line": line,
    "accent-edge": [contrast(light, PAGE) < 3 ? line[0] : light, dark],
    "header-bg": [light, header],
    "header-line": isBright ? [shift(light, -0.07), tint(0.32, 0.035)] : [light, header],
    "on-header": [ink, isBright ? tint(0.95, 0.02) : WHITE],
    "on-header-muted": [
      isBright ? reach(0.5, faint, -STEP, 4.7, light) : reach(0.78, faint, STEP, 4.7, light),
      reach(0.65, faint, STEP, 6, header),
    ],
    "focus-header": [ink, isBright ? brand : WHITE],
    "header-avatar": [ink, isBright ? brand : tint(0.92, 0.03)],
    "on-header-avatar": [light, isBright ? ink : tint(0.3, 0.06)],
    "visitor-bubble": [keep(light, -STEP, 1.25, PAGE), isBright ? brand : reach(0.6, chroma * 0.85, -STEP, 6.2, WHITE)],
    "on-visitor-bubble": [ink, ink],
    link: [link, isBright ? keep(brand, STEP, 4.6, DARK_GROUND) : reach(0.6, chroma * 0.6, STEP, 6.8, DARK_GROUND)],
    focus: [link, isBright ? brand : reach(0.6, chroma * 0.68, STEP, 6.2, DARK_GROUND)],
    "online-dot-header": [isBright ? reach(0.6, 0.17, -STEP, 3.3, light, GREEN) : "#7bfea5", "#6af99b"],
    badge: isReddish ? ["#24282e", "#f1f3f5"] : ["#c9252d", "#c9252d"],
    "on-badge": [WHITE, isReddish ? "#1a1d21" : WHITE],
  };
  return Object.fromEntries(
    Object.entries(colours).map(([name, [light, dark]]) => [name, `light-dark(${light}, ${dark})`]),
  );
}

/** Returns the theme of an accent as a style sheet; without an accent, the default theme. */
export default function sheetOf(accent = DEFAULT_ACCENT): string {
  return `:host{${Object.entries(derive(accent))
    .map(([name, value]) => `--cw-${name}:${value}`)
    .join(";")}}`;
}
