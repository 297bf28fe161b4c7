//! The tenant and the site of the test mode.

use secrecy::{ExposeSecret, SecretString};

use super::site::{OPERATOR_EMAIL, OPERATOR_ID, OPERATOR_NAME, SITE_ID, SITE_NAME, TENANT_ID};
use super::{Publishing, shop, site, site_changed};
use crate::Service;
use crate::accounts::Role;
use crate::db::{Tx, Wake, args, transaction};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::knowledge::answers;
use crate::{licenses, sites, tokens};

/// The name of the token that the test mode was opened with.
const TOKEN_NAME: &str = "test mode";
/// The name of the tokens that activations create.
const ACTIVATION_TOKEN_NAME: &str = "activation";
/// Milliseconds until the license expires: 100 years.
const LICENSE_LIFETIME_MS: i64 = 100 * 365 * 24 * 3_600_000;

/// Creates the tenant and the site if they are missing, and stores the token and the license.
pub(super) async fn prepare(
    service: &Service,
    token: &SecretString,
    license: &SecretString,
    publishing: Publishing,
) -> Result<(), ApiError> {
    let now_ms = service.now_ms();
    let (token, license) = (token.clone(), license.clone());
    transaction!(service.db(), |tx| {
        site::create(tx, now_ms).await?;
        tx.execute(
            "UPDATE sites SET publishing = $1, disabled_ms = NULL, deleted_ms = NULL WHERE id = $2",
            args![publishing.as_str(), SITE_ID],
        )
        .await?;
        // The owner signs in by the link that the demo prints: no password fits.
        let role = Role::Owner.as_str();
        tx.execute(
            "INSERT INTO accounts (id, address, password, created_ms) VALUES ($1, $2, '', $3)
             ON CONFLICT (id) DO NOTHING",
            args![OPERATOR_ID, OPERATOR_EMAIL, now_ms],
        )
        .await?;
        tx.execute(
            "INSERT INTO operators (id, account_id, tenant_id, email, name, role, created_ms)
             VALUES ($1, $1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING",
            args![OPERATOR_ID, TENANT_ID, OPERATOR_EMAIL, OPERATOR_NAME, role, now_ms],
        )
        .await?;
        // Consoles that were open when an earlier process was killed.
        tx.execute("UPDATE consoles SET open = 0 WHERE tenant_id = $1", args![TENANT_ID]).await?;
        let site = sites::load(tx, SITE_ID).await?;
        delete_tokens(tx, TOKEN_NAME).await?;
        tokens::insert(tx, now_ms, &site, TOKEN_NAME, None, token.expose_secret()).await?;
        renew_license(tx, now_ms, &license).await?;
        refresh_shop(tx, now_ms).await?;
        tx.wake(Wake::Everything);
        Ok(())
    })
    .await
}

async fn delete_tokens(tx: &mut Tx, name: &str) -> Result<(), ApiError> {
    tx.execute("DELETE FROM site_tokens WHERE site_id = $1 AND name = $2", args![SITE_ID, name]).await?;
    Ok(())
}

/// Makes the license valid, which an activation has used up.
async fn renew_license(tx: &mut Tx, now_ms: i64, license: &SecretString) -> Result<(), ApiError> {
    let code = license.expose_secret();
    let hash = fingerprint(&[code.trim().as_bytes()]);
    tx.execute("DELETE FROM licenses WHERE hash = $1", args![hash]).await?;
    let expires_ms = now_ms.saturating_add(LICENSE_LIFETIME_MS);
    licenses::insert(tx, now_ms, TENANT_ID, Some(SITE_ID), expires_ms, code).await?;
    Ok(())
}

/// Makes the site ready for the next activation, with the same license. The token of this one is deleted: the
/// test mode answers with the token that it was opened with.
pub(super) async fn after_activation(service: &Service, license: &SecretString) -> Result<(), ApiError> {
    let (now_ms, license) = (service.now_ms(), license.clone());
    transaction!(service.db(), |tx| {
        delete_tokens(tx, ACTIVATION_TOKEN_NAME).await?;
        renew_license(tx, now_ms, &license).await?;
        tx.wake(Wake::Settings { tenant: TENANT_ID.to_owned() });
        Ok(())
    })
    .await
}

/// Stores the demo's shop as the site's knowledge while no content is synced, and removes it afterwards.
pub(super) async fn refresh_shop(tx: &mut Tx, now_ms: i64) -> Result<(), ApiError> {
    let count = |sql: &'static str| (sql, args![SITE_ID]);
    let (sql, values) = count("SELECT count(*) FROM content WHERE site_id = $1");
    let is_synced = tx.one(sql, values).await?.int(0)? > 0;
    let (sql, values) = count("SELECT count(*) FROM answers WHERE site_id = $1");
    let has_answers = tx.one(sql, values).await?.int(0)? > 0;
    if is_synced == has_answers {
        for draft in shop::answers() {
            if is_synced {
                let sql = "DELETE FROM answers WHERE site_id = $1 AND question = $2";
                tx.execute(sql, args![SITE_ID, &draft.question]).await?;
            } else {
                answers::add(tx, now_ms, SITE_ID, &draft).await?;
            }
        }
    }
    Ok(())
}

/// Replaces the knowledge of the demo's shop by that of the synced content.
pub(super) async fn after_sync(service: &Service) -> Result<(), ApiError> {
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| refresh_shop(tx, now_ms).await).await
}

/// Deletes conversations, events and idempotency keys.
pub(super) async fn clear_visitors(service: &Service) -> Result<(), ApiError> {
    transaction!(service.db(), |tx| {
        for table in ["conversations", "visitors", "events", "idempotency"] {
            delete_all(tx, table).await?;
        }
        // Every conversation that is cached is gone.
        tx.wake(Wake::Everything);
        Ok(())
    })
    .await
}

/// Deletes the site's activation, content, overlays and jobs, and the idempotency keys.
pub(super) async fn clear_site(service: &Service) -> Result<(), ApiError> {
    let now_ms = service.now_ms();
    transaction!(service.db(), |tx| {
        for table in ["content", "jobs", "reviews", "idempotency"] {
            delete_all(tx, table).await?;
        }
        tx.execute("DELETE FROM idempotency WHERE site_id = ''", args![]).await?;
        tx.execute(
            "UPDATE sites SET name = $1, domain = NULL, platform = NULL, primary_locale = NULL,
                 supported_locales = '[]', activated_ms = NULL WHERE id = $2",
            args![SITE_NAME, SITE_ID],
        )
        .await?;
        refresh_shop(tx, now_ms).await?;
        tx.wake(Wake::Settings { tenant: TENANT_ID.to_owned() });
        tx.wake(site_changed());
        Ok(())
    })
    .await
}

async fn delete_all(tx: &mut Tx, table: &str) -> Result<(), ApiError> {
    let sql = sqlx::AssertSqlSafe(format!("DELETE FROM {table} WHERE site_id = $1"));
    tx.execute(sql, args![SITE_ID]).await?;
    Ok(())
}
