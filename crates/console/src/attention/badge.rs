//! The count of unread messages in the page's title and in its icon.

/// The count from which the title says "99+".
const MAX_SHOWN: i64 = 99;

/// Returns the title of the page: the count of unread messages, the place, and the product's name.
pub fn page_title(unread: i64, place: &str, product: &str) -> String {
    let mut title = String::new();
    if let Some(count) = badge_text(unread) {
        title.push('(');
        title.push_str(&count);
        title.push_str(") ");
    }
    title.push_str(place);
    if !product.is_empty() && place != product {
        title.push_str(" · ");
        title.push_str(product);
    }
    title
}

/// Returns the text of a badge; `None` if nothing is unread.
fn badge_text(unread: i64) -> Option<String> {
    match unread {
        ..=0 => None,
        1..=MAX_SHOWN => Some(unread.to_string()),
        _ => Some(format!("{MAX_SHOWN}+")),
    }
}

/// Returns the page's icon with a badge, as the address of an SVG picture.
pub fn favicon(unread: i64) -> String {
    const BUBBLE: &str = "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'>\
        <path fill='#0B7A75' d='M16 3C8.3 3 2 8.4 2 15c0 3.7 2 7 5 9.2V30l6-3.3c1 .2 2 .3 3 .3 7.7 0 14-5.4 \
        14-12S23.7 3 16 3z'/>";
    let mut picture = BUBBLE.to_owned();
    if let Some(count) = badge_text(unread) {
        // Two characters at most: more cannot be read at 16 pixels.
        let count = if count.len() > 2 { "99" } else { &count };
        picture.push_str(
            "<circle cx='21' cy='11' r='11' fill='#C62F26'/><text x='21' y='16.5' fill='#fff' \
             font-family='system-ui,sans-serif' font-weight='700' font-size='15' text-anchor='middle'>",
        );
        picture.push_str(count);
        picture.push_str("</text>");
    }
    picture.push_str("</svg>");
    let escaped = picture.replace('%', "%25").replace('#', "%23").replace('<', "%3C").replace('>', "%3E");
    format!("data:image/svg+xml,{escaped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_begins_with_the_count() {
        assert_eq!(page_title(0, "Inbox", "Chat"), "Inbox · Chat");
        assert_eq!(page_title(3, "Inbox", "Chat"), "(3) Inbox · Chat");
        assert_eq!(page_title(1000, "Chat", "Chat"), "(99+) Chat");
        assert_eq!(page_title(-1, "Inbox", ""), "Inbox");
    }

    #[test]
    fn the_icon_has_a_badge_while_something_is_unread() {
        assert!(!favicon(0).contains("circle"));
        assert!(favicon(7).contains("%3E7%3C/text"));
        assert!(favicon(100).contains("%3E99%3C/text"));
        assert!(!favicon(100).contains(['<', '>', '#', '"']));
    }
}
