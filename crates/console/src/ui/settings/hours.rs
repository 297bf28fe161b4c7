//! The business hours of a site: its time zone, the hours of each day of the week, and holidays.

mod holidays;
mod week;

use chat_protocol::admin::settings::{BusinessHours, OpenInterval, Patch, Site, SiteChange};
use leptos::prelude::*;

use super::Sites;
use super::page::{Card, replace_site};
use crate::api::settings as requests;
use crate::text::{Text, settings as t, time_zone, time_zones};
use crate::times::minute_of;
use crate::ui::forms::{Editing, Form, FormState, SaveBar, SelectField, Switch, draft};
use holidays::Holidays;
use week::{OFFICE, Span, Week, span};

const TIME_ZONE: &str = "businessHours.timeZone";
const INTERVALS: &str = "businessHours.intervals";
const HOLIDAYS: &str = "businessHours.holidays";
const FIELDS: &[&str] = &[TIME_ZONE, INTERVALS, HOLIDAYS, "businessHours"];

/// The days that are offered as working days, from Monday on.
const WORKING_DAYS: u8 = 5;

draft!(
    /// The business hours of a site.
    Hours, HoursFields {
        is_limited: bool,
        zone: String,
        week: Vec<Vec<Span>>,
        holidays: Vec<String>,
    }
);

impl From<&Site> for Hours {
    fn from(site: &Site) -> Self {
        let Some(hours) = &site.business_hours else {
            let office = |day| if day <= WORKING_DAYS { vec![span(OFFICE.0, OFFICE.1)] } else { Vec::new() };
            let week = (1..=7).map(office).collect();
            return Self { is_limited: false, zone: time_zone(), week, holidays: Vec::new() };
        };
        let spans = |day| {
            let intervals = hours.intervals.iter().filter(|interval| interval.day == day);
            intervals.map(|interval| span(interval.from_minute, interval.to_minute)).collect()
        };
        Self {
            is_limited: true,
            zone: hours.time_zone.clone(),
            week: (1..=7).map(spans).collect(),
            holidays: hours.holidays.clone(),
        }
    }
}

impl Hours {
    /// Returns the change of the site, or the field that is wrong with its problem.
    fn change(&self) -> Result<SiteChange, (&'static str, Text)> {
        let business_hours = if self.is_limited { Patch::Set(self.hours()?) } else { Patch::Remove };
        Ok(SiteChange { business_hours, ..SiteChange::default() })
    }

    fn hours(&self) -> Result<BusinessHours, (&'static str, Text)> {
        let mut intervals = Vec::new();
        for (spans, day) in self.week.iter().zip(1..) {
            for (from, to) in spans {
                let minutes = minute_of(from).zip(minute_of(to));
                let (from_minute, to_minute) = minutes.ok_or((INTERVALS, t::HOURS_NEED_TIMES))?;
                intervals.push(OpenInterval { day, from_minute, to_minute });
            }
        }
        if intervals.is_empty() {
            return Err((INTERVALS, t::HOURS_NEED_ONE));
        }
        let holidays = self.holidays.iter().filter(|day| !day.is_empty()).cloned().collect();
        Ok(BusinessHours { time_zone: self.zone.clone(), intervals, holidays })
    }
}

/// Sets the hours.
#[component]
pub fn HoursCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<HoursFields>::new(Hours::from(&site)).kept(&["hours", &site.id].join("."));
    let form = FormState::new(FIELDS, editing.is_dirty());
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let change = match now.change() {
            Ok(change) => change,
            Err((field, problem)) => return form.refuse(field, problem.get()),
        };
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, Hours::from(&site));
            replace_site(sites, &site);
        });
    };
    let fields = editing.fields;
    // A zone of the site that this browser does not list can be chosen as well.
    let zones = move || {
        let mut zones = time_zones();
        zones.extend(["UTC".to_owned(), editing.now().zone, editing.saved().zone]);
        zones.sort_unstable();
        zones.dedup();
        zones.into_iter().map(|zone| (zone.clone(), zone.replace('_', " "))).collect::<Vec<_>>()
    };
    view! {
        <Card title=t::HOURS_TITLE.get() lead=t::HOURS_LEAD.get()>
            <Form state=form on_submit=save>
                <Switch
                    label=t::HOURS_LIMITED.get()
                    help=t::HOURS_LIMITED_HELP.get()
                    value=fields.is_limited
                />
                <Show when=move || fields.is_limited.get()>
                    <SelectField name=TIME_ZONE label=t::HOURS_ZONE.get() value=fields.zone options=zones()/>
                    <Week week=fields.week/>
                    <Holidays holidays=fields.holidays/>
                </Show>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(intervals: &[(u8, u16, u16)]) -> Site {
        let intervals = intervals
            .iter()
            .map(|&(day, from_minute, to_minute)| OpenInterval { day, from_minute, to_minute })
            .collect();
        let holidays = vec!["2026-12-25".to_owned()];
        let hours = BusinessHours { time_zone: "Asia/Tokyo".to_owned(), intervals, holidays };
        Site { business_hours: Some(hours), ..Site::default() }
    }

    #[test]
    fn shows_stored_hours_and_sends_them_as_they_were() {
        let site = site(&[(1, 540, 720), (1, 780, 0), (7, 0, 0)]);
        let hours = Hours::from(&site);
        assert_eq!(hours.week[0], [span(540, 720), span(780, 0)]);
        assert_eq!(hours.week[0][1], ("13:00".to_owned(), "00:00".to_owned()));
        assert!(hours.is_limited && hours.week[1].is_empty() && hours.week.len() == 7);
        let change = hours.change().expect("a change");
        assert_eq!(change.business_hours, Patch::from(site.business_hours));
    }

    #[test]
    fn offers_the_hours_of_an_office_and_removes_hours_that_are_switched_off() {
        let mut hours = Hours::from(&Site::default());
        assert_eq!(hours.change().expect("a change").business_hours, Patch::Remove);
        hours.is_limited = true;
        let Patch::Set(set) = hours.change().expect("a change").business_hours else { panic!("no hours") };
        assert_eq!(set.intervals.len(), 5);
        assert_eq!(set.intervals[4], OpenInterval { day: 5, from_minute: 540, to_minute: 1020 });
    }

    #[test]
    fn needs_both_times_of_each_row_and_one_row_and_leaves_out_empty_dates() {
        let mut hours = Hours::from(&site(&[(3, 540, 720)]));
        hours.holidays.push(String::new());
        let Patch::Set(set) = hours.change().expect("a change").business_hours else { panic!("no hours") };
        assert_eq!(set.holidays, ["2026-12-25"]);
        hours.week[2][0].1.clear();
        assert_eq!(hours.change(), Err((INTERVALS, t::HOURS_NEED_TIMES)));
        hours.week[2].clear();
        assert_eq!(hours.change(), Err((INTERVALS, t::HOURS_NEED_ONE)));
    }
}
