//! Reports.

use chat_protocol::admin::Report;
use chat_service::SiteChange;
use serde_json::json;

use crate::inbox::desk::Desk;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Client, options};

/// Returns today's date in UTC.
fn today() -> String {
    jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

on_both_databases! {
    async fn a_report_counts_what_happened(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let begin = async |text: &str, page: &str, email: Option<&str>| {
            let body = json!({ "message": text, "sourcePage": page, "visitor": { "email": email } });
            let data = desk.client.post("/chat/messages", None, &body).await.data();
            data["conversationId"].as_str().expect("an id").to_owned()
        };
        let day = today();
        begin("How much is a mug?", "/mugs?utm=1", None).await;
        begin("Do you ship?", "/mugs", Some("ada@shop.example")).await;
        let asked = begin("Can I talk to a real person?", "/help", None).await;
        desk.answer(&asked, "Olga here.").await;
        desk.change(&asked, json!({ "status": "closed" })).await;
        // A run over midnight is a run over two days.
        let (from, to) = (day, today());
        let report: Report = desk.read(&format!("/report?from={from}&to={to}&timeZone=UTC")).await;
        let totals = &report.totals;
        assert_eq!((totals.conversations, totals.answered_by_ai, totals.answered_by_person), (3, 0, 1));
        assert_eq!((totals.unanswered, report.outcomes.could_not_answer, report.outcomes.small_talk), (2, 2, 1));
        assert_eq!((totals.handed_off, totals.leads, totals.closed), (1, 1, 1));
        for time in [totals.first_response_ms, totals.first_person_response_ms, totals.resolution_ms] {
            assert!(time.is_some_and(|time| (0..60_000).contains(&time)), "{totals:?}");
        }
        assert_eq!(report.before.conversations, 0);
        assert_eq!(report.days.iter().map(|day| day.conversations).sum::<i64>(), 3);
        assert_eq!(report.hours.iter().map(|hour| hour.messages).sum::<i64>(), 3);
        let pages: Vec<(&str, i64)> =
            report.pages.iter().map(|page| (page.path.as_str(), page.conversations)).collect();
        assert_eq!(pages, [("/mugs", 2), ("/help", 1)]);
        let site = &desk.client.site.id;
        let of_site: Report = desk.read(&format!("/report?from={from}&to={to}&site={site}")).await;
        assert_eq!(of_site.totals, report.totals);
        let year: Report = desk.read("/report?from=2024-01-01&to=2024-12-31&timeZone=Asia/Kolkata").await;
        assert_eq!((year.days.len(), year.totals.conversations), (366, 0));
        assert_eq!((year.days[0].day.as_str(), year.days[365].day.as_str()), ("2024-01-01", "2024-12-31"));
    }

    async fn the_wait_for_a_person_counts_for_visitors_who_did_not_ask_for_one(database: &TestDatabase) {
        let change = SiteChange { answering: Some("people_only".to_owned()), ..SiteChange::default() };
        let desk = Desk::of(Client::with(options(database), change).await, "Olga").await;
        let day = today();
        let id = desk.client.begin("Do you ship?").await;
        desk.answer(&id, "We do.").await;
        let report: Report = desk.read(&format!("/report?from={day}&to={}", today())).await;
        let waited = report.totals.first_person_response_ms;
        assert!(waited.is_some_and(|waited| (0..60_000).contains(&waited)), "{waited:?}");
    }

    async fn a_report_as_csv_has_no_formulas(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let body = json!({ "message": "Hello", "sourcePage": "=HYPERLINK(\"https://evil.example\")" });
        desk.client.post("/chat/messages", None, &body).await.data();
        let day = today();
        let answer = desk.call("GET", &format!("/report.csv?from={day}&to={}", today()), None).await;
        assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
        let text = String::from_utf8_lossy(&answer.body).into_owned();
        assert!(text.starts_with("\u{feff}day,conversations,answered by AI,unanswered,leads\r\n"), "{text}");
        assert!(text.contains("\"'=HYPERLINK(\"\"https://evil.example\"\")\",1\r\n"), "{text}");
    }
}

#[tokio::test]
async fn periods_that_make_no_sense_are_refused() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let desk = Desk::new(&database).await;
    for query in [
        "from=2026-11-02&to=2026-11-01",
        "from=2025-01-01&to=2026-11-01",
        "from=2026-13-01&to=2026-13-02",
        "from=x&to=2026-01-01",
        "from=-009999-01-01&to=-009999-01-01",
        "from=9999-12-31&to=9999-12-31",
        "from=2026-11-01",
        "from=2026-11-01&to=2026-11-02&timeZone=Mars/Base",
    ] {
        assert_eq!(desk.call("GET", &format!("/report?{query}"), None).await.status, 400, "{query}");
    }
    let path = "/report?from=2026-11-01&to=2026-11-02&site=site_0";
    assert_eq!(desk.call("GET", path, None).await.status, 404);
}
