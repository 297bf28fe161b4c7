//! Reports over a period: figures, days, hours and pages. The period and the site are in the address.

mod days;
mod hours;
mod pages;
mod period;
mod table;
mod totals;

use chat_protocol::admin::Report;
use leptos::prelude::*;

use self::days::DaysChart;
use self::hours::HoursChart;
use self::pages::PagesChart;
use self::period::{LENGTHS, Period};
use self::totals::Totals;
use crate::api::{self, ApiError};
use crate::browser;
use crate::days::Day;
use crate::location::{Page, Query};
use crate::state::{DirectoryStoreFields, app};
use crate::text::{reports, time_zone, units};

/// The page of reports.
#[component]
pub fn Reports(
    /// The period and the site.
    #[prop(into)]
    query: Signal<Query>,
) -> impl IntoView {
    let period = Memo::new(move |_| {
        let query = query.read();
        Period::read(query.get("from"), query.get("to"), query.get("days"), today())
    });
    let site = Memo::new(move |_| query.read().get("site").map(str::to_owned));
    let parameters = Memo::new(move |_| parameters(period.get(), site.get().as_deref()));
    let report = LocalResource::new(move || {
        let path = format!("report{}", parameters.get());
        async move { api::get::<Report>(&path).await }
    });
    // While the next report is on its way, the present one stays.
    let shown = RwSignal::new(None::<Result<Report, ApiError>>);
    Effect::new(move |_| {
        if let Some(loaded) = report.get() {
            shown.set(Some(loaded));
        }
    });
    let is_loading = Memo::new(move |_| report.read().is_none());
    view! {
        <div class="page reports" aria-busy=move || is_loading.get().to_string()>
            <header class="page-head">
                <h1>{reports::TITLE.get()}</h1>
                <a class="quiet outlined" download="" href=move || format!("{}report.csv{}", api::BASE, parameters.get())>
                    {reports::DOWNLOAD.get()}
                </a>
            </header>
            <Filters period site/>
            {move || match shown.get() {
                None => view! { <p class="hint" role="status">{reports::LOADING.get()}</p> }.into_any(),
                Some(Ok(report)) => view! { <Sheet report period=period.get_untracked()/> }.into_any(),
                Some(Err(error)) => view! {
                    <div class="page-notice is-error" role="alert">
                        <p>{reports::FAILED.with(&[("reason", &error.message)])}</p>
                        <button type="button" class="quiet outlined" on:click=move |_| report.refetch()>
                            {reports::AGAIN.get()}
                        </button>
                    </div>
                }.into_any(),
            }}
        </div>
    }
}

/// The choice of the period and the site.
#[component]
fn Filters(period: Memo<Period>, site: Memo<Option<String>>) -> impl IntoView {
    let app = app();
    let router = app.router;
    let page = move |period: Period, site: Option<&str>| {
        let query = period
            .parameters()
            .into_iter()
            .fold(Query::default(), |query, (name, value)| query.with(name, Some(&value)));
        Page::Reports(query.with("site", site))
    };
    let choose_day = move |is_first: bool, value: &str| {
        let Some(day) = Day::parse(value) else { return };
        let Period { from, to, .. } = period.get_untracked();
        let (one, other) = if is_first { (day, to.max(day)) } else { (from.min(day), day) };
        router.open(page(Period::between(one, other, today()), site.get_untracked().as_deref()));
    };
    let lengths = LENGTHS.into_iter().map(|days| {
        let is_current = move || period.get().length == Some(days);
        let href = move || page(Period::last(days, today()), site.get().as_deref()).href();
        view! {
            <a href=href aria-current=move || is_current().then_some("true")>
                {reports::LAST_DAYS.count(i64::from(days))}
            </a>
        }
    });
    let lengths = lengths.collect_view();
    let sites =
        move || {
            app.directory.sites().get().into_iter().map(|known| {
            let id = known.id.clone();
            let is_selected = move || site.read().as_deref() == Some(id.as_str());
            view! { <option value=known.id.clone() selected=is_selected>{known.name.clone()}</option> }
        }).collect_view()
        };
    view! {
        <div class="report-filters">
            <nav class="segmented" aria-label=reports::PERIOD.get()>{lengths}</nav>
            <label class="field-inline">
                <span>{reports::FROM.get()}</span>
                <input type="date" prop:value=move || period.get().from.to_string() max=move || today().to_string()
                    on:change:target=move |event| choose_day(true, &event.target().value())/>
            </label>
            <label class="field-inline">
                <span>{reports::TO.get()}</span>
                <input type="date" prop:value=move || period.get().to.to_string() max=move || today().to_string()
                    on:change:target=move |event| choose_day(false, &event.target().value())/>
            </label>
            <label class="field-inline">
                <span>{reports::SITE.get()}</span>
                <select on:change:target=move |event| {
                    let chosen = event.target().value();
                    router.open(page(period.get_untracked(), Some(chosen.as_str()).filter(|id| !id.is_empty())));
                }>
                    <option value="" selected=move || site.read().is_none()>{reports::ALL_SITES.get()}</option>
                    {sites}
                </select>
            </label>
        </div>
    }
}

/// A report.
#[component]
fn Sheet(report: Report, period: Period) -> impl IntoView {
    let days = i64::from(period.to.0 - period.from.0 + 1);
    let compared = reports::COMPARED.count(days);
    let is_empty = report.totals.conversations == 0 && report.hours.iter().all(|hour| hour.messages == 0);
    view! {
        <p class="hint">
            {between(period)}" · "{compared}" · "{reports::ZONE.with(&[("zone", &time_zone())])}
        </p>
        <p class="page-notice" hidden=!is_empty>{reports::EMPTY.get()}</p>
        <Totals report=report.clone()/>
        <DaysChart days=report.days/>
        <div class="chart-pair">
            <HoursChart hours=report.hours/>
            <PagesChart pages=report.pages/>
        </div>
    }
}

fn between(period: Period) -> String {
    if period.from == period.to {
        return units::long_day(period.from);
    }
    format!("{} – {}", units::long_day(period.from), units::long_day(period.to))
}

/// Returns the query of the report.
fn parameters(period: Period, site: Option<&str>) -> Query {
    Query::default()
        .with("site", site)
        .with("from", Some(&period.from.to_string()))
        .with("to", Some(&period.to.to_string()))
        .with("timeZone", Some(&time_zone()))
}

/// Returns the present day where the operator is.
fn today() -> Day {
    let now = js_sys::Date::new_0();
    let year = i32::try_from(now.get_full_year()).unwrap_or_default();
    Day::new(year, now.get_month() + 1, now.get_date()).unwrap_or(Day(0))
}

/// Returns whether the interface is written from right to left.
fn is_rtl() -> bool {
    browser::document()
        .document_element()
        .is_some_and(|root| root.get_attribute("dir").as_deref() == Some("rtl"))
}

/// Returns a length of a chart as SVG takes it.
fn percent_of(share: f64) -> String {
    format!("{:.3}%", share * 100.0)
}
