//! Idempotency keys, so that a request that was repeated across the upgrade is still executed once.

use chat_protocol::{Endpoint, ServerEndpoint, Value};

use super::conversations::Imported;
use super::json;
use crate::conversations::message_id;
use crate::db::{Row, Tx, args};
use crate::demo_site::SITE_ID;
use crate::error::ApiError;
use crate::fingerprint::fingerprint;

pub(super) async fn import_keys(tx: &mut Tx, now_ms: i64, imported: &Imported) -> Result<(), ApiError> {
    let whole = "SELECT 1 FROM pragma_table_info('sandbox_answers') WHERE name = 'whole'";
    let stores_whole_requests = tx.optional(whole, args![]).await?.is_some();
    // A repeated activation gets a new token.
    let sql = "SELECT scope, key, request, status, request_id, body, until_ms FROM sandbox_answers
        WHERE until_ms > $1 AND scope <> $2";
    for row in tx.all(sql, args![now_ms, ServerEndpoint::Activate.path()]).await? {
        import_key(tx, &row, stores_whole_requests, imported).await?;
    }
    Ok(())
}

async fn import_key(
    tx: &mut Tx,
    row: &Row,
    stores_whole_requests: bool,
    imported: &Imported,
) -> Result<(), ApiError> {
    let (scope, key, request) = (row.text(0)?, row.text(1)?, row.bytes(2)?);
    let request = if stores_whole_requests { fingerprint(&[&request]).to_vec() } else { request };
    let is_send = scope == Endpoint::Send.path();
    let status = row.optional_int(3)?;
    let mut body = row.optional_bytes(5)?;
    let mut progress = None;
    if is_send {
        body = body.map(|body| with_new_ids(&body, imported));
        if status.is_none() {
            // The message is stored and was not answered: a repetition goes on with the answer.
            let Some(message) = imported.by_key.get(&key) else { return Ok(()) };
            progress = Some(
                Value::object([
                    ("conversationId", (&message.conversation_id).into()),
                    ("conversationNo", message.conversation_no.into()),
                    ("seq", message.seq.into()),
                    ("messageId", message_id(&message.conversation_id, message.seq).as_str().into()),
                    ("lead", Value::object([])),
                ])
                .to_string(),
            );
        }
    } else if status.is_none() {
        // The change and its response were one transaction: it was not executed.
        return Ok(());
    }
    tx.execute(
        "INSERT INTO idempotency (site_id, scope, key, request, status, request_id, body, progress, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        args![
            SITE_ID,
            scope,
            key,
            request,
            status,
            row.optional_text(4)?,
            body,
            progress,
            row.int(6)?
        ],
    )
    .await?;
    Ok(())
}

/// Replaces the ids of messages in the response to a message.
fn with_new_ids(body: &[u8], imported: &Imported) -> Vec<u8> {
    let mut envelope = json(&String::from_utf8_lossy(body));
    for path in [&["data", "userMessageId"][..], &["data", "message", "id"][..]] {
        if let Some(Value::Text(id)) = member(&mut envelope, path)
            && let Some(new) = imported.ids.get(id)
        {
            new.clone_into(id);
        }
    }
    if envelope == Value::Null { body.to_vec() } else { envelope.to_string().into_bytes() }
}

fn member<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Value> {
    let [name, rest @ ..] = path else { return Some(value) };
    let Value::Object(members) = value else { return None };
    let (_, value) = members.iter_mut().find(|(known, _)| known == name)?;
    member(value, rest)
}
