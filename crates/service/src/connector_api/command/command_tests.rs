//! Compares the bytes by which a command is admitted with those that the database counts.

use chat_protocol::{IdempotencyKey, VisitorProfile};
use serde_json::json;

use super::*;
use crate::databases::{Kind, TestDatabase, on_both_databases};
use crate::db::args;
use crate::sites;
use crate::visitors::fixture::{number, service};

/// Sums the bytes of the rows that commands of visitors store, as the triggers count them. The answer of the
/// AI is not the visitor's.
const COUNTED: &str = "SELECT CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM (
        SELECT 200 + octet_length(event) AS bytes FROM events
        UNION ALL SELECT 1024 + octet_length(profile) FROM visitors
        UNION ALL SELECT 2048 + 2 * octet_length(profile) FROM conversations
        UNION ALL SELECT 300 + 2 * octet_length(content) FROM messages WHERE role = 'visitor'
        UNION ALL SELECT 2048 FROM idempotency
    ) AS counted";

on_both_databases! {
    async fn a_command_is_admitted_by_what_the_database_counts(database: &TestDatabase) {
        let service = service(database).await;
        let site = Arc::new(sites::find(service.db(), "shop").await.expect("read").expect("a site"));
        let long = || "\u{1F3FA}".repeat(500);
        let profile = json!({
            "visitorId": "x".repeat(500), "name": long(), "email": long(), "phone": long(), "company": long(),
            "wechat": long(), "whatsapp": long(), "country": long(),
        });
        let proved = Identity::new("crm-1", VisitorProfile { name: Some(long()), ..VisitorProfile::default() });
        let events = |visitor: fn(usize) -> String| {
            let event = |number| json!({ "eventType": "page_view", "visitorId": visitor(number), "path": "/" });
            json!({ "events": (0..50).map(event).collect::<Vec<_>>() })
        };
        let (send, record) = (Call::Chat(Endpoint::Send), Call::Chat(Endpoint::Events));
        let message = json!({ "message": "Hello", "visitor": { "visitorId": "v-1" } });
        let mut key = 0;
        for (name, call, identity, body) in [
            ("a message", send, None, message.clone()),
            ("a long message", send, None, json!({ "message": "x".repeat(4000), "visitor": { "visitorId": "v-2" } })),
            ("a message with a long profile", send, None, json!({ "message": "Hello", "visitor": profile })),
            ("a message with a proof", send, Some(&proved), message),
            ("events of new visitors", record, None, events(|number| format!("new-{number}"))),
            ("events of one visitor", record, None, events(|_| "one".to_owned())),
            ("events with a proof", record, Some(&proved), events(|number| format!("claimed-{number}"))),
        ] {
            let body = body.to_string();
            let command = Command::parse(call, None, body.as_bytes()).expect("a command").attributed(identity);
            let (_, admitted) = command.stored(&site, identity).expect("bytes");
            let before = number(service.db(), COUNTED, args![]).await;
            key += 1;
            let keyed = KeyedRequest {
                site_id: site.id.clone(),
                scope: call.path(),
                key: IdempotencyKey::new(format!("chat-v-1-{key:04}")).expect("a key"),
                request: crate::fingerprint::fingerprint(&[body.as_bytes()]),
            };
            let access = Access::Page { site: Arc::clone(&site), origin: None };
            let executed = command.execute(&service, access, identity.cloned(), Caller::Anybody, Some(keyed));
            Box::pin(executed).await.expect("stored");
            let counted = number(service.db(), COUNTED, args![]).await - before;
            let counted = usize::try_from(counted).expect("more than before");
            // A visitor's row counts, whether it is new or not.
            let most = counted + counted / 4 + 1200;
            assert!((counted..=most).contains(&admitted), "{name}: {admitted} admitted, {counted} counted");
        }
    }
}
