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

/// The language of the page, then of the browser, as they are written.
pub fn languages() -> [Option<String>; 2] {
    let root = super::document().document_element();
    [root.and_then(|root| root.get_attribute("lang")), super::window().navigator().language()]
}

/// The address of a prefix. One that is not written in full is of the page's own origin, whatever the page's `<base>`
/// says; one without a leading slash begins in the page's folder.
pub fn absolute(prefix: &str) -> String {
    let location = super::window().location();
    let origin = location.origin().unwrap_or_default();
    let is_full = prefix.starts_with("http://") || prefix.starts_with("https://");
    // The address of a `srcdoc` names no origin.
    if is_full || !origin.starts_with("http") {
        return prefix.to_owned();
    }
    if prefix.starts_with('/') {
        return [&origin, prefix].concat();
    }
    let path = location.pathname().unwrap_or_default();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    [&origin, folder, "/", prefix].concat()
}

/// Whether the visitor's browser asks sites not to share data about its visitor: Global Privacy Control.
pub fn asks_for_privacy() -> bool {
    let asked = js_sys::Reflect::get(&super::window().navigator(), &"globalPrivacyControl".into());
    asked.is_ok_and(|asked| asked.is_truthy())
}
