//! Asks one test question.

use chat_protocol::admin::settings::{TestQuestionText, TestResult};

use super::judge::judge;
use super::questions::checked;
use crate::Service;
use crate::ai::{Threshold, Tried, rehearse};
use crate::error::ApiError;
use crate::sites::Site;

/// Asks a question, and returns whether the assistant meets the expectation. Nothing is stored.
pub(crate) async fn ask(
    service: &Service,
    site: &Site,
    written: &TestQuestionText,
    threshold: Threshold,
) -> Result<TestResult, ApiError> {
    let written = checked(written)?;
    let locale = Some(written.locale.as_str()).filter(|locale| !locale.is_empty());
    let tried = Tried { question: &written.question, locale, threshold };
    Ok(judge(&written, rehearse(service, site, tried).await?, threshold))
}
