//! Tenants: the companies that use the service. Each has sites and people, and sees nothing of others.

use serde::Serialize;

use crate::clock::iso;
use crate::db::{Db, DbError, Row, Tx, Wake, args};
use crate::error::ApiError;
use crate::limits::check_name;
use crate::secrets::new_id;

/// A tenant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tenant {
    /// The tenant's id.
    pub id: String,
    /// The company's name.
    pub name: String,
    /// The time of its creation, ISO 8601.
    pub created_at: String,
    /// Whether nobody of this tenant can sign in, and no token of its sites is valid.
    pub disabled: bool,
}

const COLUMNS: &str = "SELECT id, name, created_ms, disabled_ms FROM tenants";

fn read(row: &Row) -> Result<Tenant, DbError> {
    Ok(Tenant {
        id: row.text(0)?,
        name: row.text(1)?,
        created_at: iso(row.int(2)?),
        disabled: !row.is_null(3)?,
    })
}

pub(crate) async fn create(tx: &mut Tx, now_ms: i64, name: &str) -> Result<Tenant, ApiError> {
    let name = check_name("name", name)?;
    let tenant = Tenant { id: new_id("tenant"), name, created_at: iso(now_ms), disabled: false };
    tx.execute(
        "INSERT INTO tenants (id, name, created_ms) VALUES ($1, $2, $3)",
        args![&tenant.id, &tenant.name, now_ms],
    )
    .await?;
    Ok(tenant)
}

/// Returns all tenants, oldest first.
pub(crate) async fn list(db: &Db) -> Result<Vec<Tenant>, ApiError> {
    let rows = db.all(sql(" ORDER BY created_ms, id"), args![]).await?;
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

pub(crate) async fn load(tx: &mut Tx, id: &str) -> Result<Tenant, ApiError> {
    let row = tx.optional(sql(" WHERE id = $1"), args![id]).await?;
    Ok(read(&row.ok_or(ApiError::NotFound("This tenant"))?)?)
}

fn sql(rest: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!("{COLUMNS}{rest}"))
}

/// Disables a tenant, or enables it again.
pub(crate) async fn set_disabled(tx: &mut Tx, now_ms: i64, id: &str, disabled: bool) -> Result<(), ApiError> {
    let changed = tx
        .execute("UPDATE tenants SET disabled_ms = $1 WHERE id = $2", args![disabled.then_some(now_ms), id])
        .await?;
    if changed == 0 {
        return Err(ApiError::NotFound("This tenant"));
    }
    tx.wake(Wake::Settings { tenant: id.to_owned() });
    Ok(())
}
