//! The tenant and the site of the demo.

use crate::db::DbError;
use crate::db::{Tx, args};

/// The id of the tenant.
pub(super) const TENANT_ID: &str = "tenant_demo";
/// The id of the site.
pub(super) const SITE_ID: &str = "site_kiln_and_clover";
/// The site's name until it is activated with one.
pub(super) const SITE_NAME: &str = "Kiln & Clover";
/// The assistant's name.
const ASSISTANT_NAME: &str = "Clover";
/// The welcome message until the site is activated with a name.
pub(super) const WELCOME: &str =
    "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops.";

/// The id of the owner.
pub(super) const OPERATOR_ID: &str = "operator";
/// The owner's e-mail address.
pub(super) const OPERATOR_EMAIL: &str = "operator@kiln.example";
/// The owner's name, which visitors see.
pub(super) const OPERATOR_NAME: &str = "Anna";

/// Creates the tenant and the site if they are missing.
pub(super) async fn create(tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
    tx.execute(
        "INSERT INTO tenants (id, name, created_ms) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING",
        args![TENANT_ID, SITE_NAME, now_ms],
    )
    .await?;
    tx.execute(
        "INSERT INTO sites (id, tenant_id, name, assistant_name, welcome, created_ms)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING",
        args![
            SITE_ID,
            TENANT_ID,
            SITE_NAME,
            ASSISTANT_NAME,
            serde_json::json!({ "": WELCOME }).to_string(),
            now_ms
        ],
    )
    .await?;
    Ok(())
}
