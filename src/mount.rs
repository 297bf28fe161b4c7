//! Puts a widget into a host element of the page, and takes it out again.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use chat_protocol::Value;
use chat_session::News;
use leptos::prelude::ArcTrigger;
use wasm_bindgen::JsValue;
use web_sys::{HtmlElement, Node, ShadowRootInit, ShadowRootMode};

use crate::browser::{page, style_sheet};
use crate::client::BrowserWidgetClient;
use crate::driver::{Driver, Setup};
use crate::settings::Settings;
use crate::ui::{Scope, Ui, WeakUi, widget};

/// The widget's style sheet, on tokens only.
pub(crate) const STYLES: &str = include_str!(concat!(env!("OUT_DIR"), "/widget.css"));

/// A widget on the page. Dropping it takes it off again; the host stays.
pub(crate) struct Mounted {
    /// What can be done with it from outside.
    pub(crate) ui: Ui,
    view: RefCell<Scope>,
}

impl Mounted {
    /// Renders a widget into the shadow root of `host`, which it opens when there is none.
    ///
    /// `theme` is the text of a style sheet of tokens. `config` is `data` of the chat config, when it is known. What
    /// `changed` gives is notified when there is something else to show.
    pub(crate) fn new(
        host: &HtmlElement,
        mut settings: Settings,
        theme: &str,
        config: Option<Value>,
        changed: impl FnOnce() -> ArcTrigger,
        on_news: Box<dyn Fn(News)>,
    ) -> Result<Self, JsValue> {
        settings.settle_locale(page::language);
        let root: Node = if settings.isolate {
            let root = match host.shadow_root() {
                Some(root) => root,
                None => host.attach_shadow(&ShadowRootInit::new(ShadowRootMode::Open))?,
            };
            style_sheet::replace(&root, &[theme, STYLES])?;
            root.into()
        } else {
            // The page's own scripts have given the page these sheets.
            host.clone().into()
        };
        // Effects need an executor. It fails only when there is one already, of the widget before.
        _ = any_spawner::Executor::init_wasm_bindgen();
        // Only here: where what is above fails, there would be something to let go of (0.1 KB).
        let changed = changed();
        let told = Rc::new(OnceCell::<WeakUi>::new());
        let listening = told.clone();
        let on_news = Box::new(move |news: News| {
            if let Some(ui) = listening.get().and_then(WeakUi::upgrade) {
                ui.heard(&news);
            }
            on_news(news);
        });
        let driver = Driver::start(Setup {
            client: BrowserWidgetClient::new(&settings.proxy),
            config,
            visitor: std::mem::take(&mut settings.visitor),
            customer_id: settings.customer_id.take(),
            locale: settings.locale.clone(),
            reports: settings.reports(),
            consent: settings.consent,
            changed: changed.clone(),
            on_news,
        });
        let ui = Ui::new(driver, changed, settings);
        let view = Scope::new(widget(&ui));
        // Whatever stood there before, such as the loader's launcher, makes room in the same frame.
        root.set_text_content(None);
        root.append_child(&view.element)?;
        ui.begin(host);
        _ = told.set(ui.downgrade());
        Ok(Self { ui, view: RefCell::new(view) })
    }

    /// Goes on with other settings, all but the proxy, the customer, the container, the isolation and the consent.
    pub(crate) fn change(&self, mut settings: Settings) {
        settings.settle_locale(page::language);
        self.ui.change(settings);
        let view = Scope::new(widget(&self.ui));
        let before = self.view.replace(view);
        // The one before leaves the page when it is dropped.
        _ = before.element.before_with_node_1(&self.view.borrow().element);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.ui.driver().stop();
        self.ui.end();
    }
}
