//! The widget as a component of a Leptos application.

use std::rc::Rc;

use chat_session::SessionEvent;
use leptos::html::{Custom, custom};
use leptos::prelude::*;
use send_wrapper::SendWrapper;

use crate::client::{Source, VisitorToken};
use crate::controls::ChatControls;
use crate::events::ChatEvent;
use crate::page_widget::PageWidget;
use crate::settings::Settings;
use crate::theme::Theme;

/// Renders a chat widget: a launcher in the corner of the page, and the window that it opens, in a shadow
/// root.
///
/// The widget is removed when the component's owner is cleaned up. The host of the shadow root is an element
/// `<chat-widget>`, on which a style sheet of the page may set every token (`chat-widget { --cw-accent:
/// purple }`).
///
/// The component works with `leptos/csr`, and with `leptos/hydrate` and a server with `leptos/ssr`, which
/// renders an empty element.
///
/// ```
/// use chat_widget::{ChatControls, ChatEvent, ChatWidget, Settings, Theme};
/// use leptos::prelude::*;
///
/// #[component]
/// fn App() -> impl IntoView {
///     let chat = ChatControls::new();
///     let evening = RwSignal::new(false);
///     let theme = Signal::derive(move || if evening.get() { Theme::Slate } else { Theme::Emerald });
///     let on_event = move |event| {
///         if let ChatEvent::Message { role, content, .. } = event {
///             leptos::logging::log!("{}: {content}", role.as_str());
///         }
///     };
///     view! {
///         <main>"The page"</main>
///         <ChatWidget settings=Settings::new("/connector") theme on_event controls=chat/>
///     }
/// }
/// ```
#[component]
pub fn ChatWidget(
    /// Options of the site. Read when the component is put on the page; [`ChatControls::change`] changes
    /// them.
    settings: Settings,
    /// Theme, or a signal of one that the look follows.
    #[prop(optional, into)]
    theme: Signal<Theme>,
    /// Token by which the site proves who the visitor is, or a signal of one; `None` if nobody is signed in.
    /// With another one, the widget shows what belongs to the person whom it proves.
    #[prop(optional, into)]
    visitor_token: Signal<Option<VisitorToken>>,
    /// Called with each event, after the widget has handled it.
    #[prop(optional, into)]
    on_event: Option<Callback<ChatEvent>>,
    /// Controls of the widget, for the application.
    #[prop(optional)]
    controls: Option<ChatControls>,
) -> impl IntoView {
    let host = NodeRef::<Custom<&'static str>>::new();
    let controls = controls.unwrap_or_default();
    // Empty on a server, where the owner may be cleaned up on another thread.
    let widget = StoredValue::new(None::<SendWrapper<Rc<PageWidget>>>);
    let changed = controls.changed();
    let shown = changed.clone();
    Effect::new(move |_| {
        let Some(host) = host.get() else { return };
        let on_event = move |event: SessionEvent| {
            if let Some(on_event) = on_event {
                let event = ChatEvent::from(event);
                // In a separate microtask, so that the handler may call every control, or remove the widget.
                queue_microtask(move || _ = on_event.try_run(event));
            }
        };
        let created = PageWidget::new(
            settings.clone(),
            host,
            theme.get_untracked(),
            visitor_token.get_untracked().map(Source::Token),
            shown.clone(),
            Box::new(on_event),
        );
        match created {
            Ok(created) => {
                let created = Rc::new(created);
                controls.take(&created);
                widget.set_value(Some(SendWrapper::new(created)));
            }
            Err(error) => leptos::logging::error!("chat widget: the browser refused the widget: {error:?}"),
        }
    });
    let show = move |theme: &Theme, _: Option<&Theme>, _: Option<()>| {
        let shown = widget.with_value(|widget| widget.as_ref().map(|widget| widget.set_theme(*theme)));
        if let Some(Err(error)) = shown {
            leptos::logging::error!("chat widget: the browser refused the theme: {error:?}");
        }
    };
    Effect::watch(move || theme.get(), show, false);
    let prove = move |token: &Option<VisitorToken>, _: Option<&Option<VisitorToken>>, _: Option<()>| {
        widget.with_value(|widget| {
            if let Some(widget) = widget {
                widget.mounted.ui.driver().set_visitor_token(token.clone().map(Source::Token));
            }
        });
    };
    Effect::watch(move || visitor_token.get(), prove, false);
    on_cleanup(move || {
        widget.dispose();
        changed.notify();
    });
    custom("chat-widget").node_ref(host)
}
