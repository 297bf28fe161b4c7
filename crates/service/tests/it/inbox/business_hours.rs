//! The business hours of a site: who answers, and what visitors are told.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chat_service::{Service, SiteChange};
use serde_json::{Value, json};

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options};

/// Returns the day of the week in some days (UTC), 1 for Monday to 7 for Sunday.
fn weekday_in(days: u64) -> u64 {
    let now = SystemTime::now() + Duration::from_secs(days * 24 * 60 * 60);
    let days = now.duration_since(UNIX_EPOCH).expect("after 1970").as_secs() / (24 * 60 * 60);
    // 1970-01-01 was a Thursday.
    (days + 3) % 7 + 1
}

/// Returns hours of one day of the week.
fn hours(day: u64, from_minute: u32, to_minute: u32) -> Value {
    let intervals = json!([{ "day": day, "fromMinute": from_minute, "toMinute": to_minute }]);
    json!({ "timeZone": "Europe/Berlin", "intervals": intervals, "holidays": ["2026-12-25"] })
}

/// Returns hours that begin at nine in three days.
fn closed() -> Value {
    hours(weekday_in(3), 540, 600)
}

/// Opens a site with a mode of answering, and with business hours that have not begun.
async fn closed_desk(database: &TestDatabase, answering: &str) -> Desk {
    let hours = serde_json::from_value(closed()).expect("hours");
    let change = SiteChange {
        answering: Some(answering.to_owned()),
        business_hours: Some(Some(hours)),
        ..SiteChange::default()
    };
    Desk::of(Client::with(options(database), change).await, "Olga").await
}

async fn say(desk: &Desk, body: Value) -> Value {
    desk.client.post("/chat/messages", None, &body).await.data()
}

on_both_databases! {
    async fn hours_are_stored_shown_and_removed_and_those_that_are_wrong_are_refused(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let path = format!("/sites/{}", desk.client.site.id);
        assert_eq!(desk.get(&path).await["businessHours"], json!(null));
        let site = desk.patch(&path, &json!({ "businessHours": hours(1, 540, 0) })).await.data();
        assert_eq!(site["businessHours"], hours(1, 540, 0));
        for (field, wrong) in [
            ("timeZone", json!({ "timeZone": "Mars/Base", "intervals": hours(1, 0, 60)["intervals"] })),
            ("intervals", json!({ "timeZone": "UTC", "intervals": [] })),
            ("intervals", hours(8, 0, 60)),
            ("intervals", hours(1, 1440, 60)),
            ("holidays", json!({ "timeZone": "UTC", "intervals": hours(1, 0, 60)["intervals"], "holidays": ["today"] })),
            ("fromMinute", hours(1, 70_000, 60)),
            ("unknown", json!({ "timeZone": "UTC", "intervals": [], "always": true })),
        ] {
            let answer = desk.patch(&path, &json!({ "businessHours": wrong })).await;
            assert_eq!(answer.status, 400, "{field}");
            let text = answer.json()["error"]["message"].to_string();
            assert!(matches!(field, "fromMinute" | "unknown") || text.contains(field), "{field}: {text}");
        }
        desk.patch(&path, &json!({ "assistantName": "Clover" })).await.data();
        assert_eq!(desk.get(&path).await["businessHours"], hours(1, 540, 0));
        let site = desk.patch(&path, &json!({ "businessHours": null })).await.data();
        assert_eq!(site["businessHours"], json!(null));
    }

    async fn hours_of_another_tenant_are_neither_seen_nor_changed(database: &TestDatabase) {
        let service = Service::open(options(database)).await.expect("opened");
        let olga = Desk::of(Client::of(service.clone(), SiteChange::default()).await, "Olga").await;
        let rival = Desk::of(Client::of(service, SiteChange::default()).await, "Rita").await;
        let path = format!("/sites/{}", olga.client.site.id);
        olga.patch(&path, &json!({ "businessHours": hours(1, 540, 600) })).await.data();
        let change = json!({ "businessHours": hours(2, 0, 60) });
        assert_eq!(rival.patch(&path, &change).await.status, 404);
        assert_eq!(rival.call("GET", &path, None).await.status, 404);
        let agent = olga.invite("Ben", "agent").await;
        assert_eq!(agent.patch(&path, &change).await.status, 403);
        assert_eq!(olga.get(&path).await["businessHours"], hours(1, 540, 600));
    }

    async fn outside_of_the_hours_the_ai_answers_although_somebody_is_online(database: &TestDatabase) {
        let desk = closed_desk(database, "people_first").await;
        let console = desk.open().await;
        let is_online = async || desk.client.get("/chat/presence").await.data()["operatorOnline"] == true;
        eventually("online", is_online).await;
        let closed = say(&desk, json!({ "message": "Do you ship to Norway?" })).await;
        assert_eq!(closed["outcome"], "could_not_answer");
        let text = closed["message"]["content"].as_str().expect("a text");
        assert!(!text.contains("We are back"), "somebody is online: {text}");
        let path = format!("/sites/{}", desk.client.site.id);
        let always: Vec<_> = (1..=7).map(|day| json!({ "day": day, "fromMinute": 0, "toMinute": 0 })).collect();
        let always = json!({ "timeZone": "Asia/Kolkata", "intervals": always });
        desk.patch(&path, &json!({ "businessHours": always })).await.data();
        let open = say(&desk, json!({ "message": "Do you ship to Norway?" })).await;
        assert_eq!((&open["message"], &open["outcome"]), (&json!(null), &json!(null)));
        assert_eq!(open["lead"]["needsHandoff"], true);
        drop(console);
    }

    async fn a_visitor_who_waits_is_told_once_when_the_team_is_back(database: &TestDatabase) {
        let names = ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"];
        let content = |data: &Value| data["message"]["content"].as_str().unwrap_or_default().to_owned();
        for answering in ["people_only", "people_first", "ai_first"] {
            let desk = closed_desk(database, answering).await;
            let site = desk.get(&format!("/sites/{}", desk.client.site.id)).await;
            let day = site["businessHours"]["intervals"][0]["day"].as_u64().expect("a day");
            let name = names[usize::try_from(day - 1).expect("an index")];
            let expected = format!("Wir sind am {name} um 09:00 Uhr wieder da.");
            let first = say(&desk, json!({ "message": "Ich möchte mit einem Menschen sprechen" })).await;
            assert!(content(&first).ends_with(&expected), "{answering}: {first}");
            let id = first["conversationId"].as_str().expect("an id");
            let again = json!({ "conversationId": id, "message": "Gibt es einen Mitarbeiter, der mir hilft?" });
            let second = say(&desk, again).await;
            assert!(!content(&second).contains("wieder da"), "{answering}: {second}");
        }
    }

    async fn without_hours_or_during_them_nothing_is_said_about_the_time(database: &TestDatabase) {
        let always: Vec<_> = (1..=7).map(|day| json!({ "day": day, "fromMinute": 0, "toMinute": 0 })).collect();
        for hours in [json!(null), json!({ "timeZone": "Etc/UTC", "intervals": always })] {
            let desk = closed_desk(database, "people_only").await;
            let path = format!("/sites/{}", desk.client.site.id);
            desk.patch(&path, &json!({ "businessHours": hours })).await.data();
            let first = say(&desk, json!({ "message": "Do you ship to Norway?" })).await;
            let text = first["message"]["content"].as_str().expect("a text");
            assert!(text.contains("team") && !text.contains("We are back"), "{text}");
        }
    }
}
