//! Lists whose pages are loaded one after the other.

use std::future::Future;
use std::pin::Pin;

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::ApiError;
use crate::text::settings as t;
use crate::ui::forms::{LoadError, Skeleton};

type PageOf<T, C> = Result<(Vec<T>, Option<C>), ApiError>;
type Load<T, C> = Box<dyn Fn(Option<C>) -> Pin<Box<dyn Future<Output = PageOf<T, C>>>>>;

/// The entries that were loaded, and where the next page begins.
pub struct Paged<T: Send + Sync + 'static, C: Send + Sync + 'static> {
    entries: RwSignal<Option<Vec<T>>>,
    next: RwSignal<Option<C>>,
    error: RwSignal<Option<ApiError>>,
    busy: RwSignal<bool>,
    turn: StoredValue<u32>,
    load: StoredValue<Load<T, C>, LocalStorage>,
}

impl<T: Send + Sync + 'static, C: Send + Sync + 'static> Clone for Paged<T, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static, C: Send + Sync + 'static> Copy for Paged<T, C> {}

impl<T: Clone + Send + Sync + 'static, C: Clone + Send + Sync + 'static> Paged<T, C> {
    /// Loads the first page. The function gets where a page begins; `None` for the first one.
    pub fn new<F>(load: impl Fn(Option<C>) -> F + 'static) -> Self
    where
        F: Future<Output = PageOf<T, C>> + 'static,
    {
        let load: Load<T, C> = Box::new(move |cursor| Box::pin(load(cursor)));
        let paged = Self {
            entries: RwSignal::new(None),
            next: RwSignal::new(None),
            error: RwSignal::new(None),
            busy: RwSignal::new(false),
            turn: StoredValue::new(0),
            load: StoredValue::new_local(load),
        };
        paged.reload();
        paged
    }

    /// Loads the first page again. Until then, the old entries are shown.
    pub fn reload(self) {
        self.request(None);
    }

    fn more(self) {
        if let Some(next) = self.next.get_untracked().filter(|_| !self.busy.get_untracked()) {
            self.request(Some(next));
        }
    }

    fn request(self, cursor: Option<C>) {
        let is_first = cursor.is_none();
        self.turn.update_value(|turn| *turn += 1);
        let turn = self.turn.get_value();
        self.busy.set(true);
        let request = self.load.with_value(|load| load(cursor));
        spawn_local(async move {
            let response = request.await;
            if self.turn.try_get_value() != Some(turn) {
                return;
            }
            self.busy.set(false);
            match response {
                Ok((entries, next)) => {
                    self.error.set(None);
                    self.next.set(next);
                    self.entries.update(|all| match all {
                        Some(all) if !is_first => all.extend(entries),
                        _ => *all = Some(entries),
                    });
                }
                Err(error) => self.error.set(Some(error)),
            }
        });
    }

    /// Changes the entries that were loaded.
    pub fn update(self, change: impl FnOnce(&mut Vec<T>)) {
        self.entries.update(|entries| {
            if let Some(entries) = entries {
                change(entries);
            }
        });
    }
}

/// Shows the entries, and the button that loads more of them.
#[component]
pub fn PagedList<T, C, V, E, W>(
    pages: Paged<T, C>,
    /// Shown when there are no entries.
    empty: E,
    /// Shows the entries.
    children: impl Fn(Vec<T>) -> V + Send + 'static,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
    C: Clone + Send + Sync + 'static,
    V: IntoView + 'static,
    E: Fn() -> W + Send + 'static,
    W: IntoView + 'static,
{
    let list = move || match pages.entries.get() {
        Some(entries) if entries.is_empty() => empty().into_any(),
        Some(entries) => children(entries).into_any(),
        None if pages.error.with(Option::is_none) => view! { <Skeleton/> }.into_any(),
        None => ().into_any(),
    };
    view! {
        {list}
        {move || pages.error.get().map(|error| view! { <LoadError error retry=move || pages.reload()/> })}
        <Show when=move || pages.next.with(Option::is_some)>
            <p class="more">
                <button type="button" class="button" disabled=move || pages.busy.get() on:click=move |_| pages.more()>
                    {move || if pages.busy.get() { t::LOADING.get() } else { t::MORE.get() }}
                </button>
            </p>
        </Show>
    }
}
