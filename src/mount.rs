//! Puts a widget into a host element of the page, and takes it out again.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use chat_protocol::Value;
use chat_session::SessionEvent;
use leptos::prelude::ArcTrigger;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, Node};

use crate::browser::dictionary::Dictionary;
use crate::browser::style_sheet;
use crate::client::transport::Transport;
use crate::driver::{Driver, Setup};
use crate::settings::Settings;
use crate::ui::{Scope, Ui, WeakUi, widget};

/// The widget's style sheet, on tokens only.
pub(crate) const STYLES: &str = include_str!(concat!(env!("OUT_DIR"), "/widget.css"));

/// A widget for a page. Dropping it takes it off again; the host stays.
pub(crate) struct Mounted {
    /// What can be done with it from outside.
    pub(crate) ui: Ui,
    view: Cell<Option<Scope>>,
}

impl Mounted {
    /// Begins or goes on with the conversation; nothing is rendered yet, so that a page may breathe in between.
    ///
    /// `config` is `data` of the chat config, when it is known. `changed` is notified when there is something else to show.
    pub(crate) fn new(
        mut settings: Settings,
        config: Option<Value>,
        changed: ArcTrigger,
        on_event: Box<dyn Fn(SessionEvent)>,
    ) -> Self {
        // Effects need an executor. It fails only when there is one already, of the widget before.
        _ = any_spawner::Executor::init_wasm_bindgen();
        let told = Rc::new(OnceCell::<WeakUi>::new());
        let listening = told.clone();
        let on_event = Box::new(move |event: SessionEvent| {
            if let Some(ui) = listening.get().and_then(WeakUi::upgrade) {
                ui.on_event(&event);
            }
            on_event(event);
        });
        let driver = Driver::start(Setup {
            transport: Transport::new(&settings.proxy),
            config,
            visitor: std::mem::take(&mut settings.visitor),
            customer_id: settings.customer_id.take(),
            locale: settings.locale.clone(),
            reports: settings.reports(),
            consent: settings.consent,
            changed: changed.clone(),
            on_event,
        });
        let ui = Ui::new(driver, changed, settings);
        _ = told.set(ui.downgrade());
        Self { ui, view: Cell::default() }
    }

    /// Renders the widget into the shadow root of `host`, which is opened when there is none, with these tokens and the
    /// widget's own sheet; without isolation into the host itself, to which the page's own scripts give the sheets.
    ///
    /// All that a browser may refuse comes first: then nothing has changed on the page.
    pub(crate) fn show(&self, host: &HtmlElement, theme: &str) -> Result<(), JsValue> {
        let mut root: Node = host.clone().into();
        if self.ui.settings().isolate {
            let shadow = if let Some(root) = host.shadow_root() {
                root
            } else {
                let init = Dictionary::new();
                init.set("mode", "open");
                host.attach_shadow(init.unchecked_ref())?
            };
            style_sheet::replace(&shadow, &[theme, STYLES])?;
            root = shadow.into();
        }
        let view = Scope::new(widget(&self.ui));
        // Whatever stood there before, such as the loader's launcher, makes room in the same frame.
        root.set_text_content(None);
        _ = root.append_child(&view.element);
        self.view.set(Some(view));
        self.ui.start(host);
        Ok(())
    }

    /// Goes on with other settings, all but the proxy, the visitor, the customer, the container, the isolation and the
    /// consent.
    pub(crate) fn change(&self, settings: Settings) {
        self.ui.change(settings);
        if let Some(before) = self.view.take() {
            let view = Scope::new(widget(&self.ui));
            // The one before leaves the page when it is dropped.
            _ = before.element.before_with_node_1(&view.element);
            drop(before);
            self.view.set(Some(view));
            self.ui.apply_screen();
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.ui.driver().stop();
        self.ui.stop();
    }
}
