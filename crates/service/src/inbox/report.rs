//! Reports over a period, also as CSV.

use std::fmt::Write;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use chat_protocol::admin::{Report, ReportDay};
use jiff::Span;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::Service;
use crate::accounts::quiet_hours::time_zone;
use crate::accounts::{Operator, Right};
use crate::conversations::report::{self, Figures, Scope};
use crate::csv::{cell, download};
use crate::error::ApiError;
use crate::input::{Params, success};
use crate::long_reads::{self, SEARCH_TIMEOUT};
use crate::response::ApiResponse;
use crate::sites;

/// Maximum days of a report.
const MAX_DAYS: i32 = 366;

pub(super) fn routes() -> Router<Service> {
    Router::new().route("/report", get(show)).route("/report.csv", get(csv))
}

/// The period of a report.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ReportParams {
    /// Only conversations of this site.
    site: Option<String>,
    /// The first day, such as `2026-11-01`.
    from: String,
    /// The last day; at most 366 days.
    to: String,
    /// The time zone of the days and hours, an IANA name; UTC, if missing.
    time_zone: Option<String>,
}

/// A period whose parameters were checked.
struct Period {
    tenant_id: String,
    site_id: Option<String>,
    from: Date,
    to: Date,
    zone: TimeZone,
}

impl Period {
    async fn of(service: &Service, operator: Operator, params: ReportParams) -> Result<Self, ApiError> {
        operator.may(Right::AnswerVisitors)?;
        let day = |name: &str, text: &str| {
            let problem = || format!("invalid {name}: expected a day, such as 2026-11-01.");
            text.parse::<Date>().map_err(|_| ApiError::InvalidRequest(problem()))
        };
        let (from, to) = (day("from", &params.from)?, day("to", &params.to)?);
        let days = from.until(to).map_or(i32::MAX, |span| span.get_days());
        if !(0..MAX_DAYS).contains(&days) {
            let problem = format!("The period must have 1 to {MAX_DAYS} days.");
            return Err(ApiError::InvalidRequest(problem));
        }
        let zone = match &params.time_zone {
            Some(name) => time_zone(name)?,
            None => TimeZone::UTC,
        };
        if let Some(site) = &params.site {
            sites::of_tenant(service.db(), &operator.tenant_id, site).await?;
        }
        Ok(Self { tenant_id: operator.tenant_id, site_id: params.site, from, to, zone })
    }

    fn scope(&self) -> Scope<'_> {
        Scope { tenant_id: &self.tenant_id, site_id: self.site_id.as_deref() }
    }

    /// Returns the times from the beginning of a day until that of another one.
    fn between(&self, from: Date, end: Date) -> Result<(i64, i64), ApiError> {
        let start = |day: Date| {
            let zoned = day.to_zoned(self.zone.clone()).map_err(|_| outside());
            zoned.map(|zoned| zoned.timestamp().as_millisecond())
        };
        Ok((start(from)?, start(end)?))
    }

    fn own(&self) -> Result<(i64, i64), ApiError> {
        self.between(self.from, next_day(self.to)?)
    }

    /// Returns the times of the period of the same length before.
    fn before(&self) -> Result<(i64, i64), ApiError> {
        let length = self.from.until(next_day(self.to)?).map_err(|_| outside())?;
        self.between(self.from.checked_sub(length).map_err(|_| outside())?, self.from)
    }

    /// Returns every day of the period, also those on which nothing happened.
    fn days(&self, figures: &mut Figures) -> Result<Vec<ReportDay>, ApiError> {
        let mut days = Vec::new();
        let mut day = self.from;
        while day <= self.to {
            let counted = figures.days.remove(&day).unwrap_or_default();
            days.push(ReportDay { day: day.to_string(), ..counted });
            day = next_day(day)?;
        }
        Ok(days)
    }
}

fn next_day(day: Date) -> Result<Date, ApiError> {
    day.checked_add(Span::new().days(1)).map_err(|_| outside())
}

fn outside() -> ApiError {
    ApiError::InvalidRequest("The period is outside of the calendar.".to_owned())
}

/// Shows the figures of a period, and those of the period before.
#[utoipa::path(get, path = "/report", tag = "inbox", params(ReportParams),
    responses((status = 200, body = Report)))]
pub(super) async fn show(
    State(service): State<Service>,
    operator: Operator,
    Params(params): Params<ReportParams>,
) -> Result<ApiResponse, ApiError> {
    let period = Period::of(&service, operator, params).await?;
    let db = service.db().for_long_reads();
    let read = async {
        let (scope, own) = (period.scope(), period.own()?);
        let mut figures = report::figures(&db, scope, own, &period.zone).await?;
        Ok::<_, ApiError>(Report {
            from: period.from.to_string(),
            to: period.to.to_string(),
            before: report::totals(&db, scope, period.before()?).await?,
            days: period.days(&mut figures)?,
            hours: report::hours(&db, scope, own, &period.zone).await?,
            outcomes: report::outcomes(&db, scope, own).await?,
            pages: figures.pages,
            totals: figures.totals,
        })
    };
    success(&long_reads::execute(&service, &period.tenant_id, SEARCH_TIMEOUT, read).await?)
}

/// Returns the days of a period as CSV.
#[utoipa::path(get, path = "/report.csv", tag = "inbox", params(ReportParams),
    responses((status = 200, content_type = "text/csv")))]
pub(super) async fn csv(
    State(service): State<Service>,
    operator: Operator,
    Params(params): Params<ReportParams>,
) -> Result<Response, ApiError> {
    let period = Period::of(&service, operator, params).await?;
    let db = service.db().for_long_reads();
    let read = report::figures(&db, period.scope(), period.own()?, &period.zone);
    let mut figures = long_reads::execute(&service, &period.tenant_id, SEARCH_TIMEOUT, read).await?;
    let mut text = "day,conversations,answered by AI,unanswered,leads\r\n".to_owned();
    for ReportDay { day, conversations, answered_by_ai, unanswered, leads } in period.days(&mut figures)? {
        let _ = write!(text, "{},{conversations},{answered_by_ai},{unanswered},{leads}\r\n", cell(&day));
    }
    text.push_str("\r\npage,conversations\r\n");
    for page in figures.pages {
        let _ = write!(text, "{},{}\r\n", cell(&page.path), page.conversations);
    }
    Ok(download("report.csv", &text))
}
