//! Storage of the browser. Where it is blocked, nothing outlives the page, and the session goes on in memory.

/// The page's `localStorage` or `sessionStorage`, or neither.
pub struct Storage(Option<web_sys::Storage>);

impl Storage {
    /// Opens the storage that all tabs share. Where it is blocked, the getter throws.
    pub fn open() -> Self {
        Self(super::window().local_storage().ok().flatten())
    }

    /// Stores nothing, for a visitor who has not given consent.
    pub fn none() -> Self {
        Self(None)
    }

    /// Opens the storage of this tab.
    pub fn of_tab() -> Self {
        Self(super::window().session_storage().ok().flatten())
    }

    /// Returns the text under a key.
    pub fn get(&self, key: &str) -> Option<String> {
        self.0.as_ref()?.get_item(key).ok().flatten()
    }

    /// Returns every key with this prefix, and its text.
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

    /// Stores a text under a key, or removes the key. Returns whether the browser did; always true without a
    /// storage.
    pub fn set(&self, key: &str, text: Option<&str>) -> bool {
        let Some(local) = &self.0 else { return true };
        let kept = match text {
            Some(text) => local.set_item(key, text),
            None => local.remove_item(key),
        };
        kept.is_ok()
    }
}
