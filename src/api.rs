//! The module's exports to JavaScript. Only the typed entry in `www/` uses them.

use chat_protocol::{Value, VisitorProfile};
use chat_session::SessionEvent;
use js_sys::Reflect;
use leptos::prelude::ArcTrigger;
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;

use crate::client::Source;
use crate::client::json;
use crate::events;
use crate::mount::{Mounted, STYLES};
use crate::settings::Settings;

/// Explains panics on the console.
#[cfg(feature = "debug-panics")]
#[wasm_bindgen(start)]
pub fn explain_panics() {
    console_error_panic_hook::set_once();
}

/// A widget on the page. `free()` unmounts it.
#[wasm_bindgen]
pub struct Handle(Mounted);

#[wasm_bindgen]
impl Handle {
    /// Starts or continues a conversation, which [`Self::show`] renders.
    ///
    /// `options` are the page's validated options. `config` is `data` of the chat config or undefined.
    /// `handover` has the values of the companion that storage refused, by their keys, or is undefined if the
    /// page view is not reported yet. `on_event` is called with the name and the detail of each event.
    #[wasm_bindgen(constructor)]
    pub fn new(
        options: &JsValue,
        config: &JsValue,
        handover: &JsValue,
        on_event: js_sys::Function,
    ) -> Handle {
        let settings = Settings::from(json::from_js(options));
        let config = Some(json::from_js(config)).filter(|config| *config != Value::Null);
        let handover = match json::from_js(handover) {
            Value::Object(values) => Some(values),
            _ => None,
        };
        // The page's own object may throw.
        let token = Reflect::get(options, &"visitorToken".into()).unwrap_or_default();
        let on_event = move |event: SessionEvent| {
            let (name, detail) = events::name_and_detail(event);
            // The entry's function catches exceptions of the page's handlers.
            _ = on_event.call2(&JsValue::UNDEFINED, &name.into(), &json::to_js(&detail));
        };
        let token = Source::of(token);
        Self(Mounted::new(settings, config, handover, token, ArcTrigger::new(), Box::new(on_event)))
    }

    /// Renders the widget into `host`. `theme` is the text of a style sheet with tokens.
    ///
    /// # Errors
    /// The exception of a browser that refuses the shadow root or a style sheet.
    pub fn show(&self, host: &HtmlElement, theme: &str) -> Result<(), JsValue> {
        self.0.show(host, theme)
    }

    /// Opens or closes the window. The focus follows if the visitor did it.
    #[wasm_bindgen(js_name = setOpen)]
    pub fn set_open(&self, open: bool, by_visitor: bool) {
        self.0.ui.set_open(open, by_visitor);
    }

    /// Returns the widget's style sheet, for a widget without a shadow root.
    #[wasm_bindgen(getter, js_name = styleSheet)]
    pub fn style_sheet() -> JsValue {
        STYLES.into()
    }

    /// Sends a message as the visitor.
    #[wasm_bindgen(js_name = sendMessage)]
    pub fn send_message(&self, text: String) {
        self.0.ui.driver().send(text);
    }

    /// Replaces the text in the composer.
    #[wasm_bindgen(js_name = setDraft)]
    pub fn set_draft(&self, text: String) {
        self.0.ui.set_draft(text);
    }

    /// Applies other options, except those of the widget's place and of the visitor.
    pub fn change(&self, options: &JsValue) {
        self.0.change(Settings::from(json::from_js(options)));
    }

    /// Sets the visitor's token: a text, or a function. Anything else means that nobody is signed in.
    #[wasm_bindgen(js_name = setVisitorToken)]
    pub fn set_visitor_token(&self, token: JsValue) {
        self.0.ui.driver().set_visitor_token(Source::of(token));
    }

    /// Merges a visitor profile.
    pub fn identify(&self, profile: &JsValue) {
        self.0.ui.driver().identify(VisitorProfile::try_from(json::from_js(profile)).unwrap_or_default());
    }

    /// Reports an event of this type, with an object of data.
    pub fn track(&self, event_type: String, data: &JsValue) {
        self.0.ui.driver().track(event_type, json::from_js(data));
    }

    /// Records the visitor's consent to be remembered.
    #[wasm_bindgen(js_name = grantConsent)]
    pub fn grant_consent(&self) {
        self.0.ui.grant_consent();
    }

    /// Erases the visitor and the conversation, in all tabs.
    pub fn reset(&self) {
        self.0.ui.reset();
    }

    /// Requests the config again.
    #[wasm_bindgen(js_name = reloadConfig)]
    pub fn reload_config(&self) {
        self.0.ui.driver().reload_config();
    }

    /// Returns a snapshot: `{open, unread, operatorOnline, visitorId, conversationId}`.
    #[wasm_bindgen(getter)]
    pub fn state(&self) -> JsValue {
        let session = self.0.ui.driver().session();
        json::to_js(&Value::object([
            ("open", self.0.ui.state().open.get().into()),
            ("unread", i64::from(session.unread()).into()),
            ("operatorOnline", session.operator_online().into()),
            ("visitorId", session.visitor_id().into()),
            ("conversationId", session.conversation_id().into()),
        ]))
    }
}
