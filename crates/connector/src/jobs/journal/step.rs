//! The steps of a journal, each a line of JSON.

use chat_protocol::{Completion, Done, FieldError, Fields, JobId, Value};

/// A recorded step of a job.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// The job was executed; the completion is to be reported.
    Executed(JobId, Completion),
    /// The service has accepted the report, or has refused it for good.
    Reported(JobId),
    /// The job was done before the journal was last rewritten.
    Done(JobId, Done),
}

impl Step {
    /// Returns the step as a line, with its line break.
    pub(super) fn line(&self) -> String {
        let value = match self {
            Self::Executed(job, report) => {
                Value::object([("job", job.into()), ("executed", Value::from(report))])
            }
            Self::Reported(job) => Value::object([("job", job.into()), ("reported", true.into())]),
            Self::Done(job, done) => Value::object([("job", job.into()), ("done", Value::from(done))]),
        };
        format!("{value}\n")
    }

    /// Parses a line without its line break.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let value = serde_json::from_slice::<Value>(line).ok()?;
        Self::of(value).ok()
    }

    fn of(value: Value) -> Result<Self, FieldError> {
        let mut fields = Fields::of(value)?;
        let job = JobId::from(fields.text("job")?);
        let (executed, done) = (fields.take("executed"), fields.take("done"));
        match (executed, done) {
            (Value::Null, Value::Null) if fields.lenient_bool("reported") == Some(true) => {
                Ok(Self::Reported(job))
            }
            (Value::Null, Value::Null) => Err(FieldError::new("reported", "is missing")),
            (Value::Null, done) => Ok(Self::Done(job, Done::try_from(done)?)),
            (executed, _) => Ok(Self::Executed(job, Completion::try_from(executed)?)),
        }
    }
}
