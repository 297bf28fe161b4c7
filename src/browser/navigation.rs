//! Navigation within a single-page application: by the Navigation API, and in browsers without it by patching
//! `history`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gloo_timers::callback::Timeout;
use js_sys::{Function, Object, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use web_sys::EventTarget;

use super::listener::Listener;
use super::window;

/// Applications set the title shortly after they navigate. Milliseconds.
const TITLE_DELAY_MS: u32 = 100;

/// Watches navigation to another path or query. Dropping it ends that, and restores `history`.
pub struct NavigationWatch {
    _listener: Listener,
    _patches: Vec<HistoryPatch>,
    _pending: Rc<RefCell<Option<Timeout>>>,
}

impl NavigationWatch {
    /// Calls `on_navigate` 100 ms after the last of a series of navigations.
    pub fn new(on_navigate: impl Fn() + Clone + 'static) -> Self {
        let pending = Rc::new(RefCell::default());
        let timer: Rc<RefCell<Option<Timeout>>> = Rc::clone(&pending);
        let last = RefCell::new(place());
        let check: Rc<dyn Fn()> = Rc::new(move || {
            let now = place();
            if last.replace(now.clone()) != now {
                timer.replace(Some(Timeout::new(TITLE_DELAY_MS, on_navigate.clone())));
            }
        });
        let on_event = {
            let check = Rc::clone(&check);
            move |_| check()
        };
        let navigation = Reflect::get(&window(), &"navigation".into()).ok().filter(JsValue::is_object);
        let (listener, patches) = match navigation {
            Some(navigation) => {
                let target: EventTarget = navigation.unchecked_into();
                (Listener::new(&target, "currententrychange", on_event), Vec::new())
            }
            None => (
                Listener::new(&window(), "popstate", on_event),
                ["pushState", "replaceState"]
                    .into_iter()
                    .filter_map(|name| HistoryPatch::new(name, Rc::clone(&check)))
                    .collect(),
            ),
        };
        Self { _listener: listener, _patches: patches, _pending: pending }
    }
}

/// Returns the path and the query of the page.
fn place() -> (Option<String>, Option<String>) {
    let location = window().location();
    (location.pathname().ok(), location.search().ok())
}

/// A method of `history` that calls a function after the original. Dropping it restores the original.
struct HistoryPatch {
    history: Object,
    name: JsValue,
    original: Function,
    /// Whether the page had replaced the browser's method already.
    is_own: bool,
    patched: Function,
    active: Rc<Cell<bool>>,
}

impl HistoryPatch {
    fn new(name: &str, on_call: Rc<dyn Fn()>) -> Option<Self> {
        let name = JsValue::from_str(name);
        let history: Object = Reflect::get(&window(), &"history".into()).ok()?.dyn_into().ok()?;
        let original: Function = Reflect::get(&history, &name).ok()?.dyn_into().ok()?;
        let active = Rc::new(Cell::new(true));
        let call = {
            let (history, original, active) = (history.clone(), original.clone(), Rc::clone(&active));
            move |state: JsValue, unused: JsValue, url: JsValue| -> Result<(), JsValue> {
                original.call3(&history, &state, &unused, &url)?;
                if active.get() {
                    on_call();
                }
                Ok(())
            }
        };
        // The page may keep the function, so that the browser decides when it is collected.
        let patched: Function =
            Closure::<dyn Fn(JsValue, JsValue, JsValue) -> Result<(), JsValue>>::new(call)
                .into_js_value()
                .unchecked_into();
        let is_own = Object::has_own(&history, &name);
        Reflect::set(&history, &name, &patched).ok()?;
        Some(Self { history, name, original, is_own, patched, active })
    }
}

impl Drop for HistoryPatch {
    fn drop(&mut self) {
        self.active.set(false);
        // A script that patched the method later calls this one.
        if Reflect::get(&self.history, &self.name).ok().as_ref() != Some(self.patched.as_ref()) {
            return;
        }
        // Fails only for a frozen object.
        _ = if self.is_own {
            Reflect::set(&self.history, &self.name, &self.original)
        } else {
            Reflect::delete_property(&self.history, &self.name)
        };
    }
}
