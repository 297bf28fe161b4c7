//! The widget as a component of a Leptos application.

use std::any::Any;
use std::cell::Cell;
use std::rc::Rc;

use chat_widget::protocol::{Value, VisitorProfile};
use chat_widget::{ChatControls, ChatEvent, ChatWidget, Offset, Settings, Theme, VisitorToken};
use js_sys::{Array, Reflect};
use leptos::mount::mount_to;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen_test::wasm_bindgen_test;
use web_sys::{Element, HtmlTextAreaElement};

use crate::page::{Network, Page, tick, token_of, window};

const CONFIG: &str = r#"{"ok":true,"data":{"config":{}}}"#;

/// An application with a widget, and its handles.
#[derive(Clone, Copy)]
struct App {
    chat: ChatControls,
    shown: RwSignal<bool>,
    theme: RwSignal<Theme>,
    events: StoredValue<Vec<ChatEvent>>,
}

/// Mounts an application with an event handler. Dropping the second value unmounts it.
fn mount(page: &Page, on_event: fn(App, ChatEvent)) -> (App, Box<dyn Any>) {
    mount_with(page, &Settings::new("/connector"), on_event)
}

fn mount_with(page: &Page, settings: &Settings, on_event: fn(App, ChatEvent)) -> (App, Box<dyn Any>) {
    let settings = settings.clone();
    let made = Rc::new(Cell::new(None));
    let making = made.clone();
    let handle = mount_to(page.host.clone(), move || {
        let app = App {
            chat: ChatControls::new(),
            shown: RwSignal::new(true),
            theme: RwSignal::new(Theme::Rose),
            events: StoredValue::default(),
        };
        making.set(Some(app));
        let on_event = move |event| on_event(app, event);
        let widget = move || {
            let settings = settings.clone();
            view! { <ChatWidget settings theme=app.theme on_event controls=app.chat/> }
        };
        move || app.shown.get().then(&widget)
    });
    (made.get().expect("mounted"), Box::new(handle))
}

fn part(page: &Page, name: &str) -> Option<Element> {
    let host = page.host.query_selector("chat-widget").expect("a valid selector")?;
    host.shadow_root()?.query_selector(&format!("[part~={name}]")).expect("a valid selector")
}

async fn mounted(page: &Page) {
    page.until(|| part(page, "launcher").is_some()).await;
}

#[wasm_bindgen_test]
fn controls_without_a_widget_do_nothing_and_report_a_closed_window() {
    let owner = Owner::new();
    let chat = owner.with(ChatControls::new);
    let use_all = || {
        chat.open();
        chat.open_for_visitor();
        chat.toggle();
        chat.close();
        chat.send_message("hello");
        chat.set_draft("hello");
        chat.change(Settings::new("/connector"));
        chat.identify(VisitorProfile::default());
        chat.track("basket_filled", Value::Null);
        chat.grant_consent();
        chat.reload_config();
        chat.reset();
    };
    use_all();
    assert!(!chat.is_open().get_untracked());
    assert_eq!(chat.unread().get_untracked(), 0);
    assert_eq!(chat.operator_online().get_untracked(), None);
    owner.cleanup();
    use_all();
}

#[wasm_bindgen_test]
async fn controls_change_the_widget_and_events_reach_the_application() {
    let _network = Network::answers(200, CONFIG, "");
    let page = Page::new();
    let (App { chat, events, .. }, _app) =
        mount(&page, |app, event| app.events.update_value(|events| events.push(event)));
    mounted(&page).await;
    chat.open();
    assert!(chat.is_open().get_untracked(), "signals change at once");
    chat.set_draft("half a question");
    tick().await;
    let input: HtmlTextAreaElement = part(&page, "input").expect("an input").unchecked_into();
    assert_eq!(input.value(), "half a question");
    chat.toggle();
    tick().await;
    assert!(part(&page, "window").is_none());
    assert_eq!(events.get_value(), [ChatEvent::Open, ChatEvent::Close]);
}

#[wasm_bindgen_test]
async fn an_event_handler_may_remove_the_widget() {
    let network = Network::answers(200, CONFIG, "");
    let page = Page::new();
    let (App { chat, shown, .. }, _app) = mount(&page, |app, event| {
        // Once: on a wide screen the next widget opens by itself, as after a page change.
        if event == ChatEvent::Open && app.events.with_value(Vec::is_empty) {
            app.events.update_value(|events| events.push(event));
            app.shown.set(false);
        }
    });
    mounted(&page).await;
    chat.open();
    page.until(|| page.host.query_selector("chat-widget").expect("valid").is_none()).await;
    assert!(!chat.is_open().get_untracked());
    chat.open();
    let requests = network.count();
    window().dispatch_event(&web_sys::Event::new("online").expect("an event")).expect("dispatched");
    tick().await;
    assert_eq!(network.count(), requests);
    shown.set(true);
    mounted(&page).await;
}

#[wasm_bindgen_test]
async fn the_widget_follows_the_signal_of_its_theme() {
    let _network = Network::answers(200, CONFIG, "");
    let page = Page::new();
    let (App { theme, .. }, _app) = mount(&page, |_, _| {});
    mounted(&page).await;
    let accent = || {
        let host = page.host.query_selector("chat-widget").expect("valid").expect("a host");
        let style = window().get_computed_style(&host).expect("valid").expect("a style");
        style.get_property_value("--cw-accent").expect("a token")
    };
    let rose = accent();
    theme.set(Theme::Blue);
    page.until(|| accent() != rose).await;
}

#[wasm_bindgen_test]
async fn the_settings_of_a_mounted_widget_can_be_changed() {
    let _network = Network::answers(200, CONFIG, "");
    let page = Page::new();
    let (App { chat, .. }, _app) = mount(&page, |_, _| {});
    mounted(&page).await;
    let mut settings = Settings::new("/connector");
    settings.strings = vec![("openChat".to_owned(), "Ask us".to_owned())];
    chat.change(settings);
    let label = || part(&page, "launcher").and_then(|launcher| launcher.get_attribute("aria-label"));
    page.until(|| label().as_deref() == Some("Ask us")).await;
}

#[wasm_bindgen_test]
async fn a_widget_without_isolation_is_styled_in_the_page_until_it_is_unmounted() {
    let _network = Network::answers(200, CONFIG, "");
    let page = Page::new();
    let mut settings = Settings::new("/connector");
    settings.isolate = false;
    settings.z_index = Some(7);
    settings.offset = Offset { x: Some(40.0), y: None };
    settings.theme_tokens = vec![("accent".to_owned(), "rgb(1, 2, 3)".to_owned())];
    let (App { theme, .. }, app) = mount_with(&page, &settings, |_, _| {});
    let find = |selector: &str| page.host.query_selector(selector).expect("a valid selector");
    page.until(|| find("[part=launcher]").is_some()).await;
    let sheets = || {
        let sheets = Reflect::get(&window().document().expect("a document"), &"adoptedStyleSheets".into());
        Array::from(&sheets.expect("sheets")).length()
    };
    assert_eq!(sheets(), 2);
    let host = find("chat-widget").expect("a host");
    assert!(host.shadow_root().is_none());
    let style = window().get_computed_style(&host).expect("valid").expect("a style");
    let token = |name: &str| style.get_property_value(name).expect("a token");
    assert_eq!(
        ["--cw-accent", "--cw-offset-x", "--cw-z-root"].map(token),
        ["rgb(1, 2, 3)", "40px", "7"].map(str::to_owned)
    );
    let header = || token("--cw-header-bg");
    let rose = header();
    theme.set(Theme::Custom("#0a66c2".parse().expect("a colour")));
    page.until(|| header() != rose).await;
    assert_eq!(sheets(), 2);
    drop(app);
    assert_eq!(sheets(), 0);
    assert_eq!(page.host.child_element_count(), 0);
}

#[wasm_bindgen_test]
async fn an_unmounted_application_leaves_no_widget() {
    let _network = Network::answers(200, CONFIG, "");
    let page = Page::new();
    let (App { chat, .. }, app) = mount(&page, |_, _| {});
    mounted(&page).await;
    chat.open();
    tick().await;
    drop(app);
    assert_eq!(page.host.child_element_count(), 0);
    chat.open();
    tick().await;
    assert_eq!(page.host.child_element_count(), 0);
}

#[wasm_bindgen_test]
async fn the_conversation_of_a_person_is_shown_until_the_signal_says_that_nobody_is_signed_in() {
    let page = Page::new();
    let storage = window().local_storage().expect("storage").expect("storage");
    let entries = r#"[{"role":"assistant","text":"for Ada","serial":1,"id":"a1"}]"#;
    let stored = format!(
        r#"{{"v":2,"visitorId":"v-12345678","revision":1,"conversationId":"c1","newest":1,"entries":{entries}}}"#
    );
    let store = |name: &str, text: &str| storage.set_item(name, text).expect("stored");
    store("chat-widget:visitor@verified:ada", r#"{"v":2,"visitorId":"v-12345678"}"#);
    store("chat-widget:conversation@verified:ada", &stored);
    let _network = Network::hangs();
    let user = RwSignal::new(Some("ada"));
    let token = Signal::derive(move || Some(VisitorToken::new(token_of(user.get()?))));
    let chat = Rc::new(Cell::new(None));
    let making = chat.clone();
    let _app = mount_to(page.host.clone(), move || {
        let controls = ChatControls::new();
        making.set(Some(controls));
        view! { <ChatWidget settings=Settings::new("/connector") visitor_token=token controls/> }
    });
    tick().await;
    chat.get().expect("mounted").open();
    tick().await;
    let log = || part(&page, "log").and_then(|log| log.text_content()).unwrap_or_default();
    assert!(log().contains("for Ada"), "{}", log());
    user.set(None);
    tick().await;
    tick().await;
    assert!(!log().contains("for Ada"), "{}", log());
    assert_eq!(storage.get_item("chat-widget:conversation@verified:ada").expect("read"), None);
}
