//! What the rules would do with the entries that wait now.

use chat_protocol::admin::publishing::{DryRun, DryRunItem, EntryKind, RuleAction};
use leptos::prelude::*;

use super::sentence::reason;
use crate::text::{Plural, publishing as t};
use crate::ui::forms::{Loaded, Remote};
use crate::ui::publishing::Part;

/// The section beside the rules.
#[component]
pub(super) fn DryRunCard(run: Remote<DryRun>, site: String) -> impl IntoView {
    let site = StoredValue::new(site);
    view! {
        <section class="set-card rules-try" aria-labelledby="rules-try">
            <header class="set-card-head">
                <h2 id="rules-try">{t::TRY.get()}</h2>
                <p>{t::TRY_LEAD.get()}</p>
            </header>
            <Loaded remote=run let:run>{site.with_value(|site| outcome(run, site))}</Loaded>
        </section>
    }
}

fn outcome(run: DryRun, site: &str) -> AnyView {
    if run.items.is_empty() {
        return view! { <p role="status">{t::TRY_NONE.get()}</p> }.into_any();
    }
    let counts: [(i64, Plural); 4] = [
        (run.publishes, t::TRY_PUBLISHES),
        (run.reviews, t::TRY_REVIEWS),
        (run.problems, t::TRY_PROBLEMS),
        (run.over_limit, t::TRY_OVER_LIMIT),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let counts = counts.map(|(count, text)| view! { <li>{text.count(count)}</li> });
    let shown = t::TRY_SHOWN.count(i64::try_from(run.items.len()).unwrap_or(i64::MAX));
    let rows = run.items.into_iter().map(|item| row(item, site));
    view! {
        <div role="status">
            <ul class="rules-counts">{counts.collect_view()}</ul>
        </div>
        <p class="hint" hidden=!run.has_more>{t::TRY_MORE.get()}</p>
        <h3>{shown}</h3>
        <ul class="rules-tried">{rows.collect_view()}</ul>
    }
    .into_any()
}

fn row(item: DryRunItem, site: &str) -> impl IntoView + use<> {
    let (status, state) = match item.decision.action {
        RuleAction::Publish => ("published", t::WOULD_PUBLISH),
        RuleAction::Review => ("draft", t::WOULD_WAIT),
    };
    let kind = match item.kind {
        EntryKind::Article => t::KIND_ARTICLE,
        EntryKind::Overlay => t::KIND_OVERLAY,
    };
    let href = Part::Review(item.id).page(site).href();
    view! {
        <li>
            <a href=href dir="auto">{item.title}</a>
            <span class="entry-state" data-status=status>{state.get()}</span>
            <span class="entry-detail">{kind.get()}" · "<bdi dir="ltr">{item.path}</bdi></span>
            <span class="entry-detail" dir="auto">{reason(&item.decision)}</span>
        </li>
    }
}
