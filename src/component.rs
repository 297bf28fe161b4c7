//! The widget as a component of a Leptos application.

use std::rc::Rc;

use chat_session::News;
use leptos::html::{Custom, custom};
use leptos::prelude::*;

use crate::browser::style_sheet;
use crate::controls::ChatControls;
use crate::events::ChatEvent;
use crate::mount::{Mounted, STYLES};
use crate::settings::Settings;
use crate::theme::Theme;

/// A chat widget: a launcher in the corner of the page, and the window that it opens, in a shadow root of their own.
///
/// It goes with the component: when its owner is cleaned up, nothing of it stays on the page. The element that carries
/// the shadow root is `<chat-widget>`, on which a style sheet of the page may set any token
/// (`chat-widget { --cw-accent: purple }`).
///
/// It is for applications that are rendered in the browser (`leptos/csr`).
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
    /// What the site chooses; the proxy's prefix at least.
    settings: Settings,
    /// The preset to show; a signal, when it is to change.
    #[prop(optional, into)]
    theme: Signal<Theme>,
    /// Told of each event, after the widget has done what it had to do about it.
    #[prop(optional, into)]
    on_event: Option<UnsyncCallback<ChatEvent>>,
    /// What the application controls the widget by.
    #[prop(optional)]
    controls: Option<ChatControls>,
) -> impl IntoView {
    let host = NodeRef::<Custom<&'static str>>::new();
    let controls = controls.unwrap_or_default();
    let widget = StoredValue::new_local(None::<Rc<Mounted>>);
    let changed = controls.changed();
    let shown = changed.clone();
    Effect::new(move |_| {
        let Some(host) = host.get() else { return };
        let on_news = move |news: News| {
            if let Some(on_event) = on_event {
                let event = ChatEvent::from(news);
                // Later, so that the application may do with the widget what it likes: nothing is in the middle of a call then.
                queue_microtask(move || _ = on_event.try_run(event));
            }
        };
        let mounted = Mounted::new(settings.clone().for_page(), None, shown.clone(), Box::new(on_news));
        match mounted.show(&host, theme.get_untracked().sheet()) {
            Ok(()) => {
                let mounted = Rc::new(mounted);
                controls.take(&mounted);
                widget.set_value(Some(mounted));
            }
            Err(error) => leptos::logging::error!("chat widget: the browser refused: {error:?}"),
        }
    });
    let show = move |theme: &Theme, _: Option<&Theme>, _: Option<()>| {
        let root = host.get_untracked().and_then(|host| host.shadow_root());
        if let Some(Err(error)) = root.map(|root| style_sheet::replace(&root, &[theme.sheet(), STYLES])) {
            leptos::logging::error!("chat widget: the browser refused the theme: {error:?}");
        }
    };
    Effect::watch(move || theme.get(), show, false);
    on_cleanup(move || {
        widget.dispose();
        changed.notify();
    });
    custom("chat-widget").node_ref(host)
}
