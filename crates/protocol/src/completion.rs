//! The report of a job's outcome to the service (4.12).

use crate::{ClaimToken, FieldError, Fields, Job, Value};

/// The result of a successful job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Done {
    /// `result.externalId`: the site's id of the content.
    pub external_id: Option<String>,
    /// `result.url`: the public URL.
    pub url: Option<String>,
    /// `result.path`: the path on the site.
    pub path: Option<String>,
    /// `result.status`: the status on the site.
    pub status: Option<String>,
    /// `result.message`: a note.
    pub message: Option<String>,
    /// `result.data`: an object, or null.
    pub data: Value,
}

impl TryFrom<Value> for Done {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let names = ["externalId", "url", "path", "status", "message"];
        let [external_id, url, path, status, message] = fields.optional_texts(names)?;
        let data @ (Value::Null | Value::Object(_)) = fields.take("data") else {
            return Err(FieldError::new("data", "must be an object"));
        };
        Ok(Self { external_id, url, path, status, message, data })
    }
}

impl From<&Done> for Value {
    fn from(done: &Done) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        Value::object([
            ("externalId", text(&done.external_id)),
            ("url", text(&done.url)),
            ("path", text(&done.path)),
            ("status", text(&done.status)),
            ("message", text(&done.message)),
            ("data", done.data.clone()),
        ])
    }
}

/// The outcome of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// `ok: true`, with `result`.
    Done(Done),
    /// `ok: false`.
    Failed {
        /// `error`: the reason.
        reason: String,
        /// `permanent`: whether another attempt would fail as well; an extension of ours.
        permanent: bool,
    },
}

/// The body of `POST /site/jobs/{id}/complete`.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// `claimToken`: the token of the claim.
    pub claim_token: ClaimToken,
    /// `ok`, and `result` or `error`.
    pub outcome: Outcome,
}

impl TryFrom<Value> for Completion {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let claim_token = ClaimToken::from(fields.text("claimToken")?);
        let outcome = if fields.bool("ok")? {
            Outcome::Done(match fields.take("result") {
                Value::Null => Done::default(),
                result => Done::try_from(result).map_err(|error| error.within("result"))?,
            })
        } else {
            Outcome::Failed {
                reason: fields.optional_text("error")?.unwrap_or_default(),
                permanent: fields.lenient_bool("permanent").unwrap_or(false),
            }
        };
        Ok(Self { claim_token, outcome })
    }
}

impl From<&Completion> for Value {
    fn from(body: &Completion) -> Self {
        let (ok, result, error, permanent) = match &body.outcome {
            Outcome::Done(done) => (true, Value::from(done), Value::Null, false),
            Outcome::Failed { reason, permanent } => (false, Value::Null, reason.as_str().into(), *permanent),
        };
        Value::object([
            ("ok", ok.into()),
            ("claimToken", (&body.claim_token).into()),
            ("result", result),
            ("error", error),
            ("permanent", permanent.then_some(true).into()),
        ])
    }
}

impl Completion {
    /// Parses the `data` of the response to a completion: the updated job, of which the contract specifies
    /// id, type, status and times.
    pub fn parse_response(data: Value) -> Result<Job, FieldError> {
        let job = Fields::of(data)?.take("job");
        Job::try_from(job).map_err(|error| error.within("job"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_completion_survives_a_round_trip() {
        for outcome in [
            Outcome::Done(Done {
                external_id: Some("42".into()),
                url: Some("https://shop.example/a".into()),
                data: Value::object([("version", 2_i64.into())]),
                ..Done::default()
            }),
            Outcome::Failed { reason: "the disk is full".into(), permanent: false },
            Outcome::Failed { reason: "there is no such page".into(), permanent: true },
        ] {
            let body = Completion { claim_token: "c1".into(), outcome };
            assert_eq!(Completion::try_from(json(&Value::from(&body).to_string())), Ok(body));
        }
    }

    #[test]
    fn names_the_missing_or_invalid_field_of_a_completion() {
        let error = |text: &str| Completion::try_from(json(text)).unwrap_err().to_string();
        assert_eq!(error(r#"{"ok":true}"#), "claimToken is missing");
        assert_eq!(error(r#"{"claimToken":"c"}"#), "ok is missing");
        assert_eq!(error(r#"{"claimToken":"c","ok":"yes"}"#), "ok must be a boolean, not a string");
        assert_eq!(
            error(r#"{"claimToken":"c","ok":true,"result":{"data":[]}}"#),
            "result.data must be an object"
        );
    }

    #[test]
    fn parses_the_job_in_the_response_to_a_completion() {
        let job = Completion::parse_response(json(
            r#"{"job":{"id":"j","type":"sync_content","status":"succeeded"}}"#,
        ))
        .expect("usable");
        assert_eq!(job.status, crate::JobStatus::Succeeded);
        assert_eq!(
            Completion::parse_response(json("{}")).unwrap_err().to_string(),
            "job must be an object, not nothing"
        );
    }
}
