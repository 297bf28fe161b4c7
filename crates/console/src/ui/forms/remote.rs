//! What a page shows of the service: it is loading, it failed, or it is there.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::ApiError;
use crate::text::settings as t;

type Load<T> = Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<T, ApiError>>>>>;

/// A value of the service. Copies are the same value.
pub struct Remote<T: Send + Sync + 'static> {
    value: RwSignal<Option<T>>,
    error: RwSignal<Option<ApiError>>,
    /// The number of the last request. The response to an earlier one is dropped.
    turn: StoredValue<u32>,
    load: StoredValue<Load<T>, LocalStorage>,
}

impl<T: Send + Sync + 'static> Clone for Remote<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for Remote<T> {}

impl<T: Clone + Send + Sync + 'static> Remote<T> {
    /// Loads a value.
    pub fn new<F>(load: impl Fn() -> F + 'static) -> Self
    where
        F: Future<Output = Result<T, ApiError>> + 'static,
    {
        let load: Load<T> = Box::new(move || Box::pin(load()));
        let remote = Self {
            value: RwSignal::new(None),
            error: RwSignal::new(None),
            turn: StoredValue::new(0),
            load: StoredValue::new_local(load),
        };
        remote.reload();
        remote
    }

    /// Loads the value again. Until then, the old one is shown.
    pub fn reload(self) {
        self.turn.update_value(|turn| *turn += 1);
        let turn = self.turn.get_value();
        let request = self.load.with_value(|load| load());
        spawn_local(async move {
            let response = request.await;
            if self.turn.try_get_value() != Some(turn) {
                return;
            }
            match response {
                Ok(value) => {
                    self.error.set(None);
                    self.value.set(Some(value));
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    /// Returns the value, if it is there.
    pub fn get(self) -> Option<T> {
        self.value.get()
    }

    /// Returns the value, if it is there, without following it.
    pub fn get_untracked(self) -> Option<T> {
        self.value.get_untracked()
    }

    /// Changes the value, if it is there.
    pub fn update(self, change: impl FnOnce(&mut T)) {
        self.value.try_update(|value| value.as_mut().map(change));
    }
}

/// Shows a value of the service when it is there. It is shown anew whenever it changes.
#[component]
pub fn Loaded<T, V>(
    remote: Remote<T>,
    /// Shows the value.
    children: impl Fn(T) -> V + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    V: IntoView + 'static,
{
    move || match (remote.value.get(), remote.error.get()) {
        (Some(value), None) => children(value).into_any(),
        (Some(value), Some(error)) => view! {
            <LoadError error retry=move || remote.reload()/>
            {children(value)}
        }
        .into_any(),
        (None, Some(error)) => view! { <LoadError error retry=move || remote.reload()/> }.into_any(),
        (None, None) => view! { <Skeleton/> }.into_any(),
    }
}

/// Tells that something could not be loaded, and offers to try again.
#[component]
pub fn LoadError(error: ApiError, retry: impl Fn() + 'static) -> impl IntoView {
    view! {
        <div class="notice is-error" role="alert">
            <p>{error.message}</p>
            <button type="button" class="button" on:click=move |_| retry()>
                {t::TRY_AGAIN.get()}
            </button>
        </div>
    }
}

/// Stands for what is being loaded.
#[component]
pub fn Skeleton() -> impl IntoView {
    view! {
        <div class="loading-rows" role="status">
            <span class="for-readers">{t::LOADING.get()}</span>
            <div></div>
            <div></div>
            <div></div>
        </div>
    }
}
