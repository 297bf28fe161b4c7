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
    /// Renders a widget into `root`, the [`Self::root`] of `host`.
    ///
    /// `config` is `data` of the chat config, when it is known. `changed` is notified when there is something else to show.
    pub(crate) fn new(
        host: &HtmlElement,
        root: &Node,
        mut settings: Settings,
        config: Option<Value>,
        changed: ArcTrigger,
        on_news: Box<dyn Fn(News)>,
    ) -> Self {
        settings.settle_locale(page::language);
        // Effects need an executor. It fails only when there is one already, of the widget before.
        _ = any_spawner::Executor::init_wasm_bindgen();
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
        _ = root.append_child(&view.element);
        ui.begin(host);
        _ = told.set(ui.downgrade());
        Self { ui, view: RefCell::new(view) }
    }

    /// What a widget in `host` is rendered into: its shadow root, which is opened when there is none, with these tokens and
    /// the widget's own sheet; without isolation the host itself, to which the page's own scripts give the sheets.
    ///
    /// All that a browser may refuse is in here, before there is anything to let go of.
    pub(crate) fn root(host: &HtmlElement, isolate: bool, theme: &str) -> Result<Node, JsValue> {
        if !isolate {
            return Ok(host.clone().into());
        }
        let root = match host.shadow_root() {
            Some(root) => root,
            None => host.attach_shadow(&ShadowRootInit::new(ShadowRootMode::Open))?,
        };
        style_sheet::replace(&root, &[theme, STYLES])?;
        Ok(root.into())
    }

    /// Goes on with other settings, all but the proxy, the visitor, the customer, the container, the isolation and the
    /// consent.
    pub(crate) fn change(&self, mut settings: Settings) {
        settings.settle_locale(page::language);
        self.ui.change(settings);
        let view = Scope::new(widget(&self.ui));
        let before = self.view.replace(view);
        // The one before leaves the page when it is dropped.
        _ = before.element.before_with_node_1(&self.view.borrow().element);
        self.ui.follow_screen();
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        self.ui.driver().stop();
        self.ui.end();
    }
}
