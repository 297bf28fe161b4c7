// Colours by lightness, chroma and hue in OKLCH (https://bottosson.github.io/posts/oklab), and their contrast.

const TO_CONES = [
  [0.412221, 0.536333, 0.051446],
  [0.211903, 0.6807, 0.107397],
  [0.088302, 0.281719, 0.629979],
];
const TO_LAB = [
  [0.210454, 0.793618, -0.004072],
  [1.977998, -2.428592, 0.450594],
  [0.025904, 0.782772, -0.808676],
];
const FROM_LAB = [
  [1, 0.396338, 0.215804],
  [1, -0.105561, -0.063854],
  [1, -0.089484, -1.291486],
];
const FROM_CONES = [
  [4.076742, -3.307712, 0.23097],
  [-1.268438, 2.609757, -0.341319],
  [-0.004196, -0.703419, 1.707615],
];

/** The step by which the chroma of a colour outside of sRGB is reduced. */
const CHROMA_STEP = 0.002;
/** Maximum distance of a clipped channel from sRGB, which is less than the rounding. */
const CLIPPED = 0.001;

/** Multiplies a matrix by a vector. */
function times(rows: number[][], [a, b, c]: number[]): number[] {
  return rows.map(([x, y, z]) => x! * a! + y! * b! + z! * c!);
}

/** Returns the channels of `#rrggbb` in linear light, from 0 to 1. */
function linear(hex: string): number[] {
  return [1, 3, 5].map((at) => {
    const channel = parseInt(hex.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
}

/** Returns lightness from 0 to 1, chroma, and hue in radians. */
export function oklch(hex: string): [lightness: number, chroma: number, hue: number] {
  const [lightness, a, b] = times(TO_LAB, times(TO_CONES, linear(hex)).map(Math.cbrt));
  return [lightness!, Math.hypot(a!, b!), Math.atan2(b!, a!)];
}

/** Returns the colour as `#rrggbb`, with as much of the chroma as sRGB has at this lightness and hue. */
export function paint(lightness: number, chroma: number, hue: number): string {
  const lab = [lightness, chroma * Math.cos(hue), chroma * Math.sin(hue)];
  const channels = times(
    FROM_CONES,
    times(FROM_LAB, lab).map((cone) => cone ** 3),
  );
  if (chroma > 0 && channels.some((channel) => channel < -CLIPPED || channel > 1 + CLIPPED)) {
    return paint(lightness, Math.max(chroma - CHROMA_STEP, 0), hue);
  }
  const digits = channels.map((channel) => {
    const clipped = Math.min(Math.max(channel, 0), 1);
    const encoded = clipped <= 0.003131 ? clipped * 12.92 : 1.055 * clipped ** (1 / 2.4) - 0.055;
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, "0");
  });
  return `#${digits.join("")}`;
}

/** Returns the contrast ratio of two colours by WCAG 2.2, from 1 to 21. */
export function contrast(one: string, other: string): number {
  const luminance = (hex: string) => times([[0.2126, 0.7152, 0.0722]], linear(hex))[0]! + 0.05;
  const ratio = luminance(one) / luminance(other);
  return Math.max(ratio, 1 / ratio);
}
