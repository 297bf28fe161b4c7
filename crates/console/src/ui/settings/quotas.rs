//! The AI replies that each site has used this month, and the bytes that it stores.

use chat_protocol::admin::settings::{Quota, SiteQuota};
use leptos::prelude::*;

use super::page::{Empty, Head};
use crate::api::settings as requests;
use crate::location::Page;
use crate::text::{self, settings as t};
use crate::ui::forms::{Loaded, Remote};

/// From this share of the limit on, in percent, the operator is warned.
const WARNING_PERCENT: i64 = 80;
/// The share of a storage budget, in percent, from which events and content are refused.
const BULK_PERCENT: i64 = 75;
/// The share of a storage budget, in percent, from which the operator is warned.
const BULK_WARNING_PERCENT: i64 = BULK_PERCENT * WARNING_PERCENT / 100;
/// Bytes of the unit of the service's settings.
const MEGABYTE: u64 = 1024 * 1024;

/// The page about quotas.
#[component]
pub fn Quotas() -> impl IntoView {
    let quota = Remote::new(requests::quota);
    view! {
        <Head title=t::SECTION_QUOTAS.get() lead=t::QUOTAS_LEAD.get()/>
        <Loaded remote=quota let:quota>
            {if quota.sites.is_empty() {
                view! { <Empty text=t::NO_SITES.get()/> }.into_any()
            } else {
                view! {
                    {disk(&quota)}
                    <p class="lead">{t::QUOTA_MONTH.with(&[("month", &quota.month)])}</p>
                    <ul class="rows">
                        {all_sites(&quota)} {quota.sites.into_iter().map(row).collect_view()}
                    </ul>
                }
                .into_any()
            }}
        </Loaded>
    }
}

/// Returns the used share in percent, up to 100.
fn percent(used: i64, limit: i64) -> i64 {
    if limit <= 0 {
        100
    } else {
        used.saturating_mul(100).checked_div(limit).unwrap_or_default().clamp(0, 100)
    }
}

/// Returns what the service refuses for lack of disk space.
fn disk(quota: &Quota) -> impl IntoView + use<> {
    quota.disk_refuses.as_deref().map(|refused| {
        let text = if refused == "bulk" { t::DISK_NO_BULK } else { t::DISK_NO_MESSAGES };
        view! { <p class="state is-bad" role="status">{text.get()}</p> }
    })
}

/// Returns the row of what all sites store together.
fn all_sites(quota: &Quota) -> impl IntoView + use<> {
    let (stored, max) = (quota.stored_bytes, quota.max_bytes);
    view! {
        <li>
            <div class="row-main">
                <span>{t::STORAGE_ALL_SITES.get()}</span>
                <p>{storage_line(stored, max)}</p>
            </div>
            {storage_state(stored, max)}
        </li>
    }
}

fn storage_line(stored: u64, max: u64) -> String {
    let megabytes = |bytes: u64| text::number(to_number(bytes.div_ceil(MEGABYTE)));
    t::STORAGE_OF.with(&[("used", &megabytes(stored)), ("limit", &megabytes(max))])
}

fn storage_state(stored: u64, max: u64) -> impl IntoView + use<> {
    let (look, text) = match percent(to_number(stored), to_number(max)) {
        100 => ("state is-bad", t::STORAGE_NO_MESSAGES),
        BULK_PERCENT.. => ("state is-bad", t::STORAGE_NO_BULK),
        // A page of content that does not fit is refused before the share is reached.
        BULK_WARNING_PERCENT.. => ("state is-warning", t::QUOTA_NEARLY),
        _ => return None,
    };
    Some(view! { <span class=look>{text.get()}</span> })
}

fn to_number(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn row(site: SiteQuota) -> impl IntoView {
    let used = text::number(site.used);
    let (line, share) = match site.limit {
        Some(limit) => {
            let line = t::QUOTA_OF.with(&[("used", &used), ("limit", &text::number(limit))]);
            (line, Some(percent(site.used, limit)))
        }
        None => (t::QUOTA_UNLIMITED.with(&[("used", &used)]), None),
    };
    let state = match share {
        Some(100) if site.refuses => Some(("state is-bad", t::QUOTA_REFUSES)),
        Some(100) => Some(("state is-bad", t::QUOTA_FALLBACK)),
        Some(share) if share >= WARNING_PERCENT => Some(("state is-warning", t::QUOTA_NEARLY)),
        _ => None,
    };
    let label = site.name.clone();
    view! {
        <li>
            <div class="row-main">
                <a href=Page::settings(&["assistant", &site.site_id]).href() dir="auto">{site.name}</a>
                {share
                    .map(|share| {
                        view! {
                            <progress
                                class="meter"
                                class:is-full=share == 100
                                class:is-high=(WARNING_PERCENT..100).contains(&share)
                                aria-label=label
                                max="100"
                                value=share
                            ></progress>
                        }
                    })}
                <p>{line}</p>
                <p>{storage_line(site.stored_bytes, site.max_bytes)}</p>
            </div>
            {storage_state(site.stored_bytes, site.max_bytes)}
            {state.map(|(look, text)| view! { <span class=look>{text.get()}</span> })}
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_never_above_the_whole() {
        assert_eq!((percent(0, 10), percent(9, 10), percent(12, 10)), (0, 90, 100));
        assert_eq!((percent(0, 0), percent(i64::MAX, i64::MAX), percent(-1, 10)), (100, 1, 0));
    }
}
