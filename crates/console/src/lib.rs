//! The operators' console of the service: the inbox, settings, publishing and reports.
//!
//! | module | owns | may touch |
//! | --- | --- | --- |
//! | `ui` | components, one file a thing | `state`, `location`, `text` |
//! | `state` | what the console knows, as signals, and the commands that change it | `api`, `browser` |
//! | `api` | the client of the admin API | gloo-net |
//! | `location` | pages and their addresses | `browser` |
//! | `browser` | wrappers of Web APIs, one file for each API | web-sys |
//! | `attention`, `keyboard`, `ranking` | what rings, what a key means, what is found | nothing |
//! | `chart`, `days`, `diff`, `times` | geometry, the calendar, text differences | nothing |
//! | `text` | texts; numbers and times in the operator's language | the browser's `Intl` |

mod api;
mod attention;
mod browser;
mod chart;
mod days;
mod diff;
mod keyboard;
mod location;
mod markdown;
mod ranking;
mod state;
mod text;
mod times;
mod ui;

pub use ui::Program;

/// Starts a program of the console in the page.
pub fn run(program: Program) {
    #[cfg(feature = "debug-panics")]
    console_error_panic_hook::set_once();
    browser::scheme::apply();
    browser::viewport::follow();
    wasm_bindgen_futures::spawn_local(async move {
        text::load_language(api::texts).await;
        ui::mount(program);
    });
}
