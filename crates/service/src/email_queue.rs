//! E-mails of the service itself, such as invitations, until `notify` hands them to the SMTP server.

use chat_protocol::Value;
use lettre::Address;
use secrecy::ExposeSecret;

use crate::db::{DbError, Tx, Wake, args, transaction};
use crate::error::ApiError;
use crate::secrets::{WrongKey, new_id};
use crate::{Service, ServiceKey};

/// Queues an e-mail. It is an error if no SMTP server is set.
pub(crate) async fn send(service: &Service, to: &str, subject: &str, text: &str) -> Result<(), ApiError> {
    if service.0.options.smtp.is_none() {
        return Err(ApiError::Conflict("No SMTP server is set: e-mails cannot be sent.".to_owned()));
    }
    if to.parse::<Address>().is_err() {
        return Err(ApiError::InvalidRequest("invalid e-mail address.".to_owned()));
    }
    let (db, service) = (service.db(), service.clone());
    let (to, subject, text) = (to.to_owned(), subject.to_owned(), text.to_owned());
    transaction!(db, |tx| {
        Ok(add(tx, &service.0.options.key, service.now_ms(), &to, &subject, &text).await?)
    })
    .await
}

/// Queues an e-mail to a valid address in the transaction of its cause. Call it only if an SMTP server is
/// set.
pub(crate) async fn add(
    tx: &mut Tx,
    key: &ServiceKey,
    now_ms: i64,
    to: &str,
    subject: &str,
    text: &str,
) -> Result<(), DbError> {
    let id = new_id("mail");
    let content = Value::object([("subject", subject.into()), ("text", text.into())]);
    let sealed = key.seal(&purpose(&id), &content.to_json());
    let sql = "INSERT INTO emails (id, recipient, content, next_ms, created_ms) \
               VALUES ($1, $2, $3, $4, $4)";
    tx.execute(sql, args![&id, to, sealed, now_ms]).await?;
    tx.wake(Wake::Queue);
    Ok(())
}

/// Decrypts the subject and the text of a queued e-mail.
pub(crate) fn unseal(key: &ServiceKey, id: &str, sealed: &[u8]) -> Result<(String, String), WrongKey> {
    let content = key.unseal(&purpose(id), sealed)?;
    let content: Value = serde_json::from_str(content.expose_secret()).unwrap_or(Value::Null);
    let text = |name| content.get(name).and_then(Value::as_text).unwrap_or_default().to_owned();
    Ok((text("subject"), text("text")))
}

/// Names the place of a sealed text.
fn purpose(id: &str) -> String {
    format!("email {id}")
}
