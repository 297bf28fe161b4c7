//! Site tokens: the secrets that a site's server authenticates with (5).

use chat_protocol::FieldError;
pub use chat_protocol::admin::settings::Token as TokenInfo;
use secrecy::SecretString;

use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, Wake, args};
use crate::error::ApiError;
use crate::fingerprint::{Fingerprint, fingerprint, is_same_hash};
use crate::limits::check_text;
use crate::secrets::random_secret;
use crate::sites::Site;

/// Maximum tokens of a site that are valid at the same time.
const MAX_TOKENS: i64 = 20;

/// A new token. The secret is not stored, so this is the only time that it can be shown.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The token.
    pub info: TokenInfo,
    /// The secret.
    pub secret: SecretString,
}

/// A stored token, by which requests are authenticated.
#[derive(Clone, Debug)]
pub(crate) struct StoredToken {
    pub(crate) site_id: String,
    hash: Vec<u8>,
    expires_ms: Option<i64>,
    revoked_ms: Option<i64>,
    pub(crate) last_used_ms: Option<i64>,
}

impl StoredToken {
    /// Returns whether a secret with this hash is valid now.
    pub(crate) fn accepts(&self, hash: &Fingerprint, now_ms: i64) -> bool {
        let is_current =
            self.revoked_ms.is_none_or(|at| now_ms < at) && self.expires_ms.is_none_or(|at| now_ms < at);
        is_same_hash(&self.hash, hash) && is_current
    }
}

impl StoredToken {
    /// Returns the token as it is after a use.
    pub(crate) fn used_at(&self, now_ms: i64) -> Self {
        Self { last_used_ms: Some(now_ms), ..self.clone() }
    }
}

/// Returns the id of the token with a hash. A token is found by its id, and then compared in constant time.
pub(crate) fn id_of(hash: &Fingerprint) -> String {
    let id = hash[..8].iter().fold(0_u64, |id, byte| id << 8 | u64::from(*byte));
    format!("{id:016x}")
}

/// Returns a token by its id.
pub(crate) async fn find(db: &Db, id: &str) -> Result<Option<StoredToken>, DbError> {
    let sql = "SELECT site_id, hash, expires_ms, revoked_ms, last_used_ms FROM site_tokens WHERE id = $1";
    let row = db.optional(sql, args![id]).await?;
    let read = |row: &Row| -> Result<StoredToken, DbError> {
        Ok(StoredToken {
            site_id: row.text(0)?,
            hash: row.bytes(1)?,
            expires_ms: row.optional_int(2)?,
            revoked_ms: row.optional_int(3)?,
            last_used_ms: row.optional_int(4)?,
        })
    };
    row.as_ref().map(read).transpose()
}

/// Creates a token with a new secret.
pub(crate) async fn create(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    name: &str,
    expires_ms: Option<i64>,
) -> Result<NewToken, ApiError> {
    let secret = format!("sct_{}", random_secret());
    let info = insert(tx, now_ms, site, name, expires_ms, &secret).await?;
    Ok(NewToken { info, secret: secret.into() })
}

/// Stores a token with a given secret.
pub(crate) async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    name: &str,
    expires_ms: Option<i64>,
    secret: &str,
) -> Result<TokenInfo, ApiError> {
    let name = check_text("name", name, 0, crate::limits::MAX_NAME_LENGTH)?;
    if expires_ms.is_some_and(|at| at <= now_ms) {
        return Err(FieldError::new("expiresAt", "must be in the future").into());
    }
    let valid = "SELECT count(*) FROM site_tokens WHERE site_id = $1
        AND (revoked_ms IS NULL OR revoked_ms > $2) AND (expires_ms IS NULL OR expires_ms > $2)";
    if tx.one(valid, args![&site.id, now_ms]).await?.int(0)? >= MAX_TOKENS {
        return Err(ApiError::Conflict(format!("A site has at most {MAX_TOKENS} valid tokens: revoke one.")));
    }
    let hash = fingerprint(&[secret.as_bytes()]);
    let id = id_of(&hash);
    tx.execute(
        "INSERT INTO site_tokens (id, site_id, name, hash, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&id, &site.id, &name, hash, now_ms, expires_ms],
    )
    .await?;
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    Ok(TokenInfo {
        id,
        name,
        created_at: iso(now_ms),
        expires_at: expires_ms.map(iso),
        revoked_at: None,
        last_used_at: None,
    })
}

/// Creates a token, and lets all others of the site expire after `overlap_ms`.
pub(crate) async fn rotate(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    name: &str,
    overlap_ms: i64,
) -> Result<NewToken, ApiError> {
    let until = now_ms.saturating_add(overlap_ms.max(0));
    tx.execute(
        "UPDATE site_tokens SET expires_ms = $1 WHERE site_id = $2 AND (expires_ms IS NULL OR expires_ms > $1)",
        args![until, &site.id],
    )
    .await?;
    create(tx, now_ms, site, name, None).await
}

/// Revokes a token of a site.
pub(crate) async fn revoke(tx: &mut Tx, now_ms: i64, site: &Site, id: &str) -> Result<(), ApiError> {
    let sql = "UPDATE site_tokens SET revoked_ms = coalesce(revoked_ms, $1) WHERE site_id = $2 AND id = $3";
    if tx.execute(sql, args![now_ms, &site.id, id]).await? == 0 {
        return Err(ApiError::NotFound("This token"));
    }
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    Ok(())
}

/// Returns the tokens of a site, newest first.
pub(crate) async fn list(db: &Db, site: &Site) -> Result<Vec<TokenInfo>, ApiError> {
    let sql = "SELECT id, name, created_ms, expires_ms, revoked_ms, last_used_ms FROM site_tokens
        WHERE site_id = $1 ORDER BY created_ms DESC, id";
    let read = |row: &Row| -> Result<TokenInfo, DbError> {
        Ok(TokenInfo {
            id: row.text(0)?,
            name: row.text(1)?,
            created_at: iso(row.int(2)?),
            expires_at: row.optional_int(3)?.map(iso),
            revoked_at: row.optional_int(4)?.map(iso),
            last_used_at: row.optional_int(5)?.map(iso),
        })
    };
    let rows = db.all(sql, args![&site.id]).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Records that a token was used.
pub(crate) async fn record_use(tx: &mut Tx, now_ms: i64, id: &str) -> Result<(), DbError> {
    tx.execute("UPDATE site_tokens SET last_used_ms = $1 WHERE id = $2", args![now_ms, id]).await?;
    Ok(())
}
