//! The page around the widget, as events and messages name it.

use chat_session::Page;

use super::clock;

/// Returns the page as it is now.
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

/// The beginning of the prefix that `www/title.ts` adds to the title while there are unread messages; the
/// count and `) ` follow.
const UNREAD: &str = "\u{1f4ac} (";

/// Returns the title without the unread count.
fn own_title(title: String) -> String {
    let counted = title.strip_prefix(UNREAD).and_then(|rest| {
        let end = rest.bytes().position(|byte| byte == b')')?;
        rest.get(end + 2..)
    });
    counted.map(str::to_owned).unwrap_or(title)
}

/// Returns the language of the page, then of the browser, as they are written.
pub fn languages() -> [Option<String>; 2] {
    let root = super::document().document_element();
    [root.and_then(|root| root.get_attribute("lang")), super::window().navigator().language()]
}

/// Returns the address of a prefix. A relative one belongs to the page's own origin, whatever `<base>` says;
/// without a leading slash it begins in the page's folder.
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

/// Returns whether the browser sends Global Privacy Control.
pub fn asks_for_privacy() -> bool {
    let asked = js_sys::Reflect::get(&super::window().navigator(), &"globalPrivacyControl".into());
    asked.is_ok_and(|asked| asked.is_truthy())
}
