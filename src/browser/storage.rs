//! What the browser keeps for a page, where it lets the page have that. Where it is blocked, nothing is kept past the page:
//! the session goes on in memory.

/// The page's `localStorage` or `sessionStorage`, or nothing.
pub struct Storage(Option<web_sys::Storage>);

impl Storage {
    /// What all tabs have. Where it is blocked, already to ask for it throws.
    pub fn open() -> Self {
        Self(super::window().local_storage().ok().flatten())
    }

    /// Nothing, for a visitor who has not agreed to anything being kept.
    pub fn none() -> Self {
        Self(None)
    }

    /// What this tab has for itself.
    pub fn of_tab() -> Self {
        Self(super::window().session_storage().ok().flatten())
    }

    /// The text that is kept under a key.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.as_ref()?.get_item(key).ok().flatten()
    }

    /// Every key with this prefix, and its text.
    pub fn all(&self, prefix: &str) -> Vec<(String, String)> {
        let Some(local) = &self.0 else { return Vec::new() };
        let mut all = Vec::new();
        for index in 0..local.length().unwrap_or(0) {
            if let Ok(Some(key)) = local.key(index)
                && key.starts_with(prefix)
                && let Ok(Some(text)) = local.get_item(&key)
            {
                all.push((key, text));
            }
        }
        all
    }

    /// Keeps a text under a key, or forgets the key. Gives whether the browser did; where it keeps nothing for anybody,
    /// there is nothing to be told.
    pub fn set(&self, key: &str, text: Option<&str>) -> bool {
        let Some(local) = &self.0 else { return true };
        let kept = match text {
            Some(text) => local.set_item(key, text),
            None => local.remove_item(key),
        };
        kept.is_ok()
    }
}
