//! What the console knows, as signals and stores, and the commands that change it.

mod actions;
mod alerts;
mod back_off;
mod conversations;
mod directory;
mod drafts;
mod list;
mod live;
mod notices;
mod outbox;
mod presence;
mod push;
mod session;
mod setup;
mod thread;
mod visitor_name;

use std::cell::Cell;

use chat_protocol::admin::{Availability, Preferences};
use leptos::prelude::*;
use leptos::task::spawn_local;
use reactive_stores::Store;

pub use actions::Actions;
pub use alerts::Alerts;
pub use conversations::Conversations;
pub use directory::{Directory, DirectoryStoreFields};
pub use drafts::{DraftKind, Drafts};
pub use list::visible_rows;
pub use live::{Connection, Live};
pub use notices::{Notice, NoticeKind, Notices};
pub use outbox::{Outbox, PendingMessage, PendingState, UNDO_TIMEOUT};
pub use presence::Presence;
pub use push::{Push, PushStatus};
pub use session::{Session, SessionState, show_workspace};
pub use setup::{note_asked_assistant, was_assistant_asked, watch_setup};
pub use thread::Entry;
pub use visitor_name::visitor_name;

use crate::api::requests;
use crate::browser::clock;
use crate::location::{Part, Router};
use crate::text::palette;

/// The interval at which ages such as "5 min" are computed again.
const CLOCK_INTERVAL: std::time::Duration = std::time::Duration::from_secs(20);

/// Everything that components share. Copies are the same console.
#[derive(Clone, Copy)]
pub struct App {
    /// The page that is shown.
    pub router: Router,
    /// The signed-in operator.
    pub session: Session,
    /// Colleagues, sites, labels and canned replies.
    pub directory: Store<Directory>,
    /// The operator's preferences, as the service has them.
    pub preferences: RwSignal<Preferences>,
    /// Conversations and their lists.
    pub conversations: Conversations,
    /// The stream of changes.
    pub live: Live,
    /// Texts that were begun.
    pub drafts: Drafts,
    /// Replies and notes on their way to the service.
    pub outbox: Outbox,
    /// What can be done at the moment, by a key or from the palette.
    pub actions: Actions,
    /// Sounds and notifications.
    pub alerts: Alerts,
    /// Notifications while no console is open.
    pub push: Push,
    /// Whether the operator uses the console.
    pub presence: Presence,
    /// Short messages about what happened.
    pub notices: Notices,
    /// The time, in milliseconds since 1970, every 20 s.
    pub now_ms: RwSignal<f64>,
}

impl App {
    /// Creates the state of a program with these parts, and provides it to all components.
    pub fn provide(parts: &'static [Part]) -> Self {
        let now_ms = RwSignal::new(clock::now_ms());
        set_interval(move || now_ms.set(clock::now_ms()), CLOCK_INTERVAL);
        let session = Session::new();
        let app = Self {
            router: Router::start(parts),
            session,
            directory: Store::new(Directory::default()),
            preferences: RwSignal::new(Preferences::default()),
            conversations: Conversations::new(session),
            live: Live::new(),
            drafts: Drafts::new(),
            outbox: Outbox::new(),
            actions: Actions::new(),
            alerts: Alerts::new(),
            push: Push::new(),
            presence: Presence::new(),
            notices: Notices::new(),
            now_ms,
        };
        APP.set(Some(app));
        app
    }

    /// Starts the console for the operator who signed in.
    pub fn start(self) {
        let me = self.session.my_id();
        self.drafts.open(&me);
        self.outbox.open(&me);
        self.push.start(&me);
        self.live.start();
    }

    /// Loads colleagues, sites, labels, canned replies and preferences again.
    pub fn reload_directory(self) {
        directory::reload(self.directory, self.preferences);
    }

    /// Says whether the operator is there. It is shown at once, and taken back if the service refuses it.
    pub fn set_availability(self, availability: Availability) {
        let before = self.preferences.with_untracked(|own| own.availability);
        self.preferences.update(|own| own.availability = availability);
        spawn_local(async move {
            // The preferences here may not be loaded yet, and are stored as a whole.
            let saved = async {
                let stored = requests::preferences().await?;
                requests::save_preferences(&Preferences { availability, ..stored }).await
            };
            match saved.await {
                Ok(stored) => self.preferences.set(stored),
                Err(error) => {
                    self.preferences.update(|own| own.availability = before);
                    self.notices.problem(palette::CHANGE_FAILED.with(&[("reason", &error.message)]));
                }
            }
        });
    }

    /// Stops following the service, after the session has ended. What is on the screen of the next operator
    /// is loaded anew.
    pub fn stop(self) {
        self.live.stop();
        self.outbox.close();
        self.conversations.clear();
        self.directory.set(Directory::default());
        self.preferences.set(Preferences::default());
        self.presence.set_idle(false);
    }
}

thread_local! {
    /// The page has one console. A context would not be found by event handlers and after responses.
    static APP: Cell<Option<App>> = const { Cell::new(None) };
}

/// Returns the shared state.
#[expect(clippy::expect_used, reason = "`mount` creates the state before all components")]
pub fn app() -> App {
    APP.get().expect("the state")
}
