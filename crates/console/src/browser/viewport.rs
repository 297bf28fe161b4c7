//! The part of the window that the keyboard of a phone leaves.

use super::listener::Listener;
use super::{document, window};

/// Keeps the height of the visible part in the property `--viewport-height` of the page's root. Browsers that
/// make the page smaller themselves need none.
pub fn follow() {
    let Some(viewport) = window().visual_viewport() else { return };
    let seen = viewport.clone();
    let listener = Listener::new(&viewport, "resize", move |_| {
        let Some(style) = document().document_element().as_ref().and_then(style_of) else { return };
        let full = window().inner_height().ok().and_then(|height| height.as_f64()).unwrap_or_default();
        // A page that is zoomed in is larger than its visible part as well.
        if seen.scale() <= 1.01 && full - seen.height() > 1.0 {
            _ = style.set_property("--viewport-height", &format!("{}px", seen.height()));
        } else {
            _ = style.remove_property("--viewport-height");
        }
    });
    // The page listens as long as it exists.
    std::mem::forget(listener);
}

fn style_of(element: &web_sys::Element) -> Option<web_sys::CssStyleDeclaration> {
    use wasm_bindgen::JsCast;
    Some(element.dyn_ref::<web_sys::HtmlElement>()?.style())
}
