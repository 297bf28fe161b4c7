//! The websites that the service reads for the assistant.

use std::time::Duration;

use chat_protocol::admin::settings::{
    NewSource, Refresh, Site, SkipReason, SkippedPage, Source, SourceChange, SourceShown, SourceState,
};
use leptos::leptos_dom::helpers::set_interval_with_handle;
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::content::SyncedContent;
use crate::api::settings as requests;
use crate::text::{Text, settings as t};
use crate::ui::forms::{
    Confirm, Dialog, DialogForm, Editing, FormState, Loaded, Remote, SelectField, TextField, draft,
};
use crate::ui::settings::page::{Card, ago, notices, time};
use crate::ui::settings::rows::{Chosen, RowButton, edit_and_delete, rows};

/// The interval at which the state is looked at while a website is read.
const POLL_INTERVAL: Duration = Duration::from_secs(3);
/// Pages of a new source, unless the operator says otherwise.
const DEFAULT_PAGES: i64 = 200;

/// The list of websites.
#[component]
pub fn Websites(site: Site, may_change: bool) -> impl IntoView {
    let Site { id, allowed_origins, .. } = site;
    let id = StoredValue::new(id);
    let sources = Remote::new(move || async move { Ok(requests::sources(&id.get_value()).await?.sources) });
    follow(id, sources);
    let (edited, removed) = (Chosen::<Source>::new(), Chosen::<Source>::new());
    let notices = notices();
    let own = allowed_origins.first().map(|origin| format!("{origin}/")).unwrap_or_default();
    let own = StoredValue::new(own);
    let read_again = Callback::new(move |source: Source| {
        spawn_local(async move {
            match requests::read_source(&id.get_value(), &source.id).await {
                Ok(shown) => {
                    sources.update(|sources| put(sources, shown.source));
                    notices.done(t::SOURCE_RUNNING.get());
                }
                Err(error) => notices.problem(error.message),
            }
        });
    });
    view! {
        <Card title=t::SOURCES_TITLE.get() lead=t::SOURCES_LEAD.get()>
            {may_change
                .then(|| {
                    view! {
                        <div class="toolbar">
                            <button type="button" class="button is-primary" on:click=move |_| edited.choose(None)>
                                {t::SOURCE_ADD.get()}
                            </button>
                        </div>
                    }
                })}
            <Loaded remote=sources let:all>
                {
                    let shown = all.into_iter().map(|source| row(id, source, may_change, edited, removed, read_again));
                    rows(shown.collect(), t::SOURCES_EMPTY)
                }
            </Loaded>
        </Card>
        <Dialog open=edited.open title=edited.title(t::SOURCE_EDIT, t::SOURCE_ADD)>
            <SourceForm
                site=id.get_value()
                source=edited
                    .get()
                    .unwrap_or_else(|| Source {
                        address: own.get_value(),
                        max_pages: DEFAULT_PAGES,
                        ..Source::default()
                    })
                open=edited.open
                on_saved=move |saved: Source| sources.update(|sources| put(sources, saved))
            />
        </Dialog>
        <Confirm
            open=removed.open
            title=t::SOURCE_REMOVE.get()
            text=t::SOURCE_REMOVE_HELP.get()
            action=t::DELETE.get()
            request=move || {
                let source = removed.get().unwrap_or_default().id;
                async move { requests::delete_source(&id.get_value(), &source).await.map(|_| source) }
            }
            on_done=move |gone: String| {
                sources.update(|sources| sources.retain(|source| source.id != gone));
                notices.done(t::SOURCE_REMOVED.get());
            }
        />
    }
}

/// Replaces a source in the list, or appends it.
fn put(sources: &mut Vec<Source>, source: Source) {
    match sources.iter_mut().find(|known| known.id == source.id) {
        Some(known) => *known = source,
        None => sources.push(source),
    }
}

/// Looks at the state from time to time, while a website is read or about to be.
fn follow(site: StoredValue<String>, sources: Remote<Vec<Source>>) {
    let check = move || {
        let is_active = |source: &Source| matches!(source.state, SourceState::Waiting | SourceState::Reading);
        if !sources.get_untracked().is_some_and(|sources| sources.iter().any(is_active)) {
            return;
        }
        spawn_local(async move {
            let Some(site) = site.try_get_value() else { return };
            let Ok(found) = requests::sources(&site).await else { return };
            // A list that has not changed is not shown anew, so that what is open stays so.
            if sources.get_untracked().is_some_and(|known| known != found.sources) {
                sources.update(|known| *known = found.sources);
            }
        });
    };
    let interval = StoredValue::new_local(set_interval_with_handle(check, POLL_INTERVAL).ok());
    on_cleanup(move || {
        if let Some(Some(interval)) = interval.try_update_value(Option::take) {
            interval.clear();
        }
    });
}

fn row(
    site: StoredValue<String>,
    source: Source,
    may_change: bool,
    edited: Chosen<Source>,
    removed: Chosen<Source>,
    read_again: Callback<Source>,
) -> AnyView {
    let (for_edit, for_delete, for_run) = (source.clone(), source.clone(), source.clone());
    let (look, state) = state_of(&source);
    let is_kept = source.state == SourceState::Failed && source.pages > 0;
    let Source { id, address, problem, pages, read_at, next_at, skipped_count, skipped, .. } = source;
    let is_idle = !matches!(for_run.state, SourceState::Waiting | SourceState::Reading);
    let next = next_at.map(|at| t::SOURCE_NEXT.with(&[("time", &time(&at))]));
    let problem = problem.map(|problem| reason_text(problem).get());
    let run_label = t::SOURCE_RUN_NAMED.with(&[("name", &address)]);
    let buttons = may_change.then(|| {
        let run = is_idle.then(|| {
            view! {
                <div class="row-actions">
                    <RowButton text=t::SOURCE_RUN label=run_label on_click=move || read_again.run(for_run.clone())/>
                </div>
            }
        });
        view! {
            {run}
            {edit_and_delete(
                &address,
                move || edited.choose(Some(for_edit.clone())),
                move || removed.choose(Some(for_delete.clone())),
            )}
        }
    });
    let is_listed = RwSignal::new(false);
    let shown =
        move || is_listed.get().then(|| view! { <SyncedContent site=site.get_value() source=id.clone()/> });
    view! {
        <li>
            <div class="row-main">
                <p class="row-title" dir="ltr">{address}</p>
                <p class="row-facts">
                    <span class=look>{state}</span>
                    {read_at.map(|at| t::SOURCE_READ.with(&[("time", &ago(&at))]))}
                    {next.map(|next| view! { <span>{next}</span> })}
                </p>
                {problem.map(|problem| view! { <p class="field-help">{problem}</p> })}
                {is_kept.then(|| view! { <p class="field-help">{t::SOURCE_KEPT.get()}</p> })}
                {(pages > 0)
                    .then(|| {
                        view! {
                            <details on:toggle=move |_| is_listed.set(true)>
                                <summary>{t::SOURCE_PAGES.count(pages)}</summary>
                                {shown}
                            </details>
                        }
                    })}
                {(skipped_count > 0).then(|| skipped_pages(skipped_count, skipped))}
            </div>
            {buttons}
        </li>
    }
    .into_any()
}

/// The pages that were not read, with the reasons.
fn skipped_pages(count: i64, skipped: Vec<SkippedPage>) -> impl IntoView {
    let is_cut_off = usize::try_from(count).is_ok_and(|count| count > skipped.len());
    let rows = skipped.into_iter().map(|page| {
        view! {
            <li>
                <span dir="ltr">{page.address}</span>
                <span class="row-facts">{reason_text(page.reason).get()}</span>
            </li>
        }
    });
    view! {
        <details>
            <summary>{t::SOURCE_SKIPPED.count(count)}</summary>
            <ul class="asked-sources">{rows.collect_view()}</ul>
            {is_cut_off.then(|| view! { <p class="field-help">"…"</p> })}
        </details>
    }
}

/// Returns the look and the text of a state.
fn state_of(source: &Source) -> (&'static str, String) {
    let number = |number: i64| crate::text::number(number);
    match source.state {
        SourceState::Waiting => ("state", t::SOURCE_WAITING.get().to_owned()),
        SourceState::Reading => {
            let counts = [("done", &*number(source.done)), ("found", &*number(source.found))];
            ("state is-warning", t::SOURCE_READING.with(&counts))
        }
        SourceState::Read if source.problem.is_some() => {
            ("state is-warning", t::SOURCE_INCOMPLETE.get().to_owned())
        }
        SourceState::Read => ("state is-good", t::SOURCE_COMPLETE.get().to_owned()),
        SourceState::Failed => ("state is-bad", t::SOURCE_FAILED.get().to_owned()),
    }
}

fn reason_text(reason: SkipReason) -> Text {
    match reason {
        SkipReason::Robots => t::SKIP_ROBOTS,
        SkipReason::RobotsUnavailable => t::SKIP_ROBOTS_UNAVAILABLE,
        SkipReason::Noindex => t::SKIP_NOINDEX,
        SkipReason::NotPage => t::SKIP_NOT_PAGE,
        SkipReason::Empty => t::SKIP_EMPTY,
        SkipReason::TooLarge => t::SKIP_TOO_LARGE,
        SkipReason::NotFound => t::SKIP_NOT_FOUND,
        SkipReason::Forbidden => t::SKIP_FORBIDDEN,
        SkipReason::ServerError => t::SKIP_SERVER_ERROR,
        SkipReason::Elsewhere => t::SKIP_ELSEWHERE,
        SkipReason::Moved => t::SKIP_MOVED,
        SkipReason::Redirects => t::SKIP_REDIRECTS,
        SkipReason::Duplicate => t::SKIP_DUPLICATE,
        SkipReason::Timeout => t::SKIP_TIMEOUT,
        SkipReason::Unreachable => t::SKIP_UNREACHABLE,
        SkipReason::Storage => t::SKIP_STORAGE,
        SkipReason::MaxPages => t::SKIP_MAX_PAGES,
    }
}

fn refresh_text(refresh: Refresh) -> Text {
    match refresh {
        Refresh::Off => t::SOURCE_REFRESH_OFF,
        Refresh::Daily => t::SOURCE_REFRESH_DAILY,
        Refresh::Weekly => t::SOURCE_REFRESH_WEEKLY,
    }
}

draft!(
    /// The values of the form.
    Wanted, WantedFields {
        address: String,
        pages: String,
        refresh: String,
    }
);

/// The form that adds a website, or changes how it is read.
#[component]
fn SourceForm(
    site: String,
    /// The source. One without an id is new.
    source: Source,
    open: RwSignal<bool>,
    on_saved: impl Fn(Source) + Copy + 'static,
) -> impl IntoView {
    let notices = notices();
    let Source { id, address, max_pages, refresh, .. } = source;
    let is_new = id.is_empty();
    let wanted = Wanted { address, pages: max_pages.to_string(), refresh: refresh.as_str().to_owned() };
    let editing = Editing::<WantedFields>::new(wanted);
    let form = FormState::new(&["address", "maxPages", "refresh"], editing.is_dirty());
    let save = move || {
        let (site, id) = (site.clone(), id.clone());
        let Wanted { address, pages, refresh } = editing.now();
        // Another text than a number is refused by the service, with the error of a number out of bounds.
        let max_pages = Some(pages.trim().parse().unwrap_or_default());
        let refresh = Refresh::parse(&refresh).unwrap_or_default();
        form.send(
            async move {
                if id.is_empty() {
                    let new = NewSource { address: address.trim().to_owned(), max_pages, refresh };
                    requests::add_source(&site, &new).await
                } else {
                    let change = SourceChange { max_pages, refresh: Some(refresh) };
                    requests::change_source(&site, &id, &change).await
                }
            },
            move |saved: SourceShown| {
                on_saved(saved.source);
                notices.done(t::SAVED.get());
                open.set(false);
            },
        );
    };
    let fields = editing.fields;
    let intervals =
        Refresh::ALL.map(|refresh| (refresh.as_str().to_owned(), refresh_text(refresh).get().to_owned()));
    view! {
        <DialogForm state=form action=t::SAVE.get() on_submit=save>
            {is_new
                .then(|| {
                    view! {
                        <TextField
                            name="address"
                            label=t::SOURCE_ADDRESS.get()
                            help=t::SOURCE_ADDRESS_HELP.get()
                            placeholder="https://"
                            kind="url"
                            is_code=true
                            value=fields.address
                        />
                    }
                })}
            <TextField
                name="maxPages"
                label=t::SOURCE_MAX_PAGES.get()
                help=t::SOURCE_MAX_PAGES_HELP.get()
                inputmode="numeric"
                value=fields.pages
            />
            <SelectField
                name="refresh"
                label=t::SOURCE_REFRESH.get()
                value=fields.refresh
                options=intervals.to_vec()
            />
        </DialogForm>
    }
}
