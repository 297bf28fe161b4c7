//! Cloud jobs, which the service assigns to the site (2.2, 4.11).

use crate::{ClaimToken, FieldError, Fields, JobId, Value};

/// The type of a job (2.2). The contract names three, and mentions jobs for deleting and rolling back without
/// naming them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobType {
    /// `sync_content`: push the site's content.
    SyncContent,
    /// `publish_article`.
    PublishArticle,
    /// `apply_seo_overlay`.
    ApplySeoOverlay,
    /// `delete_article` or `delete_content`. The contract does not name it.
    DeleteArticle,
    /// `rollback_article` or `rollback_content`. The contract does not name it.
    RollbackArticle,
    /// Any other, as the service sent it.
    Other(String),
}

impl JobType {
    /// Returns the type's name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::SyncContent => "sync_content",
            Self::PublishArticle => "publish_article",
            Self::ApplySeoOverlay => "apply_seo_overlay",
            Self::DeleteArticle => "delete_article",
            Self::RollbackArticle => "rollback_article",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for JobType {
    fn from(name: &str) -> Self {
        match name {
            "sync_content" => Self::SyncContent,
            "publish_article" => Self::PublishArticle,
            "apply_seo_overlay" => Self::ApplySeoOverlay,
            "delete_article" | "delete_content" => Self::DeleteArticle,
            "rollback_article" | "rollback_content" => Self::RollbackArticle,
            _ => Self::Other(name.to_owned()),
        }
    }
}

/// The status of a job (3). The contract names two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobStatus {
    /// `running`: claimed.
    Running,
    /// `succeeded`.
    Succeeded,
    /// Any other, as the service sent it.
    Other(String),
}

impl JobStatus {
    /// Returns the status's name on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Other(name) => name,
        }
    }
}

impl From<&str> for JobStatus {
    fn from(name: &str) -> Self {
        match name {
            "running" => Self::Running,
            "succeeded" => Self::Succeeded,
            _ => Self::Other(name.to_owned()),
        }
    }
}

/// A job (2.2).
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// `id`.
    pub id: JobId,
    /// `type`.
    pub job_type: JobType,
    /// `status`.
    pub status: JobStatus,
    /// `title`.
    pub title: Option<String>,
    /// `attempts`: the number of this attempt.
    pub attempts: Option<i64>,
    /// `maxAttempts`.
    pub max_attempts: Option<i64>,
    /// `claimToken`; missing from the response to a completion.
    pub claim_token: Option<ClaimToken>,
    /// `leaseUntil`, ISO 8601: the deadline for the completion.
    pub lease_until: Option<String>,
    /// `payload`: an object that depends on the type, or null.
    pub payload: Value,
    /// `createdAt`, ISO 8601.
    pub created_at: Option<String>,
    /// `updatedAt`, ISO 8601.
    pub updated_at: Option<String>,
    /// `completedAt`, ISO 8601.
    pub completed_at: Option<String>,
}

impl TryFrom<Value> for Job {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let mut needed =
            |name: &str| fields.lenient_text(name).ok_or_else(|| FieldError::new(name, "is missing"));
        let id = JobId::from(needed("id")?);
        let job_type = JobType::from(needed("type")?.as_str());
        let status = fields.lenient_text("status");
        Ok(Self {
            id,
            job_type,
            status: status.map_or(JobStatus::Running, |name| JobStatus::from(name.as_str())),
            title: fields.lenient_text("title"),
            attempts: fields.lenient_integer("attempts"),
            max_attempts: fields.lenient_integer("maxAttempts"),
            claim_token: fields.lenient_text("claimToken").map(ClaimToken::from),
            lease_until: fields.lenient_text("leaseUntil"),
            payload: fields.take("payload"),
            created_at: fields.lenient_text("createdAt"),
            updated_at: fields.lenient_text("updatedAt"),
            completed_at: fields.lenient_text("completedAt"),
        })
    }
}

impl From<&Job> for Value {
    fn from(job: &Job) -> Self {
        Value::object([
            ("id", (&job.id).into()),
            ("type", job.job_type.as_str().into()),
            ("status", job.status.as_str().into()),
            ("title", job.title.clone().into()),
            ("attempts", job.attempts.into()),
            ("maxAttempts", job.max_attempts.into()),
            ("claimToken", job.claim_token.as_ref().into()),
            ("leaseUntil", job.lease_until.clone().into()),
            ("payload", job.payload.clone()),
            ("createdAt", job.created_at.clone().into()),
            ("updatedAt", job.updated_at.clone().into()),
            ("completedAt", job.completed_at.clone().into()),
        ])
    }
}

/// `data` of `POST /site/jobs/next` (4.11).
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// `siteId`.
    pub site_id: Option<String>,
    /// `job`: `None` when nothing can be claimed. It always has a claim token, without which it could not be
    /// completed.
    pub job: Option<Job>,
}

impl TryFrom<Value> for Claim {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let job = match fields.take("job") {
            Value::Null => None,
            job => Some(Job::try_from(job).map_err(|error| error.within("job"))?),
        };
        if job.as_ref().is_some_and(|job| job.claim_token.is_none()) {
            return Err(FieldError::new("job.claimToken", "is missing"));
        }
        Ok(Self { site_id: fields.lenient_text("siteId"), job })
    }
}

impl From<&Claim> for Value {
    fn from(claim: &Claim) -> Self {
        // `job` is null rather than missing (3).
        Value::Object(vec![
            ("siteId".to_owned(), claim.site_id.clone().into()),
            ("job".to_owned(), claim.job.as_ref().into()),
        ])
    }
}

/// `payload` of a `publish_article` job (2.2), and of the jobs that delete one or roll one back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArticlePayload {
    /// `contentId`: the service's id of the content.
    pub content_id: Option<String>,
    /// `externalId`: the site's id of the content.
    pub external_id: Option<String>,
    /// `type`: the content's kind, such as `post`.
    pub kind: Option<String>,
    /// `locale`.
    pub locale: Option<String>,
    /// `path`: the path on the site.
    pub path: Option<String>,
    /// `title`.
    pub title: Option<String>,
    /// `content`: HTML.
    pub content: Option<String>,
    /// `action`, such as `publish`.
    pub action: Option<String>,
}

impl TryFrom<Value> for ArticlePayload {
    type Error = FieldError;

    fn try_from(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value).map_err(|error| error.within("payload"))?;
        Ok(Self {
            content_id: fields.lenient_text("contentId"),
            external_id: fields.lenient_text("externalId"),
            kind: fields.lenient_text("type"),
            locale: fields.lenient_language_tag("locale"),
            path: fields.lenient_text("path"),
            title: fields.lenient_text("title"),
            content: fields.optional_text("content").map_err(|error| error.within("payload"))?,
            action: fields.lenient_text("action"),
        })
    }
}

impl From<&ArticlePayload> for Value {
    fn from(payload: &ArticlePayload) -> Self {
        let text = |text: &Option<String>| Value::from(text.clone());
        Value::object([
            ("contentId", text(&payload.content_id)),
            ("externalId", text(&payload.external_id)),
            ("type", text(&payload.kind)),
            ("locale", text(&payload.locale)),
            ("path", text(&payload.path)),
            ("title", text(&payload.title)),
            ("content", text(&payload.content)),
            ("action", text(&payload.action)),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Value {
        serde_json::from_str(text).expect("JSON")
    }

    #[test]
    fn a_claim_survives_a_round_trip() {
        let payload = ArticlePayload { path: Some("/a".into()), ..ArticlePayload::default() };
        let claim = Claim {
            site_id: Some("s".into()),
            job: Some(Job {
                id: "j1".into(),
                job_type: JobType::RollbackArticle,
                status: JobStatus::Running,
                title: Some("Roll back".into()),
                attempts: Some(1),
                max_attempts: Some(3),
                claim_token: Some("c1".into()),
                lease_until: Some("2026-01-01T00:01:00Z".into()),
                payload: Value::from(&payload),
                created_at: Some("2026-01-01T00:00:00Z".into()),
                updated_at: None,
                completed_at: None,
            }),
        };
        assert_eq!(Claim::try_from(json(&Value::from(&claim).to_string())), Ok(claim));
    }

    #[test]
    fn the_job_is_null_when_nothing_can_be_claimed() {
        let nothing = Claim { site_id: None, job: None };
        assert!(Value::from(&nothing).to_string().contains(r#""job":null"#));
        for text in ["{}", r#"{"job":null}"#] {
            assert_eq!(Claim::try_from(json(text)), Ok(nothing.clone()));
        }
    }

    #[test]
    fn names_the_missing_claim_token() {
        let error = |text: &str| Claim::try_from(json(text)).unwrap_err().to_string();
        assert_eq!(error(r#"{"job":{"id":1,"type":"x"}}"#), "job.claimToken is missing");
        assert_eq!(error(r#"{"job":{"type":"x"}}"#), "job.id is missing");
        assert_eq!(error(r#"{"job":[]}"#), "job must be an object, not an array");
    }

    #[test]
    fn keeps_unknown_types_and_statuses() {
        for name in ["sync_content", "publish_article", "delete_article", "rollback_article", "translate"] {
            assert_eq!(JobType::from(name).as_str(), name);
        }
        assert_eq!(JobType::from("delete_content"), JobType::DeleteArticle);
        assert_eq!(JobStatus::from("queued").as_str(), "queued");
    }

    #[test]
    fn payload_fields_are_optional_but_content_must_be_text() {
        assert_eq!(ArticlePayload::try_from(json("{}")), Ok(ArticlePayload::default()));
        let error = ArticlePayload::try_from(json(r#"{"content":7}"#)).unwrap_err();
        assert_eq!(error.to_string(), "payload.content must be a string, not a number");
    }
}
