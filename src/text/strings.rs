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
    NamedHere = "namedHere": "{name} is here";
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
    CharactersLeft = "charactersLeft": "{count} character left|{count} characters left";
    TooLong = "tooLong": "{count} character too many|{count} characters too many";
    Offline = "offline": "You are offline. What you write waits here and is sent when you are back.";
    QuotaTitle = "quotaTitle": "The chat is resting";
    QuotaNote = "quotaNote": "It cannot answer right now. Please come back later.";
    BlockedTitle = "blockedTitle": "This conversation is closed";
    BlockedNote = "blockedNote": "No more messages can be sent here.";
    NoReply = "noReply": "No answer came.";
    AskAgain = "askAgain": "Ask again";
    Copy = "copy": "Copy";
    Copied = "copied": "Copied";
    LatestMessages = "latestMessages": "Go to the latest message";
    NewMessages = "newMessages": "{count} new message|{count} new messages";
    UnreadFrom = "unreadFrom": "Unread from here";
    Dismiss = "dismiss": "Dismiss";
    Menu = "menu": "More";
    Back = "back": "Back";
    SoundOn = "soundOn": "Turn sound on";
    SoundOff = "soundOff": "Turn sound off";
    MyData = "myData": "My data";
    DataNone = "dataNone": "Nothing is stored on this device yet.";
    DataId = "dataId": "A random number by which this site knows this browser again";
    DataMessages = "dataMessages": "{count} message of this conversation|{count} messages of this conversation";
    DataNote = "dataNote": "The company has its own copy of the conversation. Forgetting it here does not erase that one.";
    Download = "download": "Download the conversation";
    Forget = "forget": "Forget me on this device";
    ForgetAsk = "forgetAsk": "Forget this conversation on this device?";
    ForgetYes = "forgetYes": "Forget";
    ForgetNo = "forgetNo": "Keep";
    ContactTitle = "contactTitle": "How can we reach you?";
    ContactNote = "contactNote": "Leave an e-mail address or a phone number, so that a person can get back to you.";
    ContactName = "contactName": "Name";
    ContactEmail = "contactEmail": "E-mail";
    ContactPhone = "contactPhone": "Phone";
    ContactNeeded = "contactNeeded": "Please give an e-mail address or a phone number.";
    EmailWrong = "emailWrong": "Please check the e-mail address. It looks like name@example.com.";
    PhoneWrong = "phoneWrong": "Please check the phone number.";
    ContactSend = "contactSend": "Leave my details";
    ContactThanks = "contactThanks": "Thank you. Your details have been passed on.";
    NotNow = "notNow": "Not now";
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
