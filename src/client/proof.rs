//! The proof of the visitor: a token that the site has signed, from the page.

use std::cell::{Cell, RefCell};
use std::fmt::{self, Debug, Formatter};
use std::rc::Rc;
use std::sync::Arc;

use chat_protocol::Value;
use js_sys::{Array, Promise};
#[cfg(feature = "js-api")]
use wasm_bindgen::JsCast;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

use super::json;
use super::promise::settled;
use crate::browser;

/// Maximum time to wait for a function of the page. Milliseconds.
const TIMEOUT_MS: i32 = 10_000;
/// Time for which a page that gave no usable token is not asked again. Milliseconds.
const PAUSE_MS: f64 = 60_000.0;

/// A token by which the site proves who the visitor is: a short-lived JWT that the site's server has signed.
/// It is never stored, and is sent to the proxy only.
///
/// ```
/// use chat_widget::VisitorToken;
///
/// // Called again after the service has refused a token that has expired. `None`: nobody is signed in.
/// let token = VisitorToken::from_fn(|| async { Some(fetch_token().await) });
/// # async fn fetch_token() -> String { String::new() }
/// ```
#[derive(Clone)]
pub struct VisitorToken {
    /// Returns a text, null if nobody is signed in, or a promise of one of them.
    get: Arc<dyn Fn() -> JsValue + Send + Sync>,
    /// Whether it may return another token later.
    renews: bool,
}

impl VisitorToken {
    /// Creates a token of which the page has no other. When it has expired, the visitor is unverified.
    pub fn new(token: impl Into<String>) -> Self {
        let token = token.into();
        Self { get: Arc::new(move || JsValue::from_str(&token)), renews: false }
    }

    /// Creates a token from a function, which is called again after the service has refused its last token.
    /// It returns `None` if nobody is signed in.
    pub fn from_fn<F, T>(token: F) -> Self
    where
        F: Fn() -> T + Send + Sync + 'static,
        T: Future<Output = Option<String>> + 'static,
    {
        let get = move || {
            let token = token();
            future_to_promise(async move { Ok(token.await.map_or(JsValue::NULL, JsValue::from)) }).into()
        };
        Self { get: Arc::new(get), renews: true }
    }
}

impl Debug for VisitorToken {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("VisitorToken")
    }
}

/// The source of the token.
#[derive(Clone)]
pub(crate) enum Source {
    /// That of an application in Rust.
    Token(VisitorToken),
    /// The option of a page: a text or a function. It stays on its thread: a wrapper for others would add the
    /// code of a second allocator.
    #[cfg(feature = "js-api")]
    Option(JsValue),
}

impl Source {
    /// Takes the option of a page. Anything but a text and a function means that nobody is signed in.
    #[cfg(feature = "js-api")]
    pub(crate) fn of(option: JsValue) -> Option<Self> {
        let is_text = option.as_string().is_some_and(|text| !text.is_empty());
        (is_text || option.is_function()).then_some(Self::Option(option))
    }

    /// Returns whether it may give another token later.
    fn renews(&self) -> bool {
        match self {
            Self::Token(token) => token.renews,
            #[cfg(feature = "js-api")]
            Self::Option(option) => option.is_function(),
        }
    }

    /// Returns a text, null if nobody is signed in, or a promise of one of them.
    fn get(&self) -> JsValue {
        match self {
            Self::Token(token) => (token.get)(),
            #[cfg(feature = "js-api")]
            Self::Option(option) => match option.dyn_ref::<js_sys::Function>() {
                Some(function) => function
                    .call0(&JsValue::UNDEFINED)
                    .unwrap_or_else(|thrown| Promise::reject(&thrown).into()),
                None => option.clone(),
            },
        }
    }
}

/// The answer to the question of who the visitor is.
pub(crate) enum Proof {
    /// This token proves who it is.
    Token(String),
    /// Nobody is signed in.
    Nobody,
    /// There is no usable token now.
    Unavailable,
}

type OnPerson = Box<dyn Fn(Option<String>)>;

/// Asks the page for the proof, once for all requests. Clones share it.
#[derive(Clone, Default)]
pub(crate) struct Prover(Rc<Inner>);

#[derive(Default)]
struct Inner {
    source: RefCell<Option<Source>>,
    /// The page's last answer, or the promise of it. It is used until the service refuses the token.
    asked: RefCell<Option<JsValue>>,
    /// The token that it gave.
    token: RefCell<String>,
    /// The page is not asked before this time. Milliseconds since the Unix epoch.
    paused_until_ms: Cell<f64>,
    on_person: RefCell<Option<OnPerson>>,
}

impl Prover {
    /// Sets the page's option; `None` if nobody is signed in.
    pub(crate) fn set(&self, source: Option<Source>) {
        self.0.source.replace(source);
        self.forget();
    }

    /// Calls a function with each person that a token names, and with `None` if the page says that nobody is
    /// signed in.
    pub(crate) fn on_person(&self, on_person: OnPerson) {
        self.0.on_person.replace(Some(on_person));
    }

    /// Returns whether there may be a token.
    pub(crate) fn is_set(&self) -> bool {
        self.0.source.borrow().is_some()
    }

    /// Forgets the token. Returns whether the page may give another one.
    pub(crate) fn forget(&self) -> bool {
        self.0.asked.take();
        self.0.token.take();
        self.0.paused_until_ms.set(0.0);
        self.0.source.borrow().as_ref().is_some_and(Source::renews)
    }

    /// Returns the proof. Calls that come while the page is asked wait for the same answer.
    pub(crate) async fn proof(&self) -> Proof {
        loop {
            let asked = match self.ask() {
                Ok(asked) => asked,
                Err(proof) => return proof,
            };
            let given = settled(&asked).await;
            if self.0.asked.borrow().as_ref() != Some(&asked) {
                // The option has changed meanwhile, or the token was refused.
                continue;
            }
            let Ok(given) = given else {
                self.pause(PAUSE_MS);
                return Proof::Unavailable;
            };
            let token = given.as_string().unwrap_or_default();
            self.0.token.replace(token.clone());
            let person = subject(&token);
            // The service tells what is wrong with a token that names nobody.
            if (person.is_some() || token.is_empty())
                && let Some(on_person) = &*self.0.on_person.borrow()
            {
                on_person(person);
            }
            return if token.is_empty() { Proof::Nobody } else { Proof::Token(token) };
        }
    }

    /// Returns the proof after the service has refused a token. The page is asked once for each refused
    /// token, and no more for a while if `is_repeated`: its last one was refused as well.
    pub(crate) async fn renew(&self, refused: &str, is_repeated: bool) -> Proof {
        // Another request may have renewed it already.
        if *self.0.token.borrow() == refused {
            let renews = self.forget();
            if is_repeated || !renews {
                self.pause(if renews { PAUSE_MS } else { f64::INFINITY });
            }
        }
        self.proof().await
    }

    fn pause(&self, ms: f64) {
        self.forget();
        self.0.paused_until_ms.set(js_sys::Date::now() + ms);
    }

    fn ask(&self) -> Result<JsValue, Proof> {
        if let Some(asked) = &*self.0.asked.borrow() {
            return Ok(asked.clone());
        }
        let Some(source) = self.0.source.borrow().clone() else { return Err(Proof::Nobody) };
        if js_sys::Date::now() < self.0.paused_until_ms.get() {
            return Err(Proof::Unavailable);
        }
        // The function may change the option.
        let mut asked = source.get();
        if asked.is_object() {
            let timeout = Promise::new(&mut |_, reject| {
                // Fails only for a page that has replaced it.
                _ = browser::window()
                    .set_timeout_with_callback_and_timeout_and_arguments_0(&reject, TIMEOUT_MS);
            });
            asked = Promise::race(&Array::of2(&asked, &timeout)).into();
        }
        self.0.asked.replace(Some(asked.clone()));
        Ok(asked)
    }
}

impl Debug for Prover {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str("Prover")
    }
}

/// Returns the id of the person that a token names. Only the service checks the signature. Here, the id
/// tells apart what belongs to whom.
fn subject(token: &str) -> Option<String> {
    let mut claims = String::new();
    let mut parts = 0;
    for byte in token.bytes() {
        match byte {
            b'.' => parts += 1,
            _ if parts != 1 => {}
            b'-' => claims.push('+'),
            b'_' => claims.push('/'),
            _ => claims.push(char::from(byte)),
        }
    }
    // Characters other than ASCII come out as several: the same id as the same ones.
    match json::parse(&browser::window().atob(&claims).ok()?).get("sub") {
        Some(Value::Text(subject)) if !subject.is_empty() => Some(subject.clone()),
        _ => None,
    }
}
