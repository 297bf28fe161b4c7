//! License codes: each is exchanged once for a site token (4.2).

use chat_protocol::FieldError;
pub use chat_protocol::admin::settings::License;
use secrecy::{ExposeSecret, SecretString};

use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::fingerprint::{Fingerprint, fingerprint};
use crate::secrets::{new_id, random_secret};
use crate::sites::{self, Site};

/// A new license. The code is not stored, so this is the only time that it can be shown.
#[derive(Clone, Debug)]
pub struct NewLicense {
    /// The license.
    pub info: License,
    /// The code.
    pub code: SecretString,
}

/// Returns the hash of a code. Spaces around it do not matter.
fn hash_of(code: &str) -> Fingerprint {
    fingerprint(&[code.trim().as_bytes()])
}

/// Creates a license for a site, or for a new site of a tenant.
pub(crate) async fn create(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    site_id: Option<&str>,
    expires_ms: i64,
) -> Result<NewLicense, ApiError> {
    let code = format!("lic_{}", random_secret());
    let info = insert(tx, now_ms, tenant_id, site_id, expires_ms, &code).await?;
    Ok(NewLicense { info, code: code.into() })
}

/// Stores a license with a given code.
pub(crate) async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    site_id: Option<&str>,
    expires_ms: i64,
    code: &str,
) -> Result<License, ApiError> {
    if expires_ms <= now_ms {
        return Err(FieldError::new("expiresAt", "must be in the future").into());
    }
    if let Some(id) = site_id
        && sites::load(tx, id).await?.tenant_id != tenant_id
    {
        return Err(ApiError::NotFound("This site"));
    }
    let id = new_id("license");
    tx.execute(
        "INSERT INTO licenses (id, hash, tenant_id, site_id, created_ms, expires_ms) VALUES ($1, $2, $3, $4, $5, $6)",
        args![&id, hash_of(code), tenant_id, site_id, now_ms, expires_ms],
    )
    .await?;
    Ok(License {
        id,
        site_id: site_id.map(str::to_owned),
        created_at: iso(now_ms),
        expires_at: iso(expires_ms),
        used_at: None,
        revoked: false,
    })
}

/// Uses up a code, and returns the site that it activates, which is created if the license names none.
/// `None` when the code is unknown, used, expired or revoked.
pub(crate) async fn redeem(
    tx: &mut Tx,
    now_ms: i64,
    code: &SecretString,
    site_name: &str,
) -> Result<Option<Site>, ApiError> {
    // One statement, so that of two requests with the same code only one gets it.
    let redeemed = tx
        .optional(
            "UPDATE licenses SET used_ms = $1 WHERE hash = $2 AND used_ms IS NULL AND revoked_ms IS NULL
                 AND expires_ms > $1
                 AND tenant_id IN (SELECT id FROM tenants WHERE disabled_ms IS NULL)
             RETURNING id, tenant_id, site_id",
            args![now_ms, hash_of(code.expose_secret())],
        )
        .await?;
    let Some(row) = redeemed else { return Ok(None) };
    let tenant_id = row.text(1)?;
    Ok(Some(if let Some(site_id) = row.optional_text(2)? {
        sites::load(tx, &site_id).await?
    } else {
        let site = sites::create(tx, now_ms, &tenant_id, site_name).await?;
        let sql = "UPDATE licenses SET site_id = $1 WHERE id = $2";
        tx.execute(sql, args![&site.id, row.text(0)?]).await?;
        site
    }))
}

/// Revokes a license of a tenant.
pub(crate) async fn revoke(tx: &mut Tx, now_ms: i64, tenant_id: &str, id: &str) -> Result<(), ApiError> {
    let sql = "UPDATE licenses SET revoked_ms = coalesce(revoked_ms, $1) WHERE tenant_id = $2 AND id = $3";
    match tx.execute(sql, args![now_ms, tenant_id, id]).await? {
        0 => Err(ApiError::NotFound("This license")),
        _ => Ok(()),
    }
}

/// Returns the licenses of a tenant, newest first.
pub(crate) async fn list(db: &Db, tenant_id: &str) -> Result<Vec<License>, ApiError> {
    let sql = "SELECT id, site_id, created_ms, expires_ms, used_ms, revoked_ms FROM licenses
        WHERE tenant_id = $1 ORDER BY created_ms DESC, id LIMIT 1000";
    let read = |row: &Row| -> Result<License, DbError> {
        Ok(License {
            id: row.text(0)?,
            site_id: row.optional_text(1)?,
            created_at: iso(row.int(2)?),
            expires_at: iso(row.int(3)?),
            used_at: row.optional_int(4)?.map(iso),
            revoked: !row.is_null(5)?,
        })
    };
    let rows = db.all(sql, args![tenant_id]).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}
