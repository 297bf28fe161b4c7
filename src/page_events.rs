//! Visitor events of the page around the widget: `page_view` on navigation, `cta_clicked` on clicks on
//! elements with `data-chat-cta` (2.7). `www/page-listeners.ts` does the same for the script tag.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use chat_protocol::Value;
use wasm_bindgen::JsCast;
use web_sys::Element;

use crate::browser;
use crate::browser::listener::Listener;
use crate::browser::navigation::NavigationWatch;
use crate::mount::Mounted;

/// The attribute that marks a call to action; its value is the label.
const MARK: &str = "data-chat-cta";
/// Maximum characters of a label that is taken from the element's text.
const MAX_LABEL: usize = 100;

thread_local! {
    /// The widgets that report, in the order of their start. Of several with one visitor, the first reports.
    static REPORTERS: RefCell<Vec<Weak<Mounted>>> = const { RefCell::new(Vec::new()) };
}

/// Reports the page's events until it is dropped.
pub(crate) struct PageEvents {
    widget: Weak<Mounted>,
    _navigation: NavigationWatch,
    _clicks: Listener,
}

impl PageEvents {
    /// Reports through the session of `widget`, which drops what consent or settings do not allow.
    pub(crate) fn new(widget: &Rc<Mounted>) -> Self {
        let widget = Rc::downgrade(widget);
        REPORTERS.with_borrow_mut(|all| all.push(widget.clone()));
        let (on_navigate, on_click) = (widget.clone(), widget.clone());
        Self {
            widget,
            _navigation: NavigationWatch::new(move || report(&on_navigate, "page_view", Value::Null)),
            _clicks: Listener::new(&browser::document(), "click", move |event| {
                let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
                let marked = target.and_then(|target| target.closest("[data-chat-cta]").ok().flatten());
                if let Some(marked) = marked {
                    report(&on_click, "cta_clicked", Value::object([("label", label_of(&marked).into())]));
                }
            }),
        }
    }
}

impl Drop for PageEvents {
    fn drop(&mut self) {
        // The last one may be dropped after the thread's storage.
        _ = REPORTERS.try_with(|all| all.borrow_mut().retain(|one| !one.ptr_eq(&self.widget)));
    }
}

/// Reports an event through the first widget of the visitor.
fn report(widget: &Weak<Mounted>, event_type: &str, data: Value) {
    let Some(widget) = widget.upgrade() else { return };
    let reporters: Vec<_> = REPORTERS.with_borrow(|all| all.iter().filter_map(Weak::upgrade).collect());
    let has_same_visitor = |one: &&Rc<Mounted>| {
        one.ui.driver().session().visitor_id() == widget.ui.driver().session().visitor_id()
    };
    if reporters.iter().find(has_same_visitor).is_some_and(|first| Rc::ptr_eq(first, &widget)) {
        widget.ui.driver().track(event_type.to_owned(), data);
    }
}

/// Returns the label of a marked element: the attribute's value, else the beginning of the element's text.
fn label_of(marked: &Element) -> String {
    let label = marked.get_attribute(MARK).filter(|label| !label.is_empty());
    label
        .unwrap_or_else(|| marked.text_content().unwrap_or_default().trim().chars().take(MAX_LABEL).collect())
}
