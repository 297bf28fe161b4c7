//! Pushes to this browser while no console is open, and the operator's other devices.

use chat_protocol::admin::{PushDevice, PushState, PushSubscription};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::app;
use crate::api::{ApiError, requests};
use crate::attention::{PushChoice, Resume};
use crate::browser::listener::Listener;
use crate::browser::notification::Permission;
use crate::browser::{languages, push, storage};
use crate::location::Page;

/// The key of the choice in this browser.
const CHOICE: &str = "push";

/// Whether this browser gets pushes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PushStatus {
    /// Not known yet, or about to change.
    #[default]
    Busy,
    /// The browser has no pushes.
    Unsupported,
    /// The service sends none.
    Unavailable,
    /// The browser refuses notifications of this page.
    Denied,
    /// It does not get them.
    Off,
    /// It gets them.
    On,
    /// It could not be added, for this reason.
    Failed(String),
}

/// The pushes of the operator. Copies are the same.
#[derive(Clone, Copy)]
pub struct Push {
    status: RwSignal<PushStatus>,
    devices: RwSignal<Vec<PushDevice>>,
    opened: StoredValue<Option<Listener>, LocalStorage>,
}

impl Push {
    pub(super) fn new() -> Self {
        Self {
            status: RwSignal::default(),
            devices: RwSignal::new(Vec::new()),
            opened: StoredValue::new_local(None),
        }
    }

    /// Returns whether this browser gets pushes.
    pub fn status(self) -> Signal<PushStatus> {
        self.status.into()
    }

    /// Returns the operator's devices.
    pub fn devices(self) -> Signal<Vec<PushDevice>> {
        self.devices.into()
    }

    /// Goes on for the operator who has signed in: a session that ends takes its device along.
    pub(super) fn start(self, operator: &str) {
        self.opened.set_value(push::on_open(|id| app().router.open(Page::conversation(&id))));
        if !push::is_supported() {
            return;
        }
        match PushChoice::resume(stored_choice().as_ref(), operator) {
            Resume::Nothing => {}
            Resume::Forget => {
                storage::remove(CHOICE);
                spawn_local(push::unsubscribe());
            }
            Resume::Add => spawn_local(async move {
                if app().alerts.permission().get_untracked() == Permission::Granted {
                    // What fails is said in the settings; until then, e-mails say what happens.
                    _ = self.add().await;
                }
            }),
        }
    }

    /// Loads the devices.
    pub fn load(self) {
        spawn_local(async move {
            match requests::push_state().await {
                Ok(state) => self.show(&state),
                Err(error) => self.status.set(PushStatus::Failed(error.message)),
            }
        });
    }

    /// Switches the pushes to this browser on or off, after a click.
    pub fn set(self, is_on: bool) {
        self.status.set(PushStatus::Busy);
        spawn_local(async move {
            let status = if is_on { self.enable().await } else { self.disable().await };
            if let Err(status) = status {
                self.status.set(status);
            }
        });
    }

    /// Removes a device.
    pub async fn remove(self, device: &PushDevice) -> Result<(), ApiError> {
        if device.current {
            storage::remove(CHOICE);
            push::unsubscribe().await;
        }
        requests::remove_push_device(&device.id).await?;
        self.show(&requests::push_state().await?);
        Ok(())
    }

    async fn enable(self) -> Result<(), PushStatus> {
        match app().alerts.ask().await {
            Permission::Granted => self.add().await,
            Permission::Denied => Err(PushStatus::Denied),
            Permission::Unsupported => Err(PushStatus::Unsupported),
            Permission::Undecided => Err(PushStatus::Off),
        }
    }

    async fn disable(self) -> Result<(), PushStatus> {
        let devices = self.devices.get_untracked();
        if let Some(device) = devices.iter().find(|device| device.current) {
            self.remove(device).await.map_err(failed)?;
        }
        self.status.set(PushStatus::Off);
        Ok(())
    }

    /// Subscribes this browser, and adds it to the session.
    async fn add(self) -> Result<(), PushStatus> {
        let state = requests::push_state().await.map_err(failed)?;
        let Some(key) = state.public_key else { return Err(PushStatus::Unavailable) };
        let renew = PushChoice::is_outdated(stored_choice().as_ref(), &key);
        let subscription = push::subscribe(&key, renew).await.map_err(PushStatus::Failed)?;
        let sent = PushSubscription {
            endpoint: subscription.endpoint,
            p256dh: subscription.keys.p256dh,
            auth: subscription.keys.auth,
            locale: languages().into_iter().next(),
        };
        let state = requests::add_push_device(&sent).await.map_err(failed)?;
        storage::write(CHOICE, &PushChoice { operator: app().session.my_id(), key });
        self.show(&state);
        Ok(())
    }

    fn show(self, state: &PushState) {
        let is_here = state.devices.iter().any(|device| device.current);
        self.devices.set(state.devices.clone());
        self.status.set(match app().alerts.permission().get_untracked() {
            _ if !push::is_supported() => PushStatus::Unsupported,
            _ if state.public_key.is_none() => PushStatus::Unavailable,
            Permission::Denied => PushStatus::Denied,
            Permission::Granted if is_here => PushStatus::On,
            _ => PushStatus::Off,
        });
    }
}

fn stored_choice() -> Option<PushChoice> {
    storage::read(CHOICE)
}

fn failed(error: ApiError) -> PushStatus {
    PushStatus::Failed(error.message)
}
