//! Reads the elements of components.

use leptos::html::ElementType;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

/// Reads an element in handlers, timers and tasks. They may run when the component is gone, where
/// `get_untracked` would panic: an element that is removed while it has the focus still gets `focusout`.
pub trait Rendered {
    /// The type of the element.
    type Element;

    /// Returns the element while its component exists.
    fn rendered(self) -> Option<Self::Element>;
}

impl<E> Rendered for NodeRef<E>
where
    E: ElementType,
    E::Output: JsCast + Clone + 'static,
{
    type Element = E::Output;

    fn rendered(self) -> Option<E::Output> {
        self.try_get_untracked().flatten()
    }
}
