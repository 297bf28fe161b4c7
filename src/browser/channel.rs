//! What the tabs of one browser tell each other, by `BroadcastChannel`. Where there is none, a tab is alone.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{BroadcastChannel, MessageEvent};

/// An open channel; it is closed when it is dropped.
pub struct Channel {
    channel: BroadcastChannel,
    _closure: Closure<dyn FnMut(MessageEvent)>,
}

impl Channel {
    /// Opens the channel of this name. `on_text` is told what the other tabs post.
    pub fn open(name: &str, on_text: impl Fn(String) + 'static) -> Option<Self> {
        let channel = BroadcastChannel::new(name).ok()?;
        let closure = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Some(text) = event.data().as_string() {
                on_text(text);
            }
        });
        channel.set_onmessage(Some(closure.as_ref().unchecked_ref()));
        Some(Self { channel, _closure: closure })
    }

    /// Tells the other tabs.
    pub fn post(&self, text: &str) {
        // Text can always be posted, and a closed channel has been dropped.
        _ = self.channel.post_message(&text.into());
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.channel.close();
    }
}
