//! The preview: a page of the service in a frame, on which the real widget runs with the chosen options.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::MessageEvent;

use super::options::WidgetOptions;
use crate::browser::window;
use crate::text::settings as t;
use crate::ui::controls::Rendered;

/// The page in the frame; see `pages/preview.rs` of the service.
const PAGE: &str = "/widget-preview/";

/// The preview, as wide as a desktop's page or as a phone.
#[component]
pub fn Preview(
    /// The option `proxy` of the widget.
    proxy: String,
    options: RwSignal<WidgetOptions>,
) -> impl IntoView {
    let frame = NodeRef::<html::Iframe>::new();
    let (is_ready, is_phone) = (RwSignal::new(false), RwSignal::new(false));
    let problem = RwSignal::new(String::new());
    let listener = window_event_listener(ev::message, move |event: MessageEvent| {
        let from_frame = frame.rendered().and_then(|frame| frame.content_window());
        let is_ours = from_frame.is_some_and(|from| {
            event.source().is_some_and(|source| JsValue::from(source) == JsValue::from(from))
        });
        if !is_ours || window().location().origin().ok().as_deref() != Some(event.origin().as_str()) {
            return;
        }
        let member = |name: &str| js_sys::Reflect::get(&event.data(), &name.into()).unwrap_or_default();
        if member("ready").is_truthy() {
            is_ready.set(true);
        }
        if member("shown").is_truthy() {
            problem.set(String::new());
        }
        if let Some(error) = member("error").as_string() {
            problem.set(error);
        }
    });
    on_cleanup(move || listener.remove());
    Effect::new(move |_| {
        let options = options.with(|options| options.of_preview(&proxy));
        if is_ready.get() {
            send(frame, &options);
        }
    });
    let width = move |phone: bool, text: &'static str| {
        view! {
            <button
                type="button"
                class="segment"
                aria-pressed=move || if is_phone.get() == phone { "true" } else { "false" }
                on:click=move |_| is_phone.set(phone)
            >
                {text}
            </button>
        }
    };
    view! {
        <section class="live-preview" aria-label=t::PREVIEW.get()>
            <div class="toolbar">
                <h2>{t::PREVIEW.get()}</h2>
                <div class="segments" role="group" aria-label=t::PREVIEW_WIDTH.get()>
                    {width(false, t::PREVIEW_DESKTOP.get())}
                    {width(true, t::PREVIEW_PHONE.get())}
                </div>
            </div>
            <div class="live-preview-stage" class:is-phone=move || is_phone.get()>
                <iframe node_ref=frame title=t::PREVIEW_FRAME.get() src=PAGE></iframe>
            </div>
            <p role="alert">
                {move || {
                    let text = problem.get();
                    (!text.is_empty()).then(|| view! { <span class="notice is-error">{text}</span> })
                }}
            </p>
            <p class="field-help">{t::PREVIEW_HELP.get()}</p>
        </section>
    }
}

/// Sends options to the frame, which opens the window at the first time.
fn send(frame: NodeRef<html::Iframe>, options: &serde_json::Value) {
    let Some(page) = frame.rendered().and_then(|frame| frame.content_window()) else { return };
    let message = serde_json::json!({ "options": options, "open": true }).to_string();
    let origin = window().location().origin().unwrap_or_default();
    if let Ok(message) = js_sys::JSON::parse(&message) {
        _ = page.unchecked_ref::<web_sys::Window>().post_message(&message, &origin);
    }
}
