//! The service worker, and the browser's subscription to pushes.

use std::cell::RefCell;

use js_sys::{Function, Object, Promise, Reflect};
use serde::Deserialize;
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::MessageEvent;

use super::listener::Listener;

const WORKER: &str = "/console/push-worker.js";
/// The name of the Trusted Types policy, which the console's policy allows. It gives the worker's address
/// only.
const POLICY: &str = "push-worker";

thread_local! {
    static WORKER_URL: RefCell<Option<JsValue>> = const { RefCell::new(None) };
}

/// The subscription of this browser, as `PushSubscription.toJSON` gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Subscription {
    /// The URL that pushes are sent to.
    pub endpoint: String,
    /// The keys that they are encrypted with.
    pub keys: Keys,
}

/// The keys of a subscription, in base64url.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Keys {
    /// The browser's public key.
    pub p256dh: String,
    /// The secret that the browser shares with the service.
    pub auth: String,
}

/// Returns whether the browser has pushes. Without TLS it has none, except on this machine.
pub fn is_supported() -> bool {
    let window = super::window();
    let has = |object: &JsValue, name: &str| Reflect::has(object, &name.into()) == Ok(true);
    has(&window.navigator(), "serviceWorker") && has(&window, "PushManager") && has(&window, "Notification")
}

/// Subscribes this browser with the service's public key, or returns the subscription that it has. `renew`
/// ends that one first, because it was made with another key. The error is the browser's own text.
pub async fn subscribe(public_key: &str, renew: bool) -> Result<Subscription, String> {
    subscribe_with(public_key, renew).await.map_err(|error| reason(&error))
}

async fn subscribe_with(public_key: &str, renew: bool) -> Result<Subscription, JsValue> {
    let container = container()?;
    call(&container, "register", &[worker_url()?]).await?;
    let registration = JsFuture::from(Promise::from(Reflect::get(&container, &"ready".into())?)).await?;
    let manager = Reflect::get(&registration, &"pushManager".into())?;
    if renew {
        end(&manager).await?;
    }
    let options = Object::new();
    Reflect::set(&options, &"userVisibleOnly".into(), &JsValue::TRUE)?;
    Reflect::set(&options, &"applicationServerKey".into(), &public_key.into())?;
    let subscription = call(&manager, "subscribe", &[options.into()]).await?;
    let json = js_sys::JSON::stringify(&subscription)?;
    serde_json::from_str(&String::from(json)).map_err(|error| error.to_string().into())
}

/// Ends the subscription of this browser, if it has one. Without a service, pushes end there.
pub async fn unsubscribe() {
    if let Ok(container) = container()
        && let Ok(registration) = call(&container, "getRegistration", &[WORKER.into()]).await
        && let Ok(manager) = Reflect::get(&registration, &"pushManager".into())
    {
        _ = end(&manager).await;
    }
}

async fn end(manager: &JsValue) -> Result<(), JsValue> {
    let subscription = call(manager, "getSubscription", &[]).await?;
    if !subscription.is_null() {
        call(&subscription, "unsubscribe", &[]).await?;
    }
    Ok(())
}

/// Calls a function with the id of a conversation whose notification was clicked.
pub fn on_open(callback: impl Fn(String) + 'static) -> Option<Listener> {
    if !is_supported() {
        return None;
    }
    let container = container().ok()?.dyn_into().ok()?;
    Some(Listener::new(&container, "message", move |event| {
        let data = event.dyn_into::<MessageEvent>().map(|event| event.data()).unwrap_or_default();
        let member = |name: &str| Reflect::get(&data, &name.into()).ok()?.as_string();
        if member("type").as_deref() == Some("open-conversation")
            && let Some(id) = member("conversation")
        {
            callback(id);
        }
    }))
}

/// Returns the browser's service workers.
fn container() -> Result<JsValue, JsValue> {
    Reflect::get(&super::window().navigator(), &"serviceWorker".into())
}

/// Returns the worker's address, as the console's policy wants it. Its policy can be created once.
fn worker_url() -> Result<JsValue, JsValue> {
    if let Some(url) = WORKER_URL.with_borrow(Clone::clone) {
        return Ok(url);
    }
    let types = Reflect::get(&js_sys::global(), &"trustedTypes".into())?;
    let url = if types.is_undefined() {
        WORKER.into()
    } else {
        let rules = Object::new();
        let address: Function = Closure::<dyn Fn() -> JsValue>::new(|| WORKER.into()).into_js_value().into();
        Reflect::set(&rules, &"createScriptURL".into(), &address)?;
        let create: Function = Reflect::get(&types, &"createPolicy".into())?.dyn_into()?;
        let policy = create.call2(&types, &POLICY.into(), &rules)?;
        let create: Function = Reflect::get(&policy, &"createScriptURL".into())?.dyn_into()?;
        create.call1(&policy, &JsValue::from_str(""))?
    };
    WORKER_URL.set(Some(url.clone()));
    Ok(url)
}

/// Calls a method that returns a promise, and awaits it. Some of these methods take a trusted address, which
/// the bindings do not know.
async fn call(object: &JsValue, name: &str, arguments: &[JsValue]) -> Result<JsValue, JsValue> {
    let method: Function = Reflect::get(object, &name.into())?.dyn_into()?;
    let arguments = arguments.iter().collect::<js_sys::Array>();
    JsFuture::from(Promise::from(method.apply(object, &arguments)?)).await
}

/// Returns what the browser says about an error.
fn reason(error: &JsValue) -> String {
    let message = Reflect::get(error, &"message".into()).ok().and_then(|message| message.as_string());
    message.or_else(|| error.as_string()).filter(|text| !text.is_empty()).unwrap_or_else(|| "?".to_owned())
}
