//! Sections 2.1, 7 and 8: the rate limit, and the limits of bodies.

use serde_json::json;

use crate::api::{Api, Checked, fresh};
use crate::servers::RATE_PER_MINUTE;

sentences! {
    an_exceeded_rate_limit_is_429_with_retry_after_and_the_headers_of_the_quota,
    a_body_that_is_too_large_is_refused_with_an_envelope,
    a_page_of_content_has_at_most_100_items,
}

async fn an_exceeded_rate_limit_is_429_with_retry_after_and_the_headers_of_the_quota(api: Api) -> Checked {
    api.only_built_in("the rate limit of the token would be used up")?;
    let mut accepted = 0;
    let refused = loop {
        let answer = api.get("/chat/presence").await;
        if answer.status == 429 {
            break answer;
        }
        let number = |name: &str| answer.header(name).and_then(|value| value.parse::<u32>().ok());
        assert_eq!(number("x-ratelimit-limit"), Some(RATE_PER_MINUTE), "{answer:?}");
        assert!(number("x-ratelimit-remaining").is_some_and(|left| left < RATE_PER_MINUTE), "{answer:?}");
        assert!(number("x-ratelimit-reset").is_some_and(|seconds| seconds <= 60), "{answer:?}");
        accepted += 1;
        // Two windows, as the first may have ended.
        assert!(accepted <= 2 * RATE_PER_MINUTE, "no limit");
    };
    refused.is_failure(429, "RATE_LIMITED");
    let number = |name: &str| refused.header(name).and_then(|value| value.parse::<u32>().ok());
    assert!(number("retry-after").is_some_and(|seconds| (1..=60).contains(&seconds)), "{refused:?}");
    assert_eq!(
        (number("x-ratelimit-limit"), number("x-ratelimit-remaining")),
        (Some(RATE_PER_MINUTE), Some(0))
    );
    assert!(number("x-ratelimit-reset").is_some_and(|seconds| seconds <= 60), "{refused:?}");
    Ok(())
}

async fn a_body_that_is_too_large_is_refused_with_an_envelope(api: Api) -> Checked {
    api.only_built_in("the contract does not specify the size")?;
    let padding = |kilobytes: usize| "x".repeat(kilobytes * 1024);
    let item = json!({ "externalId": "1", "type": "page", "content": padding(8 * 1024) });
    for (path, body) in [
        ("/chat/messages", json!({ "message": "Hello", "padding": padding(64) })),
        ("/events", json!({ "events": [{ "eventType": "page_view", "title": padding(256) }] })),
        ("/site/jobs/next", json!({ "padding": padding(64) })),
        ("/site/jobs/job_1/complete", json!({ "ok": false, "claimToken": "x", "error": padding(256) })),
        ("/content/sync", json!({ "snapshotId": "s", "page": 1, "items": [item] })),
    ] {
        let answer = api.post(path, &fresh("too-large"), &body).await;
        answer.is_failure(413, "INVALID_REQUEST");
        assert!(answer.header("x-request-id").is_some() && answer.header("x-service-api-version").is_some());
    }
    api.conversation().await;
    Ok(())
}

async fn a_page_of_content_has_at_most_100_items(api: Api) -> Checked {
    api.only_built_in("the contract does not specify the size")?;
    let page = |items: usize| {
        let items: Vec<_> = (0..items)
            .map(|number| json!({ "externalId": number.to_string(), "type": "page", "title": "A page" }))
            .collect();
        json!({ "snapshotId": fresh("snapshot"), "page": 1, "items": items })
    };
    let receipt = api.post("/content/sync", &fresh("content-sync"), &page(100)).await.data();
    assert_eq!((&receipt["accepted"], &receipt["rejected"]), (&json!(100), &json!(0)));
    for items in [0, 101] {
        let refused = api.post("/content/sync", &fresh("content-sync"), &page(items)).await;
        refused.is_failure(400, "INVALID_REQUEST");
    }
    Ok(())
}
