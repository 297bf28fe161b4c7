//! A widget on the page of an application, with its effects on the page: tokens on the host element, the
//! sheets of a widget without a shadow root, and reports of the page's events. `www/host-page.ts` does the
//! same for the script tag.

use std::cell::RefCell;
use std::rc::Rc;

use chat_protocol::Value;
use chat_session::SessionEvent;
use leptos::prelude::ArcTrigger;
use wasm_bindgen::JsValue;
use web_sys::HtmlElement;

use crate::browser::style_sheet::{self, PAGE_HOST, PageSheets};
use crate::client::Source;
use crate::mount::{Mounted, STYLES};
use crate::page_events::PageEvents;
use crate::settings::{EventMode, Settings};
use crate::theme::Theme;

/// Maximum of each side of the offset. CSS pixels.
const MAX_OFFSET_PX: f64 = 10_000.0;
/// Maximum characters of a token's value.
const MAX_TOKEN: usize = 500;

/// A widget on the page. Dropping it removes the widget and its effects on the page.
pub(crate) struct PageWidget {
    pub(crate) mounted: Rc<Mounted>,
    host: HtmlElement,
    /// The properties that were set on the host.
    tokens: RefCell<Vec<String>>,
    sheets: RefCell<Option<PageSheets>>,
    _events: Option<PageEvents>,
}

impl PageWidget {
    /// Renders a widget into `host`. `changed` is notified when the view has to be updated.
    ///
    /// # Errors
    /// The exception of a browser that refuses the shadow root or a style sheet.
    pub(crate) fn new(
        settings: Settings,
        host: HtmlElement,
        theme: Theme,
        visitor_token: Option<Source>,
        changed: ArcTrigger,
        on_event: Box<dyn Fn(SessionEvent)>,
    ) -> Result<Self, JsValue> {
        let settings = settings.for_page();
        let (isolate, events, tokens) = (settings.isolate, settings.events, tokens_of(&settings));
        let mounted = Rc::new(Mounted::new(settings, None::<Value>, None, visitor_token, changed, on_event));
        mounted.show(&host, &theme.sheet())?;
        if !isolate {
            // Fails only for an invalid name.
            _ = host.set_attribute(PAGE_HOST, "");
            mounted.ui.hide_announcer();
        }
        let events = (events == EventMode::Auto).then(|| PageEvents::new(&mounted));
        let widget =
            Self { mounted, host, tokens: RefCell::default(), sheets: RefCell::default(), _events: events };
        widget.set_tokens(tokens);
        if !isolate {
            widget.set_theme(theme)?;
        }
        Ok(widget)
    }

    /// Applies other settings, except proxy, visitor, customer, `inline`, `isolate`, `events` and consent.
    pub(crate) fn change(&self, settings: Settings) {
        self.set_tokens(tokens_of(&settings));
        self.mounted.change(settings);
    }

    /// Shows another theme.
    pub(crate) fn set_theme(&self, theme: Theme) -> Result<(), JsValue> {
        let texts = [&*theme.sheet(), STYLES];
        match self.host.shadow_root() {
            Some(root) => style_sheet::replace(&root, &texts)?,
            // Dropping the sheets of the previous theme removes them from the page.
            None => drop(self.sheets.replace(Some(PageSheets::new(&texts)?))),
        }
        Ok(())
    }

    fn set_tokens(&self, tokens: Vec<(String, String)>) {
        let style = self.host.style();
        for name in self.tokens.take() {
            // Fails only for an object that is not an element.
            _ = style.remove_property(&name);
        }
        for (name, value) in &tokens {
            _ = style.set_property(name, value);
        }
        self.tokens.replace(tokens.into_iter().map(|(name, _)| name).collect());
    }
}

/// Returns the custom properties of the settings. An invalid value is left out, with a warning.
fn tokens_of(settings: &Settings) -> Vec<(String, String)> {
    let mut tokens = Vec::new();
    for (name, value) in &settings.theme_tokens {
        let name = name.trim_start_matches("--cw-");
        let is_name =
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let is_value = !value.trim().is_empty()
            && value.encode_utf16().count() <= MAX_TOKEN
            && !value.contains([';', '{', '}']);
        if is_name && is_value {
            tokens.push(("--cw-".to_owned() + name, value.clone()));
        } else {
            leptos::logging::warn!(
                "chat widget: invalid theme token: expected a name of docs/themes.md and a value of CSS, got {name:?} and \
                 {value:?}; it is left out"
            );
        }
    }
    if let Some(layer) = settings.z_index {
        tokens.push(("--cw-z-root".to_owned(), layer.to_string()));
    }
    for (side, length) in [("x", settings.offset.x), ("y", settings.offset.y)] {
        match length {
            None => {}
            Some(length) if (0.0..=MAX_OFFSET_PX).contains(&length) => {
                tokens.push(("--cw-offset-".to_owned() + side, length.to_string() + "px"));
            }
            Some(length) => leptos::logging::warn!(
                "chat widget: invalid offset.{side}: expected 0 to {MAX_OFFSET_PX} pixels, got {length}; using 20"
            ),
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Offset;

    #[test]
    fn tokens_layer_and_offset_become_custom_properties() {
        let mut settings = Settings::new("/connector");
        settings.theme_tokens = vec![("accent".to_owned(), "#0a6".to_owned())];
        settings.z_index = Some(-1);
        settings.offset = Offset { x: Some(0.0), y: Some(20.5) };
        let expected = [
            ("--cw-accent", "#0a6"),
            ("--cw-z-root", "-1"),
            ("--cw-offset-x", "0px"),
            ("--cw-offset-y", "20.5px"),
        ];
        assert_eq!(tokens_of(&settings), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
}
