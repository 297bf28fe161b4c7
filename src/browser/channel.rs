//! Messages between the tabs of one browser: by `BroadcastChannel`, else by storage events. Without either, a
//! tab is alone.

use js_sys::Reflect;
use web_sys::BroadcastChannel;

use super::listener::Listener;
use super::storage::Storage;

/// An open channel, which is closed when it is dropped.
pub struct Channel {
    broadcast: Option<BroadcastChannel>,
    /// The storage key that carries a message for a moment.
    key: String,
    _listener: Listener,
}

impl Channel {
    /// Opens the channel of this name. `on_text` is called with each message of another tab.
    pub fn open(name: &str, on_text: impl Fn(String) + 'static) -> Self {
        let key = [name, ":tabs"].concat();
        let broadcast = BroadcastChannel::new(name).ok();
        let expected = broadcast.is_none().then(|| key.clone());
        let on_event = move |event: web_sys::Event| {
            let get = |field: &str| Reflect::get(&event, &field.into()).ok()?.as_string();
            // An event of a channel has no key. One that says that the key is gone has no text.
            if get("key") == expected
                && let Some(text) = get(if expected.is_some() { "newValue" } else { "data" })
            {
                on_text(text);
            }
        };
        let listener = match &broadcast {
            Some(channel) => Listener::new(channel, "message", on_event),
            None => Listener::new(&super::window(), "storage", on_event),
        };
        Self { broadcast, key, _listener: listener }
    }

    /// Posts a message to the other tabs.
    pub fn post(&self, storage: &Storage, text: &str) {
        if let Some(channel) = &self.broadcast {
            // Text can always be posted, and a closed channel has been dropped.
            _ = channel.post_message(&text.into());
        } else {
            // The next message may be the same, and nothing is to stay.
            storage.set(&self.key, Some(text));
            storage.set(&self.key, None);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.broadcast.iter().for_each(BroadcastChannel::close);
    }
}
