//! The texts of the interface, in English. Each other language is a file in `locales/`, which the entry
//! loads. A page may replace every text.

use chat_protocol::decimal;
use js_sys::JsString;

use super::intl::Intl;
use super::take;

/// Declares the texts of the interface: name in Rust, name in the options, English.
macro_rules! texts {
    ($($name:ident = $key:literal : $english:literal;)*) => {
        /// A text of the interface.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Text {
            $(#[doc = $english] $name,)*
        }

        /// A line for each text. Separate texts would add the size of their addresses.
        const TABLE: &str = concat!($($key, "=", $english, "\n"),*);
    };
}

impl Text {
    /// Returns the text's name in the options, and the English text; plural forms are separated as
    /// `one|other`.
    fn entry(self) -> (&'static str, &'static str) {
        let mut rest = TABLE;
        for _ in 0..self as usize {
            take(&mut rest, b'\n');
        }
        let mut line = take(&mut rest, b'\n');
        (take(&mut line, b'='), line)
    }
}

texts! {
    OpenChat = "openChat": "Open chat";
    OpenChatUnread = "openChatUnread": "Open chat, {count} unread";
    OpenChatFailed = "openChatFailed": "Open chat, a message was not sent";
    CloseChat = "closeChat": "Close chat";
    Assistant = "assistant": "Assistant";
    Support = "support": "Support";
    Ai = "ai": "AI";
    You = "you": "You";
    Messages = "messages": "Messages";
    Write = "write": "Write a message";
    Send = "send": "Send";
    PersonHere = "personHere": "A person is online";
    NamedHere = "namedHere": "{name} is online";
    PersonReplied = "personReplied": "A person replied";
    NamedReplied = "namedReplied": "{name} replied";
    PersonJoined = "personJoined": "A person joined";
    NamedJoined = "namedJoined": "{name} joined";
    AwaitsPerson = "awaitsPerson": "Waiting for a person";
    AnsweredByAi = "answeredByAi": "Answers by AI";
    IsWriting = "isWriting": "is writing";
    WaitLong = "waitLong": "This is taking longer than usual.";
    WaitStill = "waitStill": "Still no answer.";
    AskPerson = "askPerson": "Talk to a person";
    WantsPerson = "wantsPerson": "I would like to talk to a person.";
    Delivered = "delivered": "Delivered";
    Sending = "sending": "Sending";
    Waiting = "waiting": "Waiting to send";
    NotSent = "notSent": "Not sent";
    TryAgain = "tryAgain": "Try again";
    TryLater = "tryLater": "Not sent yet. We will try again later.";
    TryNow = "tryNow": "Try now";
    Today = "today": "Today";
    Yesterday = "yesterday": "Yesterday";
    IntroTitle = "introTitle": "What would you like to know?";
    IntroNote = "introNote": "Answers are written by AI and can be wrong. You can ask for a person at any time.";
    SuggestedQuestions = "suggestedQuestions": "Suggested questions";
    CharactersLeft = "charactersLeft": "{count} character left|{count} characters left";
    TooLong = "tooLong": "{count} character too many|{count} characters too many";
    Offline = "offline": "You are offline. Your messages are kept here and sent when you are back online.";
    QuotaNote = "quotaNote": "The chat is not available right now.";
    ContactSite = "contactSite": "Contact us";
    BlockedTitle = "blockedTitle": "This conversation is closed";
    BlockedNote = "blockedNote": "No more messages can be sent here.";
    NoReply = "noReply": "There was no answer.";
    AskAgain = "askAgain": "Ask again";
    Copy = "copy": "Copy";
    Copied = "copied": "Copied";
    Code = "code": "Code";
    LatestMessages = "latestMessages": "Go to the latest message";
    NewMessages = "newMessages": "{count} new message|{count} new messages";
    UnreadFrom = "unreadFrom": "Unread messages";
    Dismiss = "dismiss": "Dismiss";
    Menu = "menu": "More";
    Back = "back": "Back";
    Sound = "sound": "Sound";
    MyData = "myData": "My data";
    DataNone = "dataNone": "Nothing is stored on this device yet.";
    DataId = "dataId": "A random number by which this site recognizes this browser";
    DataMessages = "dataMessages": "{count} message in this conversation|{count} messages in this conversation";
    DataNote = "dataNote": "The company has its own copy of the conversation. Forgetting it here does not erase that copy.";
    Download = "download": "Download the conversation";
    Transcript = "transcript": "Conversation with {name}";
    Forget = "forget": "Forget me on this device";
    ForgetAsk = "forgetAsk": "Forget this conversation on this device?";
    ForgetYes = "forgetYes": "Forget";
    ForgetNo = "forgetNo": "Keep";
    ContactMenu = "contactMenu": "Leave an e-mail address";
    ContactLine = "contactLine": "E-mail for the reply";
    ContactMore = "contactMore": "Add name and phone";
    ContactName = "contactName": "Name";
    ContactEmail = "contactEmail": "E-mail";
    ContactPhone = "contactPhone": "Phone";
    ContactNeeded = "contactNeeded": "Please enter an e-mail address or a phone number.";
    EmailWrong = "emailWrong": "Please check the e-mail address. It should look like name@example.com.";
    PhoneWrong = "phoneWrong": "Please check the phone number.";
    ContactSend = "contactSend": "Leave my details";
    ContactWrite = "contactWrite": "We will write to {name}";
    ContactCall = "contactCall": "We will call {name}";
    NotNow = "notNow": "Not now";
}

/// The texts of a widget: replacements, else English.
pub struct Strings {
    /// Replacements by their names, and `name.category` for plural forms.
    replacements: Vec<(String, String)>,
    plural: Intl,
}

impl Strings {
    /// Creates the texts from replacements by their names. `language` determines their plural forms.
    pub fn new(replacements: Vec<(String, String)>, language: &str) -> Self {
        Self { replacements, plural: Intl::new("PluralRules", language, &[]) }
    }

    /// Returns a text.
    pub fn get(&self, text: Text) -> String {
        self.replacement(text, "").unwrap_or_else(|| text.entry().1).to_owned()
    }

    /// Returns a text with a name in it.
    pub fn named(&self, text: Text, name: &str) -> String {
        fill(self.get(text), "{name}", name)
    }

    /// Returns a text with a number in it, in the plural form of the number.
    pub fn count(&self, text: Text, count: usize) -> String {
        let category = self.plural.call("select", &count.into());
        let is_one = category == "one";
        let mut form = None;
        // A replacement may have one text for all numbers. For one, the English form fits better than
        // `other`.
        for category in ["", &category, if is_one { "" } else { "other" }] {
            form = form.or_else(|| self.replacement(text, category));
        }
        let form = form.unwrap_or_else(|| english_form(text.entry().1, is_one));
        fill(form.to_owned(), "{count}", &decimal(i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// Returns the replacement of a text, or of one of its plural forms.
    fn replacement(&self, text: Text, category: &str) -> Option<&str> {
        let (key, _) = text.entry();
        let length = key.len() + if category.is_empty() { 0 } else { 1 + category.len() };
        let matches = |name: &str| name.len() == length && name.starts_with(key) && name.ends_with(category);
        self.replacements.iter().find(|(name, _)| matches(name)).map(|(_, text)| &**text)
    }
}

/// Returns the plural form of an English text for one, or for other numbers.
fn english_form(text: &str, is_one: bool) -> &str {
    let bar = text.bytes().position(|byte| byte == b'|');
    let form = bar.and_then(|bar| if is_one { text.get(..bar) } else { text.get(bar + 1..) });
    form.unwrap_or(text)
}

/// Replaces `mark` by `value` through the browser: Rust's substring search would add 3 KB. Its `replace`
/// would interpret a `$` in a name.
fn fill(text: String, mark: &str, value: &str) -> String {
    JsString::from(text).split(mark).join(value).into()
}
