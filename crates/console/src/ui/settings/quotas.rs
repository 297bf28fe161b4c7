//! The AI replies that each site has used this month.

use chat_protocol::admin::settings::SiteQuota;
use leptos::prelude::*;

use super::page::{Empty, Head};
use crate::api::settings as requests;
use crate::location::Page;
use crate::text::{self, settings as t};
use crate::ui::forms::{Loaded, Remote};

/// From this share of the limit on, in percent, the operator is warned.
const WARNING_PERCENT: i64 = 80;

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
                    <p class="lead">{t::QUOTA_MONTH.with(&[("month", &quota.month)])}</p>
                    <ul class="rows">{quota.sites.into_iter().map(row).collect_view()}</ul>
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
            </div>
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
