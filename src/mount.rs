//! A widget in a host element of the page.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use chat_protocol::Value;
use chat_session::{SessionEvent, Stored};
use leptos::prelude::ArcTrigger;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{HtmlElement, Node};

use crate::browser::dictionary::Dictionary;
use crate::browser::style_sheet;
use crate::client::Source;
use crate::client::transport::Transport;
use crate::driver::{Driver, Setup};
use crate::settings::Settings;
use crate::ui::{Scope, Ui, WeakUi, widget};

/// The widget's style sheet, on tokens only.
pub(crate) const STYLES: &str = include_str!(concat!(env!("OUT_DIR"), "/widget.css"));

/// A mounted widget. Dropping it unmounts the widget; the host stays.
pub(crate) struct Mounted {
    /// The interface, for controls of the page.
    pub(crate) ui: Ui,
    view: Cell<Option<Scope>>,
}

impl Mounted {
    /// Starts or continues the conversation. [`Self::show`] renders it, so that the page can run in between.
    ///
    /// `config` is `data` of the chat config, if it is known. `handover` and `visitor_token` are those of
    /// [`Setup`]. `changed` is notified when the view has to be updated.
    pub(crate) fn new(
        mut settings: Settings,
        config: Option<Value>,
        handover: Option<Stored>,
        visitor_token: Option<Source>,
        changed: ArcTrigger,
        on_event: Box<dyn Fn(SessionEvent)>,
    ) -> Self {
        // Effects need an executor. This fails only if an earlier widget has set it.
        _ = any_spawner::Executor::init_wasm_bindgen();
        let created = Rc::new(OnceCell::<WeakUi>::new());
        let (listening, forgetting) = (created.clone(), created.clone());
        let on_event = Box::new(move |event: SessionEvent| {
            if let Some(ui) = listening.get().and_then(WeakUi::upgrade) {
                ui.on_event(&event);
            }
            on_event(event);
        });
        let driver = Driver::start(Setup {
            transport: Transport::new(&settings.proxy),
            config,
            handover,
            visitor: std::mem::take(&mut settings.visitor),
            customer_id: settings.customer_id.take(),
            visitor_token,
            locale: settings.locale.clone(),
            reports: settings.reports(),
            consent: settings.consent,
            changed: changed.clone(),
            on_event,
            on_forget: Box::new(move || {
                if let Some(ui) = forgetting.get().and_then(WeakUi::upgrade) {
                    ui.forget();
                }
            }),
        });
        let ui = Ui::new(driver, changed, settings);
        _ = created.set(ui.downgrade());
        Self { ui, view: Cell::default() }
    }

    /// Renders the widget into the shadow root of `host`, which is attached if necessary, with the tokens of
    /// `theme` and the widget's own sheet. Without isolation, it renders into the host itself, and the caller
    /// adds the sheets to the page.
    ///
    /// Everything that the browser may refuse comes first: the page is unchanged after an error.
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
        // The previous content, such as the loader's launcher, is replaced in the same frame.
        root.set_text_content(None);
        _ = root.append_child(&view.element);
        self.view.set(Some(view));
        self.ui.start(host);
        Ok(())
    }

    /// Applies other settings, except proxy, visitor, customer, container, isolation and consent.
    pub(crate) fn change(&self, settings: Settings) {
        self.ui.change(settings);
        if let Some(previous) = self.view.take() {
            let view = Scope::new(widget(&self.ui));
            // Dropping the previous view removes it from the page.
            _ = previous.element.before_with_node_1(&view.element);
            drop(previous);
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
