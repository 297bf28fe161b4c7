//! Every call of the contract, made with a client.

use chat_connector::client::{OverlayQuery, ServerConnectorClient, SyncRun};
use chat_protocol::{
    Activation, Completion, ContentItem, ContentKind, Done, JobStatus, MessageId, Outcome, PageHead,
    SendMessage, Value, VisitorEvent, VisitorProfile,
};
use chat_service::test_mode::LICENSE;
use futures_util::stream;
use secrecy::ExposeSecret;

use crate::service::{Service, TOKEN};

pub fn message(text: &str) -> SendMessage {
    SendMessage {
        conversation_id: None,
        message: text.to_owned(),
        locale: Some("en".to_owned()),
        source_page: None,
        visitor: VisitorProfile { visitor_id: Some("v1".into()), ..VisitorProfile::default() },
    }
}

pub fn event(number: usize) -> VisitorEvent {
    VisitorEvent {
        event_type: "page_view".to_owned(),
        visitor_id: Some("v1".into()),
        customer_id: None,
        channel: None,
        path: Some(format!("/{number}")),
        url: None,
        title: None,
        referrer: None,
        event_data: Value::Null,
        created_at: None,
    }
}

pub fn items(count: usize) -> Vec<ContentItem> {
    let item = |number: usize| ContentItem {
        path: Some(format!("/{number}")),
        title: Some(format!("Page {number}")),
        data: PageHead {
            title: Some(format!("Page {number}")),
            description: Some("A page.".to_owned()),
            ..PageHead::default()
        }
        .into_data(),
        ..ContentItem::new(number.to_string(), ContentKind::Page)
    };
    (0..count).map(item).collect()
}

pub fn activation(license: &str) -> Activation {
    Activation {
        license_code: license.into(),
        domain: "https://shop.example".to_owned(),
        platform: Some("rust".to_owned()),
        site_name: Some("Shop".to_owned()),
        primary_locale: Some("en".to_owned()),
        supported_locales: vec!["en".to_owned()],
    }
}

/// Makes every call, in the order of the contract, and checks the results.
pub async fn every_call(service: &Service) {
    let site =
        ServerConnectorClient::activate(&service.options(), &activation(LICENSE)).await.expect("a token");
    assert_eq!(site.token.expose_secret(), TOKEN);
    let client = ServerConnectorClient::new(service.options(), &site.token).expect("a client");

    assert_eq!(client.get_site_status().await.expect("a status").site_name.as_deref(), Some("Shop"));
    assert!(client.get_chat_config(Some("en-GB")).await.expect("a config").shows_widget());
    let sent = client.send_message(&message("How much is a mug?")).await.expect("a reply");
    let history = client.list_messages(&sent.conversation_id, None).await.expect("a history");
    assert_eq!(history.messages.len(), 2);
    let after =
        client.list_messages(&sent.conversation_id, sent.user_message_id.as_ref().map(MessageId::as_str));
    assert_eq!(after.await.expect("a history").messages.len(), 1);
    let presence = client.get_presence(Some(&sent.conversation_id)).await.expect("a presence");
    assert!(presence.should_poll_messages);
    assert_eq!(client.track(event(0)).await.expect("a tracking").accepted, 1);
    assert_eq!(client.track_batch((0..120).map(event).collect()).await.expect("a tracking").accepted, 120);

    let run = SyncRun { page_size: 10, ..SyncRun::new("s1") };
    let done = client.sync_content_pages(stream::iter(items(25)), &run, |_| ()).await.expect("a sync");
    assert_eq!((done.page, done.items, done.accepted), (3, 25, 25));

    service.local("POST", "/sandbox/overlays", None).await;
    let overlays = client.list_seo_overlays(&OverlayQuery::default()).await.expect("overlays").overlays;
    assert_eq!(overlays.len(), 25);

    let claim = client.claim_next_job().await.expect("a claim");
    let job = claim.job.expect("a job");
    let token = job.claim_token.clone().expect("a claim token");
    let body = Completion { claim_token: token, outcome: Outcome::Done(Done::default()) };
    let completed = client.complete_job(&job.id, &body).await.expect("a completion");
    assert_eq!((completed.id.clone(), completed.status), (job.id.clone(), JobStatus::Succeeded));
    client.complete_job(&job.id, &body).await.expect("the same report again is the same");
}
