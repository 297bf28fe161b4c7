//! The page around the widget, as events and messages name it.

use chat_session::Page;

use super::clock;

/// The page as it is now.
pub fn current() -> Page {
    let location = super::window().location();
    let document = super::document();
    Page {
        path: location.pathname().unwrap_or_default(),
        url: location.href().unwrap_or_default(),
        title: own_title(document.title()),
        referrer: document.referrer(),
        now_iso: clock::now_iso(),
    }
}

/// What `www/title.ts` puts before the title while there are unread messages: this, the count, and `) `.
const UNREAD: &str = "\u{1f4ac} (";

/// The title that the page gave itself.
fn own_title(title: String) -> String {
    let counted = title.strip_prefix(UNREAD).and_then(|rest| {
        let end = rest.bytes().position(|byte| byte == b')')?;
        rest.get(end + 2..)
    });
    counted.map(str::to_owned).unwrap_or(title)
}

/// The language of the page, then of the browser, BCP 47.
pub fn language() -> Option<String> {
    let of_page = super::document().document_element()?.get_attribute("lang").filter(|lang| !lang.is_empty());
    of_page.or_else(|| super::window().navigator().language())
}

/// Whether the visitor's browser asks sites not to share data about its visitor: Global Privacy Control.
pub fn asks_for_privacy() -> bool {
    let asked = js_sys::Reflect::get(&super::window().navigator(), &"globalPrivacyControl".into());
    asked.is_ok_and(|asked| asked.is_truthy())
}
