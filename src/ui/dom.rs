//! Elements, made as they are called for, and kept up to date by Leptos's effects.
//!
//! Leptos's own elements carry their attributes and children in their types, and so compile to code of their own for
//! each element of the page. These are all of one type, and what follows the state is a plain function of it:
//! `docs/decisions/0003-elements-of-one-type.md` has the figures. Nothing here parses HTML, which a page's Trusted
//! Types would forbid.

use chat_protocol::decimal;
use leptos::prelude::RenderEffect;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{DomTokenList, Element, Event, Node, Text};

use super::Ui;
use crate::browser::document;
use crate::text::strings::Text as Words;
use crate::text::take;

/// An element under construction, with all in it that follows the state. In a box, because each call that builds it
/// takes it and gives it back: copying it there weighs 1 KB more (brotli).
pub(crate) struct El(Box<Parts>);

struct Parts {
    element: Element,
    ui: Ui,
    bindings: Vec<Binding>,
}

/// Something that is brought up to date when the state has changed.
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

/// Which children there are.
enum Keys {
    /// One, of the same key as its parent's, or none.
    One(fn(&Ui) -> bool),
    /// As many as there are keys.
    Each(fn(&Ui) -> Vec<u32>),
}

/// An element on the page that may go again: dropping it takes it out, and ends what kept it up to date.
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
    /// An HTML element, with the classes and attributes that it always has: `tag.class.class name=value name=value`.
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

    /// An SVG element.
    pub(crate) fn svg(&self, tag: &str) -> El {
        El::new(document().create_element_ns(Some("http://www.w3.org/2000/svg"), tag), self)
    }
}

impl El {
    fn new(made: Result<Element, JsValue>, ui: &Ui) -> Self {
        // `expect` would bring along how any value of JavaScript is printed.
        let Ok(element) = made else { unreachable!("the tags are this crate's own") };
        Self(Box::new(Parts { element, ui: ui.clone(), bindings: Vec::new() }))
    }

    /// The element itself, as `T` when it is known to be one.
    pub(crate) fn node<T: JsCast>(&self) -> T {
        self.0.element.clone().unchecked_into()
    }

    /// A name for those who do not see it.
    pub(crate) fn label(self, text: Words) -> Self {
        let text = self.0.ui.text(text);
        self.attr("aria-label", &text)
    }

    /// A text of the interface.
    pub(crate) fn says(self, text: Words) -> Self {
        let text = self.0.ui.text(text);
        self.text(&text)
    }

    pub(crate) fn attr(self, name: &str, value: &str) -> Self {
        set(&self.0.element, name, Some(value));
        self
    }

    /// An attribute that follows the state; without a value it is not there.
    pub(crate) fn attr_with(self, name: &'static str, value: fn(&Ui) -> Option<String>) -> Self {
        let element = self.0.element.clone();
        self.bind(What::Attr { element, name, value, shown: None })
    }

    /// A class that is there while `on` says so.
    pub(crate) fn class_if(self, name: &'static str, on: fn(&Ui) -> bool) -> Self {
        let classes = self.0.element.class_list();
        self.bind(What::Class { classes, name, on })
    }

    pub(crate) fn text(self, text: &str) -> Self {
        self.append(&document().create_text_node(text));
        self
    }

    /// Text that follows the state.
    pub(crate) fn text_with(self, text: fn(&Ui) -> String) -> Self {
        let node = document().create_text_node("");
        self.append(&node);
        self.bind(What::Text { node, text, shown: String::new() })
    }

    pub(crate) fn child(mut self, child: Self) -> Self {
        self.append(&child.0.element);
        self.0.bindings.extend(child.0.bindings);
        self
    }

    /// A child that is there while `on` says so, made anew each time.
    pub(crate) fn child_if(self, on: fn(&Ui) -> bool, child: fn(&Ui) -> Self) -> Self {
        self.children(Keys::One(on), child)
    }

    /// Children in the order of their keys: made when a key comes, moved when it moves, dropped when it goes. `child`
    /// finds its key in [`Ui::key`].
    pub(crate) fn each(self, keys: fn(&Ui) -> Vec<u32>, child: fn(&Ui) -> Self) -> Self {
        self.children(Keys::Each(keys), child)
    }

    fn children(self, keys: Keys, child: fn(&Ui) -> Self) -> Self {
        // An empty text that stays behind the children, so that they find their place.
        let end = document().create_text_node("");
        self.append(&end);
        self.bind(What::Children { end, keys, child, shown: Vec::new() })
    }

    /// Calls `run` on each event of a kind.
    pub(crate) fn on(self, kind: &str, run: fn(&Ui, &Event)) -> Self {
        let ui = self.0.ui.clone();
        // The browser lets go of the function with the element.
        let function = Closure::<dyn FnMut(Event)>::new(move |event| run(&ui, &event)).into_js_value();
        _ = self.0.element.add_event_listener_with_callback(kind, function.unchecked_ref());
        self
    }

    /// Runs when the element is there, and whenever the state has changed.
    pub(crate) fn run(self, run: impl FnMut(&Ui) + 'static) -> Self {
        self.bind(What::Run(Box::new(run)))
    }

    fn bind(mut self, what: What) -> Self {
        self.0.bindings.push(Binding { ui: self.0.ui.clone(), what });
        self
    }

    fn append(&self, node: &Node) {
        // Appending to an element that was made here does not fail.
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
        // One that stands there already stays: what is moved loses its focus, and may be announced again.
        if known != Some(0)
            && let Some(parent) = end.parent_node()
        {
            let before: &Node = rest.first().map_or(end, |child| &child.element);
            _ = parent.insert_before(&next.element, Some(before));
        }
        shown.push(next);
    }
}

/// A value for an attribute that is true or false. Formatting by the standard library would weigh more.
pub(crate) fn flag(value: bool) -> String {
    if value { "true" } else { "false" }.to_owned()
}

/// A length for a style.
pub(crate) fn pixels(length: i32) -> String {
    decimal(length.into()) + "px"
}

fn set(element: &Element, name: &str, value: Option<&str>) {
    // Fails only for a name that is no name.
    _ = match value {
        Some(value) => element.set_attribute(name, value),
        None => element.remove_attribute(name),
    };
}
