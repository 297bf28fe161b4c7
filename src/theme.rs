//! The themes as style sheets of tokens: the presets, and themes that are derived from a brand colour.

mod accent;
mod colour;

use std::borrow::Cow;

pub use accent::{Accent, InvalidAccent};

/// A preset of `themes/`, or a theme of the site's own colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Theme {
    /// Teal, which is the default.
    #[default]
    Teal,
    /// Blue.
    Blue,
    /// Emerald.
    Emerald,
    /// Violet.
    Violet,
    /// Amber, in a copper tone.
    Amber,
    /// Rose.
    Rose,
    /// Slate.
    Slate,
    /// Teal on a light header.
    LightTeal,
    /// Blue on a light header.
    LightBlue,
    /// Amber on a light header.
    LightAmber,
    /// Rose on a light header.
    LightRose,
    /// A theme that is derived from this colour, light and dark.
    Custom(Accent),
}

impl Theme {
    /// Returns the style sheet: the theme's colours as custom properties of the host.
    pub fn sheet(self) -> Cow<'static, str> {
        let preset = match self {
            Self::Custom(accent) => return accent.sheet().into(),
            Self::Teal => include_str!("../themes/teal.css"),
            Self::Blue => include_str!("../themes/blue.css"),
            Self::Emerald => include_str!("../themes/emerald.css"),
            Self::Violet => include_str!("../themes/violet.css"),
            Self::Amber => include_str!("../themes/amber.css"),
            Self::Rose => include_str!("../themes/rose.css"),
            Self::Slate => include_str!("../themes/slate.css"),
            Self::LightTeal => include_str!("../themes/light_teal.css"),
            Self::LightBlue => include_str!("../themes/light_blue.css"),
            Self::LightAmber => include_str!("../themes/light_amber.css"),
            Self::LightRose => include_str!("../themes/light_rose.css"),
        };
        preset.into()
    }
}
