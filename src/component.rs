//! The widget as a component of a Leptos application.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use crate::mount::Mounted;
use crate::settings::Settings;
use crate::theme::Theme;

/// A chat widget: a launcher in the corner of the page, and the window that it opens, in a shadow root of their own.
///
/// It goes with the component: when its owner is cleaned up, nothing of it stays on the page.
///
/// ```
/// use chat_widget::{ChatWidget, Settings, Theme};
/// use leptos::prelude::*;
///
/// #[component]
/// fn App() -> impl IntoView {
///     view! {
///         <main>"The page"</main>
///         <ChatWidget settings=Settings::new("/connector") theme=Theme::Emerald/>
///     }
/// }
/// ```
#[component]
pub fn ChatWidget(
    /// What the site chooses; the proxy's prefix at least.
    settings: Settings,
    /// The preset to show.
    #[prop(optional)]
    theme: Theme,
) -> impl IntoView {
    let host = NodeRef::<html::Div>::new();
    let mounted = StoredValue::new_local(None::<Mounted>);
    Effect::new(move |_| {
        if let Some(host) = host.get() {
            let result =
                Mounted::new(host.unchecked_ref(), settings.clone(), theme.sheet(), None, Box::new(|_| {}));
            match result {
                Ok(widget) => mounted.set_value(Some(widget)),
                Err(error) => leptos::logging::error!("chat widget: the browser refused: {error:?}"),
            }
        }
    });
    on_cleanup(move || mounted.dispose());
    view! { <div node_ref=host></div> }
}
