//! Controls of a widget, for the application around it.

use std::rc::{Rc, Weak};

use chat_protocol::{Value, VisitorProfile};
use leptos::prelude::*;
use send_wrapper::SendWrapper;

use crate::page_widget::PageWidget;
use crate::settings::Settings;
use crate::ui::Ui;

/// The widget, once it is on the page. Empty on a server, where controls may be dropped on another thread.
type Widget = StoredValue<Option<SendWrapper<Weak<PageWidget>>>>;

/// Controls and observes a [`ChatWidget`](crate::ChatWidget).
///
/// Create it before the view and pass it to the component. It is `Copy`, and can be used in a context or a
/// closure like a signal. While no widget is on the page, calls do nothing, and the signals say closed, 0
/// unread, and `None` for the operator. Controls that were passed to several components control the last of
/// them.
///
/// ```
/// use chat_widget::{ChatControls, ChatWidget, Settings};
/// use leptos::prelude::*;
///
/// #[component]
/// fn App() -> impl IntoView {
///     let chat = ChatControls::new();
///     view! {
///         <button on:click=move |_| chat.open_for_visitor()>"Ask us (" {chat.unread()} ")"</button>
///         <ChatWidget settings=Settings::new("/connector") controls=chat/>
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ChatControls {
    widget: Widget,
    changed: StoredValue<ArcTrigger>,
    is_open: Signal<bool>,
    unread: Signal<u32>,
    operator_online: Signal<Option<bool>>,
}

impl ChatControls {
    /// Creates controls that live as long as the current reactive owner.
    pub fn new() -> Self {
        let widget = StoredValue::new(None);
        let changed = ArcTrigger::new();
        Self {
            widget,
            is_open: follow(widget, &changed, |ui| ui.state().open.get()),
            unread: follow(widget, &changed, |ui| ui.driver().session().unread()),
            operator_online: follow(widget, &changed, |ui| ui.driver().session().operator_online()),
            changed: StoredValue::new(changed),
        }
    }

    /// Opens the window. The focus stays where it is.
    pub fn open(&self) {
        self.with(|ui| ui.set_open(true, false));
    }

    /// Opens the window and moves the focus to the input, for a button of the application.
    pub fn open_for_visitor(&self) {
        self.with(|ui| ui.set_open(true, true));
    }

    /// Closes the window.
    pub fn close(&self) {
        self.with(|ui| ui.set_open(false, false));
    }

    /// Opens the window when it is closed, and closes it when it is open. The focus stays where it is.
    pub fn toggle(&self) {
        self.with(|ui| ui.set_open(!ui.state().open.get(), false));
    }

    /// Sends a message as the visitor: 1 to 4,000 characters, counted as UTF-16 code units (4.5). An empty or
    /// longer message is not sent.
    pub fn send_message(&self, text: impl Into<String>) {
        self.with(|ui| ui.driver().send(text.into()));
    }

    /// Replaces the text in the composer.
    pub fn set_draft(&self, text: impl Into<String>) {
        self.with(|ui| ui.set_draft(text.into()));
    }

    /// Applies other settings. `proxy`, `customer_id`, `inline`, `isolate`, `events` and `consent` stay those
    /// of the component; [`Self::identify`] changes the visitor.
    pub fn change(&self, settings: Settings) {
        if let Some(widget) = current(self.widget) {
            widget.change(settings);
        }
    }

    /// Merges a visitor profile, which later requests contain (2.8).
    pub fn identify(&self, visitor: VisitorProfile) {
        self.with(|ui| ui.driver().identify(visitor));
    }

    /// Reports an event of this type (2.7), with an object of data or [`Value::Null`], unless the settings, a
    /// missing consent or the visitor's browser forbid it.
    pub fn track(&self, event_type: impl Into<String>, data: Value) {
        self.with(|ui| ui.driver().track(event_type.into(), data));
    }

    /// Grants consent: from now on the conversation is stored, and events are reported.
    pub fn grant_consent(&self) {
        self.with(Ui::grant_consent);
    }

    /// Erases the visitor and the conversation on this device, in all tabs. The service keeps its copy.
    pub fn reset(&self) {
        self.with(Ui::reset);
    }

    /// Requests the chat config again (4.4), past the caches of the browser and the proxy.
    pub fn reload_config(&self) {
        self.with(|ui| ui.driver().reload_config());
    }

    /// Returns a signal: whether the window is open.
    pub fn is_open(&self) -> Signal<bool> {
        self.is_open
    }

    /// Returns a signal: the number of unread messages, over all tabs.
    pub fn unread(&self) -> Signal<u32> {
        self.unread
    }

    /// Returns a signal: whether a person of the site is online (4.7). `None` until the service has said so.
    pub fn operator_online(&self) -> Signal<Option<bool>> {
        self.operator_online
    }

    /// Returns the trigger that the widget notifies of changes.
    pub(crate) fn changed(&self) -> ArcTrigger {
        self.changed.try_get_value().unwrap_or_default()
    }

    /// Controls this widget from now on, without keeping it alive.
    pub(crate) fn take(&self, widget: &Rc<PageWidget>) {
        self.widget.try_set_value(Some(SendWrapper::new(Rc::downgrade(widget))));
        self.changed().notify();
    }

    fn with(&self, run: impl FnOnce(&Ui)) {
        with(self.widget, run);
    }
}

impl Default for ChatControls {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the widget, if it is on the page.
fn current(widget: Widget) -> Option<Rc<PageWidget>> {
    widget.try_with_value(|widget| widget.as_ref()?.upgrade())?
}

/// Runs a function on the widget, if it is on the page.
fn with<T>(widget: Widget, run: impl FnOnce(&Ui) -> T) -> Option<T> {
    current(widget).map(|widget| run(&widget.mounted.ui))
}

/// Returns a signal of a value that is read again whenever the widget changes.
fn follow<T>(widget: Widget, changed: &ArcTrigger, read: fn(&Ui) -> T) -> Signal<T>
where
    T: Default + PartialEq + Send + Sync + 'static,
{
    let changed = changed.clone();
    let value = Memo::new(move |_| {
        changed.track();
        with(widget, read).unwrap_or_default()
    });
    value.into()
}
