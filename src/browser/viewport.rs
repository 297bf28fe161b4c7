//! The visual viewport: its size, the on-screen keyboard, and the scroll lock of the page.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{CssStyleDeclaration, Element, EventTarget, HtmlElement, ResizeObserver};

use super::listener::Listener;
use super::{document, window};

/// Calls a function whenever the viewport changes, until the listeners are dropped.
pub fn follow(on_change: impl Fn() + Clone + 'static) -> Vec<Listener> {
    let window = window();
    let mut targets: Vec<(EventTarget, &'static str)> = Vec::new();
    if let Some(viewport) = window.visual_viewport() {
        targets.push((viewport.clone().into(), "resize"));
        targets.push((viewport.into(), "scroll"));
    }
    targets.push((window.into(), "resize"));
    let mut listeners = Vec::new();
    for (target, kind) in targets {
        let on_change = on_change.clone();
        listeners.push(Listener::new(&target, kind, move |_| on_change()));
    }
    listeners
}

/// Calls a function whenever an element changes its size, or is hidden or shown. Both are collected with the
/// element.
pub fn when_resized(element: &Element, on_change: impl Fn() + 'static) {
    let function = Closure::<dyn Fn()>::new(on_change).into_js_value();
    // Only a browser without such an observer has none to give.
    if let Ok(observer) = ResizeObserver::new(function.unchecked_ref()) {
        observer.observe(element);
    }
}

/// Returns whether a media query matches.
pub fn matches(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|query| query.matches())
}

/// Returns whether the primary pointer is coarse: a finger.
pub fn is_touch() -> bool {
    matches("(pointer: coarse)")
}

/// Returns the top of the visual viewport, from the top of the window, and its height. Pixels.
#[expect(clippy::cast_possible_truncation, reason = "lengths on a screen")]
pub fn seen() -> Option<(i32, i32)> {
    let viewport = window().visual_viewport()?;
    Some((viewport.offset_top() as i32, viewport.height() as i32))
}

/// Keeps the page from scrolling until it is dropped.
pub struct ScrollLock {
    style: CssStyleDeclaration,
    /// The page's own.
    overflow: String,
}

impl ScrollLock {
    /// Locks the page's scroll position.
    pub fn new() -> Option<Self> {
        let style = document().document_element()?.unchecked_into::<HtmlElement>().style();
        let overflow = style.get_property_value("overflow").unwrap_or_default();
        _ = style.set_property("overflow", "hidden");
        Some(Self { style, overflow })
    }
}

impl Drop for ScrollLock {
    fn drop(&mut self) {
        _ = self.style.set_property("overflow", &self.overflow);
    }
}
