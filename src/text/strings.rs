//! The texts of the interface, in English; a page may replace any of them.

/// A text of the interface.
macro_rules! texts {
    ($($name:ident = $key:literal : $english:literal;)*) => {
        /// Names a text of the interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Text {
            $(#[doc = $english] $name,)*
        }

        impl Text {
            /// The name by which a page replaces it.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$name => $key,)*
                }
            }

            /// The text in English.
            pub const fn english(self) -> &'static str {
                match self {
                    $(Self::$name => $english,)*
                }
            }
        }
    };
}

texts! {
    OpenChat = "openChat": "Open chat";
    OpenChatUnread = "openChatUnread": "Open chat, {count} unread";
    CloseChat = "closeChat": "Close chat";
    Assistant = "assistant": "Assistant";
    Support = "support": "Support";
    Ai = "ai": "AI";
    You = "you": "You";
    Messages = "messages": "Messages";
    Write = "write": "Write a message";
    Send = "send": "Send";
    PersonHere = "personHere": "A person is here";
    AnsweredByAi = "answeredByAi": "Answers by AI";
    IsWriting = "isWriting": "is writing";
    Delivered = "delivered": "Delivered";
    Sending = "sending": "Sending";
    Waiting = "waiting": "Waiting to send";
    NotSent = "notSent": "Not sent";
    TryAgain = "tryAgain": "Try again";
    Today = "today": "Today";
    Yesterday = "yesterday": "Yesterday";
    IntroTitle = "introTitle": "What would you like to know?";
    IntroNote = "introNote": "Answers are written by AI and can be wrong. You can ask for a person at any time.";
    SuggestedQuestions = "suggestedQuestions": "Suggested questions";
    CharactersLeft = "charactersLeft": "{count} characters left";
    TooLong = "tooLong": "{count} characters too many";
    Offline = "offline": "You are offline. What you write waits here and is sent when you are back.";
    QuotaTitle = "quotaTitle": "The chat is resting";
    QuotaNote = "quotaNote": "It cannot answer right now. Please come back later.";
    BlockedTitle = "blockedTitle": "This conversation is closed";
    BlockedNote = "blockedNote": "No more messages can be sent here.";
    NoReply = "noReply": "No answer came.";
    AskAgain = "askAgain": "Ask again";
    LatestMessages = "latestMessages": "Go to the latest message";
}

/// The texts of one widget: those that the page gave, else English.
#[derive(Clone, Debug, Default)]
pub struct Strings {
    given: Vec<(String, String)>,
}

impl Strings {
    /// Texts that replace others, by their names.
    pub fn new(given: Vec<(String, String)>) -> Self {
        Self { given }
    }

    /// The text to show.
    pub fn get(&self, text: Text) -> String {
        let given = self.given.iter().find(|(key, _)| key == text.key());
        given.map_or_else(|| text.english().to_owned(), |(_, given)| given.clone())
    }

    /// The text to show, with a number in it.
    pub fn count(&self, text: Text, count: usize) -> String {
        // The browser's own `replace`: Rust's search for a substring would weigh 3 KB.
        js_sys::JsString::from(self.get(text)).replace("{count}", &count.to_string()).into()
    }
}
