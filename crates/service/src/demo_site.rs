//! The tenant and the site of the demo.

use crate::db::DbError;
use crate::db::{Tx, args};

/// The id of the tenant.
pub(crate) const TENANT_ID: &str = "tenant_demo";
/// The id of the site.
pub(crate) const SITE_ID: &str = "site_kiln_and_clover";
/// The site's name until it is activated with one.
pub(crate) const SITE_NAME: &str = "Kiln & Clover";
/// The assistant's name.
const ASSISTANT_NAME: &str = "Clover";
/// The welcome message until the site is activated with a name.
pub(crate) const WELCOME: &str =
    "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops.";

/// The id of the operator, who has no account.
pub(crate) const OPERATOR_ID: &str = "operator";
/// The operator's name.
pub(crate) const OPERATOR_NAME: &str = "Operator";

/// Creates the tenant and the site if they are missing.
pub(crate) async fn create(tx: &mut Tx, now_ms: i64) -> Result<(), DbError> {
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

/// Removes the site's tokens and licenses. Those of the demo are known to everybody.
pub(crate) async fn remove_credentials(tx: &mut Tx) -> Result<(), DbError> {
    tx.execute("DELETE FROM site_tokens WHERE site_id = $1", args![SITE_ID]).await?;
    tx.execute("DELETE FROM licenses WHERE tenant_id = $1", args![TENANT_ID]).await?;
    Ok(())
}
