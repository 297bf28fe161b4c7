//! Options that are one of a few words, each as a type. The words are those of the JavaScript options.

/// Declares an enum, and the word of each variant. The first variant is the default.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl $name {
            /// Every variant, in the order of [`Self::WORDS`].
            pub(crate) const ALL: &'static [Self] = &[$(Self::$variant),+];
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            /// Returns the word that the JavaScript options and the widget's elements use.
            pub fn as_str(self) -> &'static str {
                Self::WORDS[self as usize]
            }
        }
    };
}

choice! {
    /// The side of the page at which the launcher floats, in the direction of reading.
    Position {
        /// On the right where text runs from left to right.
        #[default]
        End = "end",
        /// On the left where text runs from left to right.
        Start = "start",
    }
}

choice! {
    /// Whether the widget is light or dark.
    ColorScheme {
        /// The theme's own scheme.
        #[default]
        Theme = "theme",
        /// The scheme of the visitor's system.
        Auto = "auto",
        /// Light.
        Light = "light",
        /// Dark.
        Dark = "dark",
    }
}

choice! {
    /// The visitor events that are reported (2.7). Global Privacy Control turns all of them off.
    EventMode {
        /// Page views, opening and closing, clicks on `data-chat-cta`, and events that the application
        /// tracks.
        #[default]
        Auto = "auto",
        /// Events that the application tracks.
        Manual = "manual",
        /// No events.
        Off = "off",
    }
}

choice! {
    /// The direction in which the texts of the interface are written.
    Direction {
        /// From left to right.
        #[default]
        LeftToRight = "ltr",
        /// From right to left.
        RightToLeft = "rtl",
    }
}
