//! A widget's controls, for the application around it.

use std::rc::{Rc, Weak};

use chat_protocol::{Value, VisitorProfile};
use leptos::prelude::*;
use send_wrapper::SendWrapper;

use crate::page_widget::PageWidget;
use crate::settings::Settings;
use crate::ui::Ui;

/// The widget, once it is on the page. Empty on a server, where controls may be dropped on another thread.
type Widget = StoredValue<Option<SendWrapper<Weak<PageWidget>>>>;

/// What an application does with its [`ChatWidget`](crate::ChatWidget), and knows of it.
///
/// It is made before the view, given to the component, and used from anywhere: it is `Copy`, and goes into a context or
/// a closure like a signal. Before the widget is on the page, and after it was taken off, there is nothing to control:
/// calls do nothing then, and the signals say closed, nothing unread, nobody known to be there. It controls the widget
/// that it was given to last.
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
    /// Controls of a widget that is yet to come. They live as long as the reactive owner in which they are made.
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

    /// Opens the window for a visitor who asked for it, by a button of the application's own: the focus goes where they
    /// write.
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

    /// Sends a message as the visitor would: 1 to 4,000 characters, counted as UTF-16 code units (4.5). One that is empty
    /// or longer is not sent.
    pub fn send_message(&self, text: impl Into<String>) {
        self.with(|ui| ui.driver().send(text.into()));
    }

    /// Puts a text into the composer, in place of what the visitor has typed there.
    pub fn set_draft(&self, text: impl Into<String>) {
        self.with(|ui| ui.set_draft(text.into()));
    }

    /// Goes on with other settings, all but the proxy, the customer, `inline`, `isolate` and the consent, which are those
    /// that the component was made with, and the visitor: see [`Self::identify`].
    pub fn change(&self, settings: Settings) {
        if let Some(widget) = current(self.widget) {
            widget.change(settings);
        }
    }

    /// Takes over what a visitor profile says (2.8).
    pub fn identify(&self, visitor: VisitorProfile) {
        self.with(|ui| ui.driver().identify(visitor));
    }

    /// Reports an event of this type (2.7), with an object of your own data or [`Value::Null`], unless the settings or the
    /// visitor's browser say that nothing is reported.
    pub fn track(&self, event_type: impl Into<String>, data: Value) {
        self.with(|ui| ui.driver().track(event_type.into(), data));
    }

    /// The visitor agreed to be remembered: from now on the conversation is kept, and events are reported.
    pub fn grant_consent(&self) {
        self.with(Ui::consent);
    }

    /// Forgets the visitor and the conversation on this device, in all its tabs. What the service has stays there.
    pub fn reset(&self) {
        self.with(Ui::reset);
    }

    /// Asks the proxy for the chat config again (4.4).
    pub fn reload_config(&self) {
        self.with(|ui| ui.driver().reload_config());
    }

    /// Whether the window is open.
    pub fn is_open(&self) -> Signal<bool> {
        self.is_open
    }

    /// How many messages came in while nobody looked, in whatever tab.
    pub fn unread(&self) -> Signal<u32> {
        self.unread
    }

    /// Whether a person of the site is there; unknown until the service has said so (4.7).
    pub fn operator_online(&self) -> Signal<Option<bool>> {
        self.operator_online
    }

    /// What the signals follow: a widget that is made with it notifies it when it has changed.
    pub(crate) fn changed(&self) -> ArcTrigger {
        self.changed.try_get_value().unwrap_or_default()
    }

    /// From now on this widget is controlled, for as long as somebody else keeps it.
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

/// The widget, if it is on the page.
fn current(widget: Widget) -> Option<Rc<PageWidget>> {
    widget.try_with_value(|widget| widget.as_ref()?.upgrade())?
}

/// Reads or does something, if the widget is on the page.
fn with<T>(widget: Widget, run: impl FnOnce(&Ui) -> T) -> Option<T> {
    current(widget).map(|widget| run(&widget.mounted.ui))
}

/// Something of the widget that is read again when the widget has changed.
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
