//! A theme from one brand colour: every colour that a file of `themes/` sets, for light and dark.
//! `www/derive.ts` does the same, and a test compares the results.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use super::colour::{Rgb, contrast, oklch, paint};

/// The brand colour of [`Theme::Custom`](crate::Theme::Custom), from which the theme's other colours are
/// derived.
///
/// ```
/// use chat_widget::{Accent, Theme};
///
/// let theme = Theme::Custom("#0a66c2".parse::<Accent>()?);
/// # Ok::<(), chat_widget::InvalidAccent>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accent(Rgb);

/// A text that is not a colour as `#rgb` or `#rrggbb`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidAccent(String);

impl Display for InvalidAccent {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "invalid accent: expected #rgb or #rrggbb, got {:?}", self.0)
    }
}

impl Error for InvalidAccent {}

impl FromStr for Accent {
    type Err = InvalidAccent;

    /// Reads `#rgb` or `#rrggbb`.
    fn from_str(text: &str) -> Result<Self, InvalidAccent> {
        let digits = || -> Option<Vec<u8>> {
            let digits = text.strip_prefix('#')?.chars();
            digits.map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect()
        };
        match digits().as_deref() {
            Some(&[r, g, b]) => Ok(Self([r, g, b].map(|digit| digit * 17))),
            Some(&[r, r1, g, g1, b, b1]) => Ok(Self([r * 16 + r1, g * 16 + g1, b * 16 + b1])),
            _ => Err(InvalidAccent(text.to_owned())),
        }
    }
}

/// A colour on the light side and on the dark side.
type Sides = [Rgb; 2];

/// The backgrounds of `styles/tokens.css` with the least contrast, for each side.
const PAGE: Rgb = WHITE;
const GROUND: Rgb = [0xf0, 0xf2, 0xf4];
const DARK_PAGE: Rgb = [0x1d, 0x20, 0x24];
const DARK_GROUND: Rgb = [0x26, 0x29, 0x2e];

const WHITE: Rgb = [255, 255, 255];
const BADGE: Rgb = [0xc9, 0x25, 0x2d];
/// Step of the lightness in the search for a colour.
const STEP: f64 = 0.004;
/// Maximum decrease of a brand's lightness for white text. A brand that needs more has dark text.
const MAX_SHIFT: f64 = 0.07;
/// Hues of the badge and of the online dot, in radians.
const RED: f64 = 0.44;
const GREEN: f64 = 2.65;

/// Returns the first colour from one lightness upwards or downwards that has this contrast; at the end, white
/// or black.
fn reach(mut from: f64, chroma: f64, step: f64, ratio: f64, ground: Rgb, hue: f64) -> Rgb {
    loop {
        let colour = paint(from, chroma, hue);
        if contrast(colour, ground) >= ratio || !(0.0..=1.0).contains(&from) {
            return colour;
        }
        from += step;
    }
}

impl Accent {
    /// Returns the theme as a style sheet: each colour as `light-dark(#light, #dark)`.
    pub(super) fn sheet(self) -> String {
        let declarations = self.colours().map(|(name, sides)| {
            let [light, dark] = sides.map(hex);
            ["--cw-", name, ":light-dark(", &light, ", ", &dark, ")"].concat()
        });
        [":host{", &declarations.join(";"), "}"].concat()
    }

    /// Returns the colours by the names of their tokens. The hue of the accent is kept, and its lightness as
    /// far as the contrast allows.
    fn colours(self) -> [(&'static str, Sides); 21] {
        let brand = self.0;
        let (lightness, chroma, hue) = oklch(brand);
        let reach_with =
            |from, strength, step, ratio, ground| reach(from, strength, step, ratio, ground, hue);
        // Keeps a colour that has this contrast, else takes the nearest one of its hue.
        let keep = |colour: Rgb, step: f64, ratio: f64, ground: Rgb| {
            if contrast(colour, ground) < ratio {
                reach(oklch(colour).0, chroma, step, ratio, ground, hue)
            } else {
                colour
            }
        };
        let shift = |colour: Rgb, by: f64| paint(oklch(colour).0 + by, chroma, hue);
        // A tint of the brand. Of a grey, it is a grey.
        let tint = |at: f64, most: f64| paint(at, most.min(chroma * 0.37), hue);

        let faint = chroma.min(0.03);
        let solid = keep(brand, -STEP, 4.5, WHITE);
        let is_bright = lightness - oklch(solid).0 > MAX_SHIFT;
        let light = if is_bright { brand } else { solid };
        let lit = if is_bright { brand } else { keep(solid, STEP, 3.45, DARK_PAGE) };
        // A grey button looks disabled: black turns to white at night.
        let is_inverted = chroma < 0.03 && oklch(lit).0 - lightness > 0.2;
        let dark = if is_inverted { paint(0.94, chroma, hue) } else { lit };
        // Black cannot become darker.
        let hover = if lightness < 0.25 {
            paint(0.32, chroma, hue)
        } else {
            shift(light, if is_bright { -0.045 } else { -0.067 })
        };
        let text = if is_bright { reach_with(0.25, faint, -STEP, 5.0, hover) } else { WHITE };

        let soft = [tint(0.963, 0.02), tint(0.275, 0.035)];
        let edge = [
            reach_with(0.9, chroma * 0.85, -STEP, 3.3, PAGE),
            reach_with(0.3, chroma * 0.7, STEP, 3.5, DARK_PAGE),
        ];
        let link = keep(light, -STEP, 4.6, GROUND);
        // A bright header would glare at night: it is dark there, and the accent glows on it.
        let header = if is_bright {
            tint(0.255, 0.03)
        } else {
            reach_with(0.6, chroma * 0.62, -STEP, if chroma < 0.06 { 12.0 } else { 9.2 }, WHITE)
        };
        // A red badge is not visible on red.
        let is_reddish = chroma > 0.05 && (hue - RED).cos() > 0.6;
        // A bright accent keeps the brand on the dark side; others get this colour.
        let or_brand = |colour: Rgb| if is_bright { brand } else { colour };

        [
            ("accent", [light, dark]),
            ("accent-hover", [hover, if is_bright { hover } else { shift(dark, -0.04) }]),
            ("on-accent", [text, if is_inverted { paint(0.2, chroma, hue) } else { text }]),
            ("accent-soft", soft),
            ("on-accent-soft", [reach_with(0.5, chroma, -STEP, 8.0, soft[0]), tint(0.9, 0.05)]),
            ("accent-line", edge),
            ("accent-edge", [if contrast(light, PAGE) < 3.0 { edge[0] } else { light }, dark]),
            ("header-bg", [light, header]),
            (
                "header-line",
                if is_bright { [shift(light, -0.07), tint(0.32, 0.035)] } else { [light, header] },
            ),
            ("on-header", [text, if is_bright { tint(0.95, 0.02) } else { WHITE }]),
            (
                "on-header-muted",
                [
                    if is_bright {
                        reach_with(0.5, faint, -STEP, 4.7, light)
                    } else {
                        reach_with(0.78, faint, STEP, 4.7, light)
                    },
                    reach_with(0.65, faint, STEP, 6.0, header),
                ],
            ),
            ("focus-header", [text, or_brand(WHITE)]),
            ("header-avatar", [text, or_brand(tint(0.92, 0.03))]),
            ("on-header-avatar", [light, if is_bright { text } else { tint(0.3, 0.06) }]),
            (
                "visitor-bubble",
                [keep(light, -STEP, 1.25, PAGE), or_brand(reach_with(0.6, chroma * 0.85, -STEP, 6.2, WHITE))],
            ),
            ("on-visitor-bubble", [text, text]),
            (
                "link",
                [
                    link,
                    if is_bright {
                        keep(brand, STEP, 4.6, DARK_GROUND)
                    } else {
                        reach_with(0.6, chroma * 0.6, STEP, 6.8, DARK_GROUND)
                    },
                ],
            ),
            ("focus", [link, or_brand(reach_with(0.6, chroma * 0.68, STEP, 6.2, DARK_GROUND))]),
            (
                "online-dot-header",
                [
                    if is_bright { reach(0.6, 0.17, -STEP, 3.3, light, GREEN) } else { [0x7b, 0xfe, 0xa5] },
                    [0x6a, 0xf9, 0x9b],
                ],
            ),
            ("badge", if is_reddish { [[0x24, 0x28, 0x2e], [0xf1, 0xf3, 0xf5]] } else { [BADGE, BADGE] }),
            ("on-badge", [WHITE, if is_reddish { [0x1a, 0x1d, 0x21] } else { WHITE }]),
        ]
    }
}

/// Returns a colour as `#rrggbb`.
fn hex(colour: Rgb) -> String {
    let mut text = "#".to_owned();
    for channel in colour {
        for digit in [channel / 16, channel % 16] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_three_or_six_digits_and_refuses_everything_else() {
        assert_eq!("#0a6".parse(), Ok(Accent([0x00, 0xaa, 0x66])));
        assert_eq!("#0A66c2".parse(), Ok(Accent([0x0a, 0x66, 0xc2])));
        for text in ["", "#", "0a6", "#0a6c", "#0g6", "#é0", "red"] {
            assert_eq!(text.parse::<Accent>(), Err(InvalidAccent(text.to_owned())));
        }
        let error = InvalidAccent("red".to_owned()).to_string();
        assert_eq!(error, r#"invalid accent: expected #rgb or #rrggbb, got "red""#);
    }

    #[test]
    fn derives_the_colours_that_the_script_tag_derives() {
        // Each line has an accent and the result of `www/derive.ts`, which tests/unit/settings.test.mjs
        // compares.
        let derived = include_str!("../../tests/unit/derived-themes.txt");
        let mut count = 0;
        for line in derived.lines() {
            let (accent, sheet) = line.split_once(' ').expect("an accent and a sheet");
            assert_eq!(accent.parse::<Accent>().expect("a colour").sheet(), sheet, "{accent}");
            count += 1;
        }
        assert!(count >= 10, "{count} accents");
    }
}
