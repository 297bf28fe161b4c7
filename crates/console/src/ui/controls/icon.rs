//! Icons: lines of 1.5 px in a box of 20 px, in the colour of the text.

use leptos::prelude::*;

/// An icon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icon {
    /// Conversations.
    Inbox,
    /// Figures.
    Chart,
    /// Published pages.
    Publish,
    /// Settings.
    Settings,
    /// A person.
    Person,
    /// Several people.
    People,
    /// The AI.
    Sparkle,
    /// A search.
    Search,
    /// Filters.
    Filter,
    /// Back.
    Back,
    /// Further actions.
    More,
    /// Closes something.
    Close,
    /// Sends.
    Send,
    /// Done.
    Check,
    /// Done, and seen.
    CheckTwice,
    /// A note for colleagues.
    Note,
    /// Emoji.
    Smile,
    /// Prepared texts.
    Bolt,
    /// Shows the result.
    Eye,
    /// A label.
    Label,
    /// A time.
    Clock,
    /// Blocks.
    Block,
    /// Copies.
    Copy,
    /// Removes.
    Trash,
    /// Changes.
    Edit,
    /// Something is wrong.
    Alert,
    /// Signs out.
    Exit,
    /// Downloads.
    Download,
    /// The newest message.
    ArrowDown,
    /// Back to what was.
    Undo,
    /// A keyboard.
    Keyboard,
}

impl Icon {
    fn path(self) -> &'static str {
        match self {
            Self::Inbox => {
                "M3 11l2.2-6.2A1.5 1.5 0 0 1 6.600 4h6.800a1.500 1.500 0 0 1 1.400.8L17 11v3.500a1.500 1.500 0 0 1-1.500 1.500h-11A1.500 1.500 0 0 1 3 14.500V11h4l1 2h4l1-2h4"
            }
            Self::Chart => "M3.500 16.500h13M5.500 13.500v-3M10 13.500v-9M14.500 13.500v-6",
            Self::Publish => {
                "M10 12.500v-9M6.500 6.500 10 3l3.500 3.500M4 12v3.500A1.500 1.500 0 0 0 5.500 17h9a1.500 1.500 0 0 0 1.500-1.500V12"
            }
            Self::Settings => "M3 6h7M14 6h3M12 4v4M3 14h3M10 14h7M8 12v4",
            Self::Person => "M10 10a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM4.500 16.500a5.500 5.500 0 0 1 11 0",
            Self::People => {
                "M7.500 9.500a2.800 2.800 0 1 0 0-5.500 2.800 2.800 0 0 0 0 5.500ZM2.500 16a5 5 0 0 1 10 0M13 4.200a2.800 2.800 0 0 1 0 5.200M14.500 11.500a5 5 0 0 1 3 4.500"
            }
            Self::Sparkle => {
                "M9 3.500 10.500 8 15 9.500 10.500 11 9 15.500 7.500 11 3 9.500 7.500 8ZM15.500 13l.700 1.800 1.800.7-1.800.7-.700 1.800-.700-1.800-1.800-.7 1.800-.7Z"
            }
            Self::Search => "M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11ZM13 13l4 4",
            Self::Filter => "M3 5h14M6 10h8M8.500 15h3",
            Self::Back => "M12.500 4.500 7 10l5.500 5.500",
            Self::More => "M4.500 10h.01M10 10h.01M15.500 10h.01",
            Self::Close => "M5 5l10 10M15 5 5 15",
            Self::Send => "M10 16V4.500M5 9l5-5 5 5",
            Self::Check => "M4 10.500 8 14.500 16 6",
            Self::CheckTwice => "M1.500 10.500 5 14.500 12.500 6M9.500 13l1.500 1.500L18.500 6",
            Self::Note => "M4 3.500h12v9L12.500 16.500H4ZM16 12.500h-3.500v4M7 7.500h6M7 10.500h3",
            Self::Smile => {
                "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM7 11.500a3.500 3.500 0 0 0 6 0M7.500 8h.01M12.500 8h.01"
            }
            Self::Bolt => "M11 3 4.500 11.500H10L9 17l6.500-8.500H10Z",
            Self::Eye => {
                "M2.500 10S5 5 10 5s7.500 5 7.500 5-2.500 5-7.500 5-7.500-5-7.500-5ZM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z"
            }
            Self::Label => "M3.500 9.500v-6h6l7 7-6 6ZM6.500 6.500h.01",
            Self::Clock => "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM10 6v4l2.500 1.500",
            Self::Block => "M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM5 5l10 10",
            Self::Copy => "M7 7V3.500h9.500V13H13M3.500 7H13v9.500H3.500Z",
            Self::Trash => {
                "M3.500 5.500h13M8 5V3.500h4V5M5 5.500l.700 11h8.600l.700-11M8.500 8.500v5M11.500 8.500v5"
            }
            Self::Edit => "M3.500 16.500V13l9-9 3.500 3.500-9 9ZM10.500 6l3.500 3.500",
            Self::Alert => "M10 3 2.500 16.500h15ZM10 8v4M10 14.200h.01",
            Self::Exit => "M8 3.500H4v13h4M12.500 6.500 16 10l-3.500 3.500M16 10H8",
            Self::Download => "M10 3.500v9M6.500 9l3.500 3.500L13.500 9M4 16.500h12",
            Self::ArrowDown => "M10 4v12M5 11l5 5 5-5",
            Self::Undo => "M7.500 4 3.500 8l4 4M3.500 8H12a4.500 4.500 0 0 1 0 9H9",
            Self::Keyboard => {
                "M2.500 5.500h15v9h-15ZM5.500 8.500h.01M8.500 8.500h.01M11.500 8.500h.01M14.500 8.500h.01M6.500 11.500h7"
            }
        }
    }

    /// Returns whether the icon points in the reading direction.
    fn is_directed(self) -> bool {
        matches!(self, Self::Back | Self::Exit | Self::Undo)
    }
}

/// Draws an icon, which screen readers skip.
pub fn icon(icon: Icon) -> impl IntoView {
    view! {
        <svg class="icon" class:directed=icon.is_directed() viewBox="0 0 20 20" aria-hidden="true">
            <path d=icon.path() />
        </svg>
    }
}
