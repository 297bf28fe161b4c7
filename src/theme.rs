//! The presets, as style sheets of tokens.

/// A preset of `themes/`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// Copper, which stands for amber.
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
}

impl Theme {
    /// The preset's style sheet: its colours as custom properties of the host.
    pub const fn sheet(self) -> &'static str {
        match self {
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
        }
    }
}
