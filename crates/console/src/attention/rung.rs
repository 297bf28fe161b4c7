//! Which of a browser's tabs rings: the first one that writes the message down in their common storage.

/// The number of messages that are remembered. Tabs hear of a message within moments of each other.
const MAX_REMEMBERED: usize = 50;

/// Claims a message for the tab that asks. `stored` is the list in storage, `key` names the message. Returns
/// the new list to store, or `None` if another tab has claimed the message.
pub fn claim(stored: Option<&str>, key: &str) -> Option<String> {
    let known: Vec<&str> = stored.unwrap_or_default().split('\n').filter(|key| !key.is_empty()).collect();
    if known.contains(&key) {
        return None;
    }
    let mut list: Vec<&str> = known[known.len().saturating_sub(MAX_REMEMBERED - 1)..].to_vec();
    list.push(key);
    Some(list.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_tab_gets_a_message_and_the_others_do_not() {
        let stored = claim(None, "c1:5").expect("the first claim");
        assert_eq!(claim(Some(&stored), "c1:5"), None);
        let stored = claim(Some(&stored), "c1:6").expect("another message");
        assert_eq!(stored, "c1:5\nc1:6");
    }

    #[test]
    fn old_messages_are_forgotten() {
        let mut stored = String::new();
        for number in 0..200 {
            stored = claim(Some(&stored), &format!("c:{number}")).expect("a new message");
        }
        assert_eq!(stored.lines().count(), MAX_REMEMBERED);
        assert_eq!(claim(Some(&stored), "c:199"), None);
        assert!(claim(Some(&stored), "c:1").is_some());
    }

    #[test]
    fn strange_content_of_the_storage_does_no_harm() {
        assert_eq!(claim(Some("\n\n{}"), "a").as_deref(), Some("{}\na"));
    }
}
