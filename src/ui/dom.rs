//! Elements that Leptos's effects keep up to date.
//!
//! Leptos's own elements carry their attributes and children in their types, which generates separate code
//! for each. The elements of this module have one type, and bindings are plain functions of the state:
//! `docs/decisions/0003-elements-of-one-type.md` has the figures. Nothing here parses HTML, which Trusted
//! Types forbid.

use chat_protocol::decimal;
use leptos::prelude::RenderEffect;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DomTokenList, Element, Event, Node, Text};

use super::Ui;
use crate::browser::document;
use crate::text::strings::Text as Words;
use crate::text::take;

/// An element under construction, with the bindings of its subtree. It is boxed because each method takes and
/// returns it: moving the parts would add 1 KB (brotli).
pub(crate) struct El(Box<Parts>);

struct Parts {
    element: Element,
    ui: Ui,
    bindings: Vec<Binding>,
}

/// A part of the page that is updated after a change of the state.
struct Binding {
    ui: Ui,
    what: What,
}

enum What {
    Attr { element: Element, name: &'static str, value: fn(&Ui) -> Option<String>, shown: Option<String> },
    Class { classes: DomTokenList, name: &'static str, on: fn(&Ui) -> bool },
    Text { node: Text, text: fn(&Ui) -> String, shown: String },
    Children { end: Text, keys: Keys, child: fn(&Ui) -> El, shown: Vec<Scope> },
    Run(Box<dyn FnMut(&Ui)>),
}

/// The keys of the children.
enum Keys {
    /// One child with the key of its parent, or none.
    One(fn(&Ui) -> bool),
    /// One child for each key.
    Each(fn(&Ui) -> Vec<u32>),
}

/// An element on the page. Dropping it removes the element and its effect.
pub(crate) struct Scope {
    key: u32,
    pub(crate) element: Element,
    _effect: RenderEffect<()>,
}

impl Scope {
    pub(crate) fn new(el: El) -> Self {
        let Parts { element, ui, mut bindings } = *el.0;
        let key = ui.key;
        let effect = RenderEffect::new(move |_| {
            ui.track();
            bindings.iter_mut().for_each(Binding::update);
        });
        Self { key, element, _effect: effect }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.element.remove();
    }
}

impl Ui {
    /// Creates an HTML element with constant classes and attributes: `tag.class.class name=value name=value`.
    pub(crate) fn el(&self, mut what: &str) -> El {
        let mut classes = take(&mut what, b' ');
        let el = El::new(document().create_element(take(&mut classes, b'.')), self);
        while !classes.is_empty() {
            // Fails only for a name with white space.
            _ = el.0.element.class_list().toggle_with_force(take(&mut classes, b'.'), true);
        }
        while !what.is_empty() {
            let mut value = take(&mut what, b' ');
            set(&el.0.element, take(&mut value, b'='), Some(value));
        }
        el
    }

    /// Creates an SVG element.
    pub(crate) fn svg(&self, tag: &str) -> El {
        El::new(document().create_element_ns(Some("http://www.w3.org/2000/svg"), tag), self)
    }
}

impl El {
    fn new(created: Result<Element, JsValue>, ui: &Ui) -> Self {
        // `expect` would include the formatting of JavaScript values.
        let Ok(element) = created else { unreachable!("every tag name is a constant of this crate") };
        Self(Box::new(Parts { element, ui: ui.clone(), bindings: Vec::new() }))
    }

    /// Returns the element. The caller knows that it is a `T`.
    pub(crate) fn node<T: JsCast>(&self) -> T {
        self.0.element.clone().unchecked_into()
    }

    /// Sets the accessible name.
    pub(crate) fn label(self, text: Words) -> Self {
        let text = self.0.ui.text(text);
        self.attr("aria-label", &text)
    }

    /// Adds a text of the interface.
    pub(crate) fn says(self, text: Words) -> Self {
        let text = self.0.ui.text(text);
        self.text(&text)
    }

    /// Sets an attribute.
    pub(crate) fn attr(self, name: &str, value: &str) -> Self {
        set(&self.0.element, name, Some(value));
        self
    }

    /// Binds an attribute. `None` removes it.
    pub(crate) fn attr_with(self, name: &'static str, value: fn(&Ui) -> Option<String>) -> Self {
        let element = self.0.element.clone();
        self.bind(What::Attr { element, name, value, shown: None })
    }

    /// Binds a class, which is set while `on` returns true.
    pub(crate) fn class_if(self, name: &'static str, on: fn(&Ui) -> bool) -> Self {
        let classes = self.0.element.class_list();
        self.bind(What::Class { classes, name, on })
    }

    /// Adds a text.
    pub(crate) fn text(self, text: &str) -> Self {
        self.append(&document().create_text_node(text));
        self
    }

    /// Adds a text and binds it.
    pub(crate) fn text_with(self, text: fn(&Ui) -> String) -> Self {
        let node = document().create_text_node("");
        self.append(&node);
        self.bind(What::Text { node, text, shown: String::new() })
    }

    /// Adds a child.
    pub(crate) fn child(mut self, child: Self) -> Self {
        self.append(&child.0.element);
        self.0.bindings.extend(child.0.bindings);
        self
    }

    /// Adds a child that exists while `on` returns true. Each time, `child` creates it.
    pub(crate) fn child_if(self, on: fn(&Ui) -> bool, child: fn(&Ui) -> Self) -> Self {
        self.children(Keys::One(on), child)
    }

    /// Adds a child for each key, in their order. Children are created, moved and dropped with their keys.
    /// `child` finds its key in [`Ui::key`].
    pub(crate) fn each(self, keys: fn(&Ui) -> Vec<u32>, child: fn(&Ui) -> Self) -> Self {
        self.children(Keys::Each(keys), child)
    }

    fn children(self, keys: Keys, child: fn(&Ui) -> Self) -> Self {
        // An empty text after the children marks their place.
        let end = document().create_text_node("");
        self.append(&end);
        self.bind(What::Children { end, keys, child, shown: Vec::new() })
    }

    /// Calls `run` on each event of a kind.
    pub(crate) fn on(self, kind: &str, run: fn(&Ui, &Event)) -> Self {
        let ui = self.0.ui.clone();
        // The browser collects the function with the element.
        let function = Closure::<dyn FnMut(Event)>::new(move |event| run(&ui, &event)).into_js_value();
        _ = self.0.element.add_event_listener_with_callback(kind, function.unchecked_ref());
        self
    }

    /// Runs a function when the element is complete, and after each change of the state.
    pub(crate) fn run(self, run: impl FnMut(&Ui) + 'static) -> Self {
        self.bind(What::Run(Box::new(run)))
    }

    fn bind(mut self, what: What) -> Self {
        self.0.bindings.push(Binding { ui: self.0.ui.clone(), what });
        self
    }

    fn append(&self, node: &Node) {
        // Appending to an element that was created here does not fail.
        _ = self.0.element.append_child(node);
    }
}

impl Binding {
    fn update(&mut self) {
        let ui = &self.ui;
        match &mut self.what {
            What::Attr { element, name, value, shown } => {
                let value = value(ui);
                if *shown != value {
                    set(element, name, value.as_deref());
                    *shown = value;
                }
            }
            // Fails only for a name with white space.
            What::Class { classes, name, on } => _ = classes.toggle_with_force(name, on(ui)),
            What::Text { node, text, shown } => {
                let text = text(ui);
                if *shown != text {
                    node.set_data(&text);
                    *shown = text;
                }
            }
            What::Children { end, keys, child, shown } => {
                let keys = match keys {
                    Keys::One(on) => Vec::from_iter(on(ui).then_some(ui.key)),
                    Keys::Each(keys) => keys(ui),
                };
                update_children(ui, end, &keys, *child, shown);
            }
            What::Run(run) => run(ui),
        }
    }
}

fn update_children(ui: &Ui, end: &Text, keys: &[u32], child: fn(&Ui) -> El, shown: &mut Vec<Scope>) {
    let same = shown.iter().zip(keys).take_while(|(child, key)| child.key == **key).count();
    let mut rest = shown.split_off(same);
    for key in &keys[same..] {
        let known = rest.iter().position(|child| child.key == *key);
        let next = match known {
            Some(index) => rest.remove(index),
            None => Scope::new(child(&ui.at(*key))),
        };
        // A child in its place is not moved: a moved element loses the focus, and may be announced again.
        if known != Some(0)
            && let Some(parent) = end.parent_node()
        {
            let before: &Node = rest.first().map_or(end, |child| &child.element);
            _ = parent.insert_before(&next.element, Some(before));
        }
        shown.push(next);
    }
}

/// Returns the value of a Boolean attribute. The formatting of the standard library would be larger.
pub(crate) fn flag(value: bool) -> String {
    if value { "true" } else { "false" }.to_owned()
}

/// Returns a length for a style.
pub(crate) fn pixels(length: i32) -> String {
    decimal(length.into()) + "px"
}

fn set(element: &Element, name: &str, value: Option<&str>) {
    // Fails only for an invalid name.
    _ = match value {
        Some(value) => element.set_attribute(name, value),
        None => element.remove_attribute(name),
    };
}
