//! Colours by lightness, chroma and hue in OKLCH (<https://bottosson.github.io/posts/oklab>), and their
//! contrast. The same as `www/colour.ts`.

#![expect(clippy::unreadable_literal, reason = "coefficients as they are published")]

/// A colour of sRGB: red, green and blue.
pub(super) type Rgb = [u8; 3];
type Vector = [f64; 3];
type Matrix = [Vector; 3];

const TO_CONES: Matrix =
    [[0.412221, 0.536333, 0.051446], [0.211903, 0.6807, 0.107397], [0.088302, 0.281719, 0.629979]];
const TO_LAB: Matrix =
    [[0.210454, 0.793618, -0.004072], [1.977998, -2.428592, 0.450594], [0.025904, 0.782772, -0.808676]];
const FROM_LAB: Matrix =
    [[1.0, 0.396338, 0.215804], [1.0, -0.105561, -0.063854], [1.0, -0.089484, -1.291486]];
const FROM_CONES: Matrix =
    [[4.076742, -3.307712, 0.23097], [-1.268438, 2.609757, -0.341319], [-0.004196, -0.703419, 1.707615]];
const LUMINANCE: Vector = [0.2126, 0.7152, 0.0722];

/// Step by which the chroma of a colour outside of sRGB is lowered.
const CHROMA_STEP: f64 = 0.002;
/// Maximum excess of a channel that is clipped rather than lowering the chroma. It is less than the rounding.
const MAX_CLIPPED: f64 = 0.001;

fn dot(row: Vector, vector: Vector) -> f64 {
    row[0] * vector[0] + row[1] * vector[1] + row[2] * vector[2]
}

fn times(matrix: Matrix, vector: Vector) -> Vector {
    matrix.map(|row| dot(row, vector))
}

/// Returns the channels in linear light, from 0 to 1.
fn linear(colour: Rgb) -> Vector {
    colour.map(|channel| {
        let channel = f64::from(channel) / 255.0;
        if channel <= 0.04045 { channel / 12.92 } else { ((channel + 0.055) / 1.055).powf(2.4) }
    })
}

/// Returns lightness from 0 to 1, chroma, and hue in radians.
pub(super) fn oklch(colour: Rgb) -> (f64, f64, f64) {
    let [lightness, a, b] = times(TO_LAB, times(TO_CONES, linear(colour)).map(f64::cbrt));
    (lightness, a.hypot(b), b.atan2(a))
}

/// Returns the colour with the largest chroma up to this one that sRGB has at this lightness and hue
/// (radians).
pub(super) fn paint(lightness: f64, mut chroma: f64, hue: f64) -> Rgb {
    loop {
        let lab = [lightness, chroma * hue.cos(), chroma * hue.sin()];
        let channels = times(FROM_CONES, times(FROM_LAB, lab).map(|cone| cone * cone * cone));
        if chroma <= 0.0
            || channels.iter().all(|channel| (-MAX_CLIPPED..=1.0 + MAX_CLIPPED).contains(channel))
        {
            return channels.map(encode);
        }
        chroma = (chroma - CHROMA_STEP).max(0.0);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 255")]
fn encode(channel: f64) -> u8 {
    let clipped = channel.clamp(0.0, 1.0);
    let encoded = if clipped <= 0.003131 { clipped * 12.92 } else { 1.055 * clipped.powf(1.0 / 2.4) - 0.055 };
    (encoded * 255.0).round() as u8
}

/// Returns the contrast ratio of two colours by WCAG 2.2, from 1 to 21.
pub(super) fn contrast(one: Rgb, other: Rgb) -> f64 {
    let luminance = |colour| dot(LUMINANCE, linear(colour)) + 0.05;
    let ratio = luminance(one) / luminance(other);
    ratio.max(1.0 / ratio)
}
