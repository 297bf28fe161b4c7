//! Lists: views, order, pages, search and counts.

use chat_protocol::admin::{ConversationCounts, ConversationPage, State};
use serde_json::json;

use crate::inbox::desk::Desk;
use crate::support::Client;
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

on_both_databases! {
    async fn each_view_shows_its_conversations_and_counts_them(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut ids = Vec::new();
        for text in ["Hello", "Can I talk to a real person?", "Good morning", "Thanks", "Goodbye"] {
            ids.push(desk.client.begin(text).await);
        }
        let [free, waiting, mine, closed, snoozed] = ids.try_into().expect("five");
        desk.change(&mine, json!({ "assigneeId": desk.id })).await;
        desk.change(&closed, json!({ "status": "closed" })).await;
        desk.change(&snoozed, json!({ "snoozedUntil": "2027-06-01T08:00:00Z" })).await;
        for (view, expected) in [
            ("mine", vec![&mine]),
            ("unassigned", vec![&waiting, &free]),
            ("open", vec![&waiting, &mine, &free]),
            ("waiting", vec![&waiting]),
            ("snoozed", vec![&snoozed]),
            ("closed", vec![&closed]),
            ("all", vec![&waiting, &snoozed, &closed, &mine, &free]),
        ] {
            let found = desk.ids(&format!("view={view}")).await;
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{view}");
        }
        assert_eq!(desk.ids("").await, desk.ids("view=open").await);
        assert_eq!(desk.ids("view=open&assignee=me").await, std::slice::from_ref(&mine));
        assert_eq!(desk.ids("view=open&assignee=nobody").await, [waiting.clone(), free.clone()]);
        assert_eq!(desk.ids("status=closed").await, [closed]);
        let counts: ConversationCounts = desk.read("/conversations/counts").await;
        let expected =
            ConversationCounts { mine: 1, unassigned: 2, open: 3, waiting: 1, snoozed: 1, unread: 3 };
        assert_eq!(counts, expected);
    }

    async fn the_longest_waiting_comes_first_and_pages_never_repeat(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut waiting = Vec::new();
        let mut others = Vec::new();
        for number in 0..12 {
            if number % 3 == 0 {
                waiting.push(desk.client.begin("Can I talk to a real person?").await);
            } else {
                others.insert(0, desk.client.begin("Hello").await);
            }
        }
        let expected: Vec<String> = waiting.into_iter().chain(others).collect();
        let (mut found, mut query) = (Vec::new(), "view=open&limit=5".to_owned());
        loop {
            let page: ConversationPage = desk.read(&format!("/conversations?{query}")).await;
            found.extend(page.conversations.into_iter().map(|one| one.id));
            let Some(before) = page.next_before else { break };
            query = format!("view=open&limit=5&before={before}");
        }
        assert_eq!(found, expected);
    }

    async fn a_summary_has_everything_that_a_list_shows(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let body = json!({
            "message": "One\n\n  two", "locale": "de", "sourcePage": "/mugs",
            "visitor": { "visitorId": "v-1", "name": "Ada", "email": "ada@shop.example" },
        });
        desk.client.post("/chat/messages", None, &body).await.data();
        let page: ConversationPage = desk.read("/conversations").await;
        let [summary] = page.conversations.as_slice() else { panic!("{page:?}") };
        assert_eq!(summary.visitor.name.as_deref(), Some("Ada"));
        assert_eq!((summary.locale.as_deref(), summary.source_page.as_deref()), (Some("de"), Some("/mugs")));
        assert_eq!((summary.unread, summary.message_count, summary.status), (1, 2, State::Waiting));
        assert!(summary.lead.has_contact && summary.lead.score > 0 && !summary.blocked);
        let last = summary.last_message.as_ref().expect("a last message");
        assert_eq!(last.role, "assistant");
        assert!(!last.text.contains('\n') && !last.text.is_empty());
    }

    async fn a_search_finds_messages_visitors_notes_and_ids_at_all_sites(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let tenant = desk.client.site.tenant_id.clone();
        let directory = desk.client.service.directory();
        let blog = directory.create_site(&tenant, "Blog", chat_service::SiteChange::default()).await.expect("a site");
        let body = json!({
            "message": "I look for celadon bowls",
            "visitor": { "visitorId": "v-1", "name": "Ada Löwe", "company": "50% off", "phone": "+49 30 901820" },
        });
        let first = desk.client.post("/chat/messages", None, &body).await.data();
        let first = first["conversationId"].as_str().expect("an id").to_owned();
        let other = desk.client.begin("Hello").await;
        desk.post(&format!("/conversations/{other}/notes"), &json!({ "text": "Wants an INVOICE, Ärger" })).await.data();
        for words in ["celadon%20bow", "ada%20l%C3%B6we", "L%C3%96WE", "50%25%20off", "901820", "030%20901%20820", "lowe", &first] {
            assert_eq!(desk.ids(&format!("view=all&q={words}")).await, std::slice::from_ref(&first), "{words}");
        }
        for words in ["invoice", "%C3%84rger", "arger", "nvoic"] {
            assert_eq!(desk.ids(&format!("view=all&q={words}")).await, std::slice::from_ref(&other), "{words}");
        }
        assert_eq!(desk.ids(&format!("view=all&q=celadon&site={}", blog.id)).await, [""; 0]);
        assert_eq!(desk.ids("view=closed&q=celadon").await, [""; 0]);
        for words in ["name", "email", "null", "_", "!", "%25", "%27", "%22", "zebra"] {
            assert_eq!(desk.ids(&format!("view=all&q={words}")).await, [""; 0], "{words}");
        }
    }

    async fn nothing_of_another_tenant_is_listed_found_or_changed(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let rival = Client::of(desk.client.service.clone(), chat_service::SiteChange::default()).await;
        let theirs = rival.begin("celadon").await;
        assert_eq!(desk.ids("view=all").await, [""; 0]);
        assert_eq!(desk.ids("view=all&q=celadon").await, [""; 0]);
        assert_eq!(desk.ids(&format!("view=all&q={theirs}")).await, [""; 0]);
        assert_eq!(desk.ids(&format!("view=all&site={}", rival.site.id)).await, [""; 0]);
        let counts: ConversationCounts = desk.read("/conversations/counts").await;
        assert_eq!(counts, ConversationCounts::default());
        let path = format!("/conversations/{theirs}");
        for (method, path, body) in [
            ("GET", path.clone(), json!({})),
            ("PATCH", path.clone(), json!({ "status": "closed" })),
            ("GET", format!("{path}/timeline"), json!({})),
            ("POST", format!("{path}/take-over"), json!({})),
            ("POST", format!("{path}/typing"), json!({})),
            ("PATCH", format!("{path}/visitor"), json!({ "name": "x" })),
        ] {
            assert_eq!(desk.call(method, &path, Some(&body)).await.status, 404, "{method} {path}");
        }
    }

    async fn conversations_of_a_deleted_site_are_gone(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let id = desk.client.begin("Hello").await;
        desk.client.service.directory().delete_site(&desk.client.site.id).await.expect("deleted");
        assert_eq!(desk.ids("view=all").await, [""; 0]);
        assert_eq!(desk.call("GET", &format!("/conversations/{id}"), None).await.status, 404);
        let counts: ConversationCounts = desk.read("/conversations/counts").await;
        assert_eq!(counts, ConversationCounts::default());
    }
}

#[tokio::test]
async fn wrong_parameters_are_refused() {
    let database = TestDatabase::new(Kind::Sqlite).await;
    let desk = Desk::new(&database).await;
    for query in ["view=x", "status=x", "before=x", "before=1.x", "unknown=1"] {
        assert_eq!(desk.call("GET", &format!("/conversations?{query}"), None).await.status, 400, "{query}");
    }
    let long = "x".repeat(201);
    let answers = format!("/sites/{}/answers", desk.client.site.id);
    for path in ["/conversations", "/audit", &answers] {
        assert_eq!(desk.call("GET", &format!("{path}?q={long}"), None).await.status, 400, "{path}");
    }
}
