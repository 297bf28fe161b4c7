//! A static site in the folder `www`, and its jobs.

use std::path::Path;

use chat_connector::static_site::{StaticSite, StaticSiteOptions};
use chat_protocol::Job;
use serde_json::{Value, json};

/// Returns the handler of a site's jobs, whose records are in the folder `state`.
pub fn static_site(directory: &Path) -> StaticSite {
    StaticSite::new(StaticSiteOptions {
        root: directory.join("www"),
        state: directory.join("state"),
        origin: "https://shop.example".to_owned(),
        template: None,
    })
}

/// Returns a job as the service sends it.
pub fn job(id: &str, job_type: &str, payload: &Value) -> Job {
    let job = json!({ "id": id, "type": job_type, "payload": payload });
    Job::try_from(serde_json::from_value::<chat_protocol::Value>(job).expect("JSON")).expect("a job")
}
