use chat_protocol::admin::QuietHours;
use proptest::prelude::*;

use super::*;
use crate::cases;

/// Zones with all kinds of changes of the clock: none, half an hour, at midnight, in the south.
const ZONES: [&str; 7] = [
    "Europe/Berlin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Africa/Cairo",
    "America/Sao_Paulo",
    "Pacific/Auckland",
    "UTC",
];
/// The minutes between two looks at the clock.
const STEP: i64 = 5;

fn interval(day: u8, from: (u16, u16), to: (u16, u16)) -> OpenInterval {
    OpenInterval { day, from_minute: from.0 * 60 + from.1, to_minute: to.0 * 60 + to.1 }
}

/// Returns hours in Berlin.
fn berlin(intervals: &[OpenInterval], holidays: &[&str]) -> BusinessHours {
    BusinessHours {
        time_zone: "Europe/Berlin".to_owned(),
        intervals: intervals.to_vec(),
        holidays: holidays.iter().map(|day| (*day).to_owned()).collect(),
    }
}

/// Returns the hours from 9 to 17 on working days. In November 2026, the 23rd is a Monday.
fn office(holidays: &[&str]) -> BusinessHours {
    berlin(&[1, 2, 3, 4, 5].map(|day| interval(day, (9, 0), (17, 0))), holidays)
}

fn ms(time: &str) -> i64 {
    time.parse::<Timestamp>().expect(time).as_millisecond()
}

/// Returns the next opening as text, with the days until then.
fn opening(hours: &BusinessHours, time: &str) -> Option<(String, i32)> {
    next_opening(hours, ms(time)).map(|opening| (opening.at.to_string(), opening.days_ahead))
}

#[track_caller]
fn assert_opens(hours: &BusinessHours, time: &str, at: &str, days_ahead: i32) {
    assert_eq!(opening(hours, time), Some((at.to_owned(), days_ahead)), "{time}");
    assert!(!is_open(hours, ms(time)), "{time}");
}

#[track_caller]
fn assert_open(hours: &BusinessHours, time: &str) {
    assert!(is_open(hours, ms(time)), "{time}");
    assert_eq!(opening(hours, time), None, "{time}");
}

#[test]
fn hours_begin_with_their_first_minute_and_end_before_their_last() {
    let hours = office(&[]);
    assert_opens(&hours, "2026-11-23T07:59:59Z", "2026-11-23T09:00:00", 0);
    assert_open(&hours, "2026-11-23T08:00:00Z");
    assert_open(&hours, "2026-11-23T15:59:59Z");
    assert_opens(&hours, "2026-11-23T16:00:00Z", "2026-11-24T09:00:00", 1);
    assert_opens(&hours, "2026-11-27T16:00:00Z", "2026-11-30T09:00:00", 3);
}

#[test]
fn a_day_may_have_several_hours() {
    let hours = berlin(&[interval(1, (14, 0), (18, 0)), interval(1, (9, 0), (12, 30))], &[]);
    assert_open(&hours, "2026-11-23T11:29:00Z");
    assert_opens(&hours, "2026-11-23T11:30:00Z", "2026-11-23T14:00:00", 0);
    assert_open(&hours, "2026-11-23T13:00:00Z");
    assert_opens(&hours, "2026-11-23T17:00:00Z", "2026-11-30T09:00:00", 7);
}

#[test]
fn hours_that_end_before_they_begin_end_on_the_next_day() {
    let hours = berlin(&[interval(7, (22, 0), (2, 0)), interval(1, (0, 0), (0, 0))], &[]);
    assert_opens(&hours, "2026-11-22T20:59:59Z", "2026-11-22T22:00:00", 0);
    assert_open(&hours, "2026-11-22T23:30:00Z");
    assert_open(&hours, "2026-11-23T22:59:59Z");
    assert_opens(&hours, "2026-11-23T23:00:00Z", "2026-11-29T22:00:00", 5);
}

#[test]
fn a_holiday_has_no_hours_and_ends_those_of_the_night_before() {
    let hours = berlin(&[1, 2, 3, 4, 5, 6, 7].map(|day| interval(day, (20, 0), (4, 0))), &["2026-12-25"]);
    assert_open(&hours, "2026-12-24T22:59:59Z");
    assert_opens(&hours, "2026-12-24T23:00:00Z", "2026-12-26T20:00:00", 1);
    assert_opens(&hours, "2026-12-25T20:00:00Z", "2026-12-26T20:00:00", 1);
    assert_opens(&hours, "2026-12-26T01:00:00Z", "2026-12-26T20:00:00", 0);
}

#[test]
fn a_row_of_holidays_is_skipped() {
    let hours = office(&["2026-12-24", "2026-12-25", "2026-12-28", "2026-12-29", "2026-12-30"]);
    assert_opens(&hours, "2026-12-24T10:00:00Z", "2026-12-31T09:00:00", 7);
}

#[test]
fn a_site_that_never_opens_says_no_time() {
    let first: Date = "2026-12-25".parse().expect("a date");
    let year = first.series(jiff::Span::new().days(1)).take(MAX_DAYS_AHEAD).map(|day| day.to_string());
    let hours = BusinessHours { holidays: year.collect(), ..office(&[]) };
    assert_eq!(opening(&hours, "2026-12-25T10:00:00Z"), None);
    assert!(!is_open(&hours, ms("2026-12-25T10:00:00Z")));
}

#[test]
fn hours_follow_the_clock_through_a_change_of_the_time() {
    let hours = office(&[]);
    // The clock is set forward on Sunday, 29 March, and back on Sunday, 25 October 2026.
    assert_open(&hours, "2026-03-27T08:00:00Z");
    assert_opens(&hours, "2026-03-27T16:00:00Z", "2026-03-30T09:00:00", 3);
    assert_open(&hours, "2026-03-30T07:00:00Z");
    assert_open(&hours, "2026-10-23T07:00:00Z");
    assert_opens(&hours, "2026-10-26T07:59:59Z", "2026-10-26T09:00:00", 0);
}

#[test]
fn an_hour_that_the_clock_skips_is_not_waited_for() {
    let begin = berlin(&[interval(7, (2, 30), (6, 0))], &[]);
    assert_opens(&begin, "2026-03-29T00:59:59Z", "2026-03-29T03:00:00", 0);
    assert_open(&begin, "2026-03-29T01:00:00Z");
    let end = berlin(&[interval(7, (1, 0), (2, 30))], &[]);
    assert_open(&end, "2026-03-29T00:59:59Z");
    assert_opens(&end, "2026-03-29T01:00:00Z", "2026-04-05T01:00:00", 7);
    let whole = berlin(&[interval(7, (2, 0), (3, 0))], &[]);
    assert_opens(&whole, "2026-03-29T00:30:00Z", "2026-04-05T02:00:00", 7);
}

#[test]
fn hours_whose_times_come_twice_last_from_the_first_to_the_second() {
    let hours = berlin(&[interval(7, (2, 0), (2, 30))], &[]);
    assert_opens(&hours, "2026-10-24T23:59:59Z", "2026-10-25T02:00:00", 0);
    assert_open(&hours, "2026-10-25T00:00:00Z");
    assert_open(&hours, "2026-10-25T01:29:59Z");
    assert_opens(&hours, "2026-10-25T01:30:00Z", "2026-11-01T02:00:00", 7);
}

#[test]
fn midnight_may_be_skipped_as_well() {
    // In Cairo, the clock goes from 00:00 to 01:00 on Friday, 24 April 2026.
    let hours =
        BusinessHours { time_zone: "Africa/Cairo".to_owned(), ..berlin(&[interval(5, (0, 0), (8, 0))], &[]) };
    assert_opens(&hours, "2026-04-23T21:59:59Z", "2026-04-24T01:00:00", 1);
    assert_open(&hours, "2026-04-23T22:00:00Z");
}

#[test]
fn the_day_is_that_of_the_site() {
    let hours = BusinessHours { time_zone: "Pacific/Auckland".to_owned(), ..office(&[]) };
    // Monday, 09:00 in Auckland is Sunday evening elsewhere.
    assert_open(&hours, "2026-11-22T20:00:00Z");
    assert_opens(&hours, "2026-11-22T19:59:00Z", "2026-11-23T09:00:00", 0);
}

#[test]
fn checked_hours_are_in_their_order_and_each_is_there_once() {
    let twice = interval(3, (9, 0), (12, 0));
    let given = BusinessHours {
        time_zone: " europe/berlin ".to_owned(),
        intervals: vec![twice, interval(1, (8, 0), (9, 0)), twice],
        holidays: ["2027-01-01", " 2026-12-25", "2027-01-01"].map(str::to_owned).to_vec(),
    };
    let expected = berlin(&[interval(1, (8, 0), (9, 0)), twice], &["2026-12-25", "2027-01-01"]);
    assert_eq!(checked_hours(given).expect("valid"), expected);
}

#[test]
fn names_what_is_wrong() {
    let with = |change: &dyn Fn(&mut BusinessHours)| {
        let mut hours = office(&["2026-12-25"]);
        change(&mut hours);
        checked_hours(hours).expect_err("invalid").to_string()
    };
    for zone in ["", "Mars/Base", "Etc/Unknown", "../../etc/passwd", "CET-1CEST", "Europe/Berlin\0"] {
        let error = with(&|hours| zone.clone_into(&mut hours.time_zone));
        assert!(error.contains("businessHours.timeZone"), "{zone}: {error}");
    }
    for day in
        ["", "2026-02-29", "25.12.2026", "20261225", "2026-12-25T10:00:00", "-000001-01-01", "christmas"]
    {
        let error = with(&|hours| hours.holidays.push(day.to_owned()));
        assert!(error.contains("businessHours.holidays"), "{day}: {error}");
    }
    for (day, from, to) in [(0, 0, 60), (8, 0, 60), (1, 1440, 60), (1, 0, 1440), (255, u16::MAX, u16::MAX)] {
        let wrong = OpenInterval { day, from_minute: from, to_minute: to };
        let error = with(&|hours| hours.intervals.push(wrong));
        assert!(error.contains("businessHours.intervals"), "{day} {from} {to}: {error}");
    }
    let error = with(&|hours| hours.intervals = vec![interval(1, (1, 0), (2, 0)); MAX_LIST_LENGTH + 1]);
    assert!(error.contains("1 to 100"), "{error}");
    let error = with(&|hours| hours.holidays = vec!["2026-12-25".to_owned(); MAX_LIST_LENGTH + 1]);
    assert!(error.contains("at most 100"), "{error}");
}

#[test]
fn stored_hours_that_cannot_be_read_are_none() {
    let hours = BusinessHours { time_zone: "Mars/Base".to_owned(), ..office(&[]) };
    assert!(is_open(&hours, ms("2026-11-22T03:00:00Z")));
    assert_eq!(opening(&hours, "2026-11-22T03:00:00Z"), None);
    let odd = OpenInterval { day: 1, from_minute: u16::MAX, to_minute: 70 };
    assert!(!is_open(&berlin(&[odd], &["x"]), ms("2026-11-22T03:00:00Z")));
}

/// Returns whether a clock of the wall shows a time within the hours.
fn contains(hours: &BusinessHours, at: DateTime) -> bool {
    let day = at.weekday().to_monday_one_offset().unsigned_abs();
    let minute = u16::from(at.hour().unsigned_abs()) * 60 + u16::from(at.minute().unsigned_abs());
    hours.intervals.iter().any(|&OpenInterval { day: begins, from_minute, to_minute }| {
        let hours = QuietHours { from_minute, to_minute, days: vec![begins], time_zone: String::new() };
        hours.contains(day, minute)
    })
}

proptest! {
    #![proptest_config(cases(32))]
    #[test]
    fn the_next_opening_is_the_first_moment_that_is_open_and_the_hours_are_those_of_the_clock(
        zone in prop::sample::select(ZONES.to_vec()),
        intervals in prop::collection::vec((1_u8..=7, 0_u16..288, 0_u16..288), 1..5),
        steps in 0_i64..400 * 24 * 12,
    ) {
        let intervals = intervals
            .into_iter()
            .map(|(day, from, to)| OpenInterval { day, from_minute: from * 5, to_minute: to * 5 })
            .collect();
        let hours = BusinessHours { time_zone: zone.to_owned(), intervals, holidays: Vec::new() };
        let zone = TimeZone::get(zone).expect("a zone");
        let now_ms = ms("2026-01-01T00:00:00Z") + steps * STEP * 60_000;
        let clock = |ms: i64| zone.to_datetime(Timestamp::from_millisecond(ms).expect("a time"));
        // The clock may show another time around a change.
        let offset = |ms: i64| zone.to_offset(Timestamp::from_millisecond(ms).expect("a time"));
        let day_ms = 24 * 60 * 60_000;
        if offset(now_ms - day_ms) == offset(now_ms + day_ms) {
            prop_assert_eq!(is_open(&hours, now_ms), contains(&hours, clock(now_ms)));
        }
        match next_opening(&hours, now_ms) {
            None => prop_assert!(is_open(&hours, now_ms)),
            Some(Opening { at, days_ahead }) => {
                // A week has all hours, unless the clock skips them.
                let steps = (0..).map(|step| now_ms + step * STEP * 60_000);
                let first = steps.take(15 * 24 * 12).find(|ms| is_open(&hours, *ms));
                let first = clock(first.expect("it opens within two weeks"));
                prop_assert_eq!(first, at);
                let today = clock(now_ms).date();
                prop_assert_eq!(today.checked_add(jiff::Span::new().days(days_ahead)).ok(), Some(at.date()));
            }
        }
    }
}
