//! Choices: options that are one of a few words, each as a type. The words are those in JavaScript.

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

pub(crate) use choice;

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
