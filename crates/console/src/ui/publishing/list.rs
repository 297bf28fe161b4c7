//! The review-and-publish list.

use chat_protocol::admin::publishing::Review;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::rules::waits_because;
use super::{Part, on_site_change, pending};
use crate::api::publishing as requests;
use crate::browser::clock;
use crate::location::{Page, Query};
use crate::state::app;
use crate::text::{Text, list_time, publishing};
use crate::ui::controls::{Confirm, Icon, icon};

/// The states, with their names in addresses.
const STATES: [(&str, Text); 6] = [
    ("draft", publishing::STATUS_DRAFT),
    ("queued", publishing::STATUS_QUEUED),
    ("published", publishing::STATUS_PUBLISHED),
    ("failed", publishing::STATUS_FAILED),
    ("withdrawn", publishing::STATUS_WITHDRAWN),
    ("dismissed", publishing::STATUS_DISMISSED),
];

/// The list of a site.
#[component]
pub(super) fn Reviews(site: String, status: Memo<Option<String>>) -> impl IntoView {
    let app = app();
    let loaded = ReviewList::new(site.clone(), status);
    on_site_change(site.clone(), move || loaded.load(None));
    let site = StoredValue::new(site);
    let asks = RwSignal::new(false);
    let has_heads = Memo::new(move |_| {
        loaded.reviews.read().iter().any(|review| !review.is_article() && review.status == "draft")
    });
    let approve = move || {
        let site = site.get_value();
        spawn_local(async move {
            match requests::approve_all(&site).await {
                Ok(count) => {
                    app.notices.done(publishing::APPROVED.count(i64::try_from(count).unwrap_or(i64::MAX)));
                    loaded.load(None);
                }
                Err(error) => {
                    app.notices.problem(publishing::ACTION_FAILED.with(&[("reason", &error.message)]));
                }
            }
        });
    };
    let filter = move |name: Option<&'static str>, text: Text| {
        let query = Query::default().with("site", Some(&site.get_value())).with("status", name);
        let is_current = move || status.read().as_deref() == name;
        view! {
            <a href=Page::Publishing(Vec::new(), query).href() aria-current=move || is_current().then_some("true")>
                {text.get()}
            </a>
        }
    };
    view! {
        <div class="list-tools">
            <nav class="status-links" aria-label=publishing::STATUS.get()>
                {filter(None, publishing::STATUS_ALL)}
                {STATES.map(|(name, text)| filter(Some(name), text)).collect_view()}
            </nav>
            <button type="button" class="quiet outlined" hidden=move || !has_heads.get() on:click=move |_| asks.set(true)>
                {publishing::APPROVE_ALL.get()}
            </button>
            <a class="quiet outlined" href=Part::Write.page(&site.get_value()).href()>
                {icon(Icon::Edit)}{publishing::WRITE.get()}
            </a>
        </div>
        {move || if loaded.is_loaded.get() {
            view! { <Rows loaded site /> }.into_any()
        } else {
            pending(loaded.problem.read().as_deref(), move || loaded.load(None))
        }}
        <Show when=move || asks.get()>
            <Confirm
                title=publishing::APPROVE_ALL_TITLE.get()
                text=publishing::APPROVE_ALL_TEXT.get()
                action=publishing::PUBLISH.get()
                on_confirm=move |()| approve()
                on_close=move |()| asks.set(false)
            />
        </Show>
    }
}

/// The loaded part of the list.
#[derive(Clone, Copy)]
struct ReviewList {
    reviews: RwSignal<Vec<Review>>,
    next: RwSignal<Option<i64>>,
    is_loaded: RwSignal<bool>,
    problem: RwSignal<Option<String>>,
    site: StoredValue<String>,
    status: Memo<Option<String>>,
}

impl ReviewList {
    fn new(site: String, status: Memo<Option<String>>) -> Self {
        let loaded = Self {
            reviews: RwSignal::default(),
            next: RwSignal::new(None),
            is_loaded: RwSignal::new(false),
            problem: RwSignal::new(None),
            site: StoredValue::new(site),
            status,
        };
        Effect::new(move |_| {
            status.track();
            loaded.is_loaded.set(false);
            loaded.load(None);
        });
        loaded
    }

    /// Loads the first page, or the one after `before`.
    fn load(self, before: Option<i64>) {
        // The list may be gone when all its drafts have been approved.
        let (Some(site), Some(status)) = (self.site.try_get_value(), self.status.try_get_untracked()) else {
            return;
        };
        self.problem.set(None);
        spawn_local(async move {
            let answer = requests::reviews(&site, status.as_deref(), before).await;
            // Another state may be chosen by now, and the list may be gone.
            if self.status.try_get_untracked() != Some(status) {
                return;
            }
            match answer {
                Ok(page) => {
                    self.reviews.update(|reviews| {
                        if before.is_none() {
                            reviews.clear();
                        }
                        reviews.extend(page.reviews);
                    });
                    self.next.set(page.next);
                    self.is_loaded.set(true);
                }
                Err(error) => self.problem.set(Some(error.message)),
            }
        });
    }
}

#[component]
fn Rows(loaded: ReviewList, site: StoredValue<String>) -> impl IntoView {
    let is_empty = Memo::new(move |_| loaded.reviews.read().is_empty());
    view! {
        <p class="list-empty" hidden=move || !is_empty.get()>{publishing::NO_REVIEWS.get()}</p>
        <ul class="entries" hidden=is_empty>
            <For each=move || loaded.reviews.get() key=|review| (review.id.clone(), review.status.clone()) let:review>
                <Row review site=site.get_value() />
            </For>
        </ul>
        <button
            type="button" class="quiet outlined"
            hidden=move || loaded.next.get().is_none()
            on:click=move |_| loaded.load(loaded.next.get_untracked())
        >
            {publishing::MORE.get()}
        </button>
    }
}

#[component]
fn Row(review: Review, site: String) -> impl IntoView {
    let app = app();
    let time_ms = clock::parse_ms(&review.updated_at);
    let kind = if review.is_article() { publishing::KIND_ARTICLE } else { publishing::KIND_OVERLAY };
    let href = Part::Review(review.id.clone()).page(&site).href();
    let locale = Some(review.locale.clone()).filter(|locale| !locale.is_empty());
    let waits = review.decision.as_ref().filter(|_| review.status == "draft").map(waits_because);
    view! {
        <li>
            <a href=href>
                <span class="entry-title" dir="auto">{review.title.clone()}</span>
                <span class="entry-state" data-status=review.status.clone()>{status_name(&review.status)}</span>
                <span class="entry-detail">
                    {kind.get()}" · "<bdi dir="ltr">{review.path.clone()}</bdi>
                    {locale.map(|locale| view! { " · "{locale} })}
                    {time_ms.map(|time_ms| view! { " · "{move || list_time(time_ms, app.now_ms.get())} })}
                </span>
                {waits.map(|waits| view! { <span class="entry-detail" dir="auto">{waits}</span> })}
            </a>
        </li>
    }
}

/// Returns the name of a state; one that this console does not know is shown as it is.
pub(super) fn status_name(status: &str) -> String {
    let known = STATES.iter().find(|(name, _)| *name == status);
    known.map_or_else(|| status.to_owned(), |(_, text)| text.get().to_owned())
}
