//! The API's errors, and their responses (7).

use axum::extract::rejection::{JsonRejection, QueryRejection};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chat_protocol::{ErrorCode, FieldError};
use tracing::error;

use crate::db::DbError;
use crate::response::ApiResponse;

/// The time after which a request may succeed that the database refused, in seconds.
const UNAVAILABLE_RETRY_S: u64 = 2;
/// The time after which somebody may have freed space, in seconds. A job is reported within its lease.
const DISK_FULL_RETRY_S: u64 = 10;

/// An error of an API. Its response is a failure envelope.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// The request is at fault.
    #[error("{0}")]
    InvalidRequest(String),
    /// The body is larger than this endpoint reads.
    #[error("The body may have at most {limit} bytes.")]
    TooLarge {
        /// Maximum bytes.
        limit: usize,
    },
    /// The body is larger than this path reads.
    #[error("The body is too large for this path.")]
    BodyTooLarge,
    /// The body did not arrive in time.
    #[error("The body did not arrive in time: try again.")]
    BodyTimeout,
    /// No bearer token, or the wrong one.
    #[error("Missing or invalid API token.")]
    InvalidToken,
    /// Nobody is signed in, or the credentials are wrong.
    #[error("{message}")]
    Unauthorized {
        /// The code of the error.
        code: &'static str,
        /// The advice to the caller.
        message: &'static str,
    },
    /// The request comes from a place that must not send it, such as another website.
    #[error("{0}")]
    Forbidden(&'static str),
    /// The named resource does not exist.
    #[error("{0} does not exist.")]
    NotFound(&'static str),
    /// The path exists, but not for this method.
    #[error("This path supports {allow} only.")]
    MethodNotAllowed {
        /// The methods that the path has.
        allow: &'static str,
    },
    /// The key was used with a different body.
    #[error("This Idempotency-Key was used with a different body.")]
    IdempotencyConflict,
    /// The key of a job request was used with a different body, or for another job (7).
    #[error("This Idempotency-Key was used for a different request.")]
    JobKeyConflict,
    /// The claim does not hold the job: its lease expired, or another claim holds it (7).
    #[error("This claim does not hold the job: claim again.")]
    LeaseMismatch,
    /// The job is already completed (7).
    #[error("This job is already completed.")]
    AlreadyCompleted,
    /// The caller exceeded its rate limit.
    #[error("Too many requests.")]
    RateLimited {
        /// Seconds until a request may succeed.
        retry_after_s: u64,
    },
    /// A read took longer than it may.
    #[error("This takes too long: choose a shorter period, one site, or words that are found less often.")]
    TooSlow,
    /// The operator has the maximum number of consoles open.
    #[error("Too many consoles are open: close one.")]
    TooManyConsoles,
    /// The service failed.
    #[error("The service failed: see its log.")]
    Internal,
    /// The database is not reachable, busy or full.
    #[error("The service is not available: try again.")]
    Unavailable,
    /// A site, its tenant or a network has stored as much as it may.
    #[error("{0}")]
    StorageFull(String),
    /// The disk has too little free space for this kind of data.
    #[error("The service has too little disk space to store this: its operator has to free some.")]
    DiskFull,
    /// The site's AI replies of this month are used up (8).
    #[error("The AI replies of this month are used up.")]
    InsufficientQuota,
    /// The resource was changed or created by somebody else.
    #[error("{0}")]
    Conflict(String),
    /// The console shows another workspace than the session is in by now.
    #[error("This browser has switched to another workspace: load the console again.")]
    OperatorChanged,
    /// Another operator has taken the conversation over.
    #[error("{0} has taken this conversation over.")]
    ConversationTaken(String),
}

impl ApiError {
    /// The request has no valid session.
    pub(crate) const SIGNED_OUT: Self = Self::Unauthorized { code: "SIGNED_OUT", message: "Sign in first." };

    pub(crate) fn status(&self) -> StatusCode {
        match self {
            Self::InvalidRequest(_) => StatusCode::BAD_REQUEST,
            Self::TooLarge { .. } | Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::BodyTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::InvalidToken | Self::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
            Self::IdempotencyConflict
            | Self::JobKeyConflict
            | Self::LeaseMismatch
            | Self::AlreadyCompleted
            | Self::Conflict(_)
            | Self::OperatorChanged
            | Self::ConversationTaken(_) => StatusCode::CONFLICT,
            Self::RateLimited { .. } | Self::TooManyConsoles => StatusCode::TOO_MANY_REQUESTS,
            Self::InsufficientQuota | Self::StorageFull(_) => StatusCode::PAYMENT_REQUIRED,
            Self::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
            Self::TooSlow => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    pub(crate) fn code(&self) -> ErrorCode {
        match self {
            Self::InvalidRequest(_) | Self::TooLarge { .. } | Self::BodyTooLarge => ErrorCode::InvalidRequest,
            Self::InvalidToken => ErrorCode::InvalidToken,
            Self::Unauthorized { code, .. } => ErrorCode::Other((*code).to_owned()),
            Self::BodyTimeout => ErrorCode::Other("REQUEST_TIMEOUT".to_owned()),
            Self::Forbidden(_) => ErrorCode::Other("FORBIDDEN".to_owned()),
            Self::NotFound(_) => ErrorCode::NotFound,
            Self::MethodNotAllowed { .. } => ErrorCode::Other("METHOD_NOT_ALLOWED".to_owned()),
            Self::IdempotencyConflict => ErrorCode::IdempotencyConflict,
            Self::InsufficientQuota => ErrorCode::InsufficientQuota,
            Self::StorageFull(_) | Self::DiskFull => ErrorCode::Other("STORAGE_FULL".to_owned()),
            Self::Unavailable => ErrorCode::Other("UNAVAILABLE".to_owned()),
            Self::TooSlow => ErrorCode::Other("TOO_SLOW".to_owned()),
            Self::Conflict(_) | Self::JobKeyConflict | Self::LeaseMismatch | Self::AlreadyCompleted => {
                ErrorCode::ResourceConflict
            }
            Self::OperatorChanged => ErrorCode::Other("OPERATOR_CHANGED".to_owned()),
            Self::ConversationTaken(_) => ErrorCode::Other("CONVERSATION_TAKEN".to_owned()),
            Self::RateLimited { .. } | Self::TooManyConsoles => ErrorCode::RateLimited,
            Self::Internal => ErrorCode::Other("INTERNAL_ERROR".to_owned()),
        }
    }

    fn retry_after_s(&self) -> Option<u64> {
        match self {
            Self::RateLimited { retry_after_s } => Some(*retry_after_s),
            Self::Unavailable => Some(UNAVAILABLE_RETRY_S),
            Self::DiskFull => Some(DISK_FULL_RETRY_S),
            _ => None,
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response =
            ApiResponse::failure(self.status(), &self.code(), &self.to_string()).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_s() {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if let Self::MethodNotAllowed { allow } = self {
            headers.insert(header::ALLOW, HeaderValue::from_static(allow));
        }
        response
    }
}

impl From<DbError> for ApiError {
    fn from(error: DbError) -> Self {
        error!("the database failed: {error}");
        if error.is_transient() { Self::Unavailable } else { Self::Internal }
    }
}

impl From<FieldError> for ApiError {
    fn from(error: FieldError) -> Self {
        Self::InvalidRequest(format!("{error}."))
    }
}

impl From<JsonRejection> for ApiError {
    fn from(rejection: JsonRejection) -> Self {
        match &rejection {
            JsonRejection::BytesRejection(_) if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                Self::BodyTooLarge
            }
            // The only other cause is a closed connection, where nobody reads the response.
            JsonRejection::BytesRejection(_) => Self::BodyTimeout,
            _ => Self::InvalidRequest(shortened(&rejection.body_text())),
        }
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::InvalidRequest(shortened(&rejection.body_text()))
    }
}

/// Returns the beginning of a parser's message. It repeats the names and the texts that it does not expect,
/// which may be as long as the body.
fn shortened(message: &str) -> String {
    const MAX_LENGTH: usize = 300;
    match message.char_indices().nth(MAX_LENGTH) {
        Some((end, _)) => format!("{}…", message.get(..end).unwrap_or_default()),
        None => message.to_owned(),
    }
}
