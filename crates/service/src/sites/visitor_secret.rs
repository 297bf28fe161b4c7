//! The secret of a site with which its server proves who a visitor is.
//!
//! It is shown once, and stored encrypted: the service needs it to check the proofs.

use chat_protocol::admin::settings::NewVisitorSecret;
use secrecy::SecretString;

use super::Site;
use crate::clock::iso;
use crate::db::{Tx, Wake, args};
use crate::error::ApiError;
use crate::secrets::{ServiceKey, WrongKey, random_secret};

/// The beginning of a secret, by which secret scanners recognise it.
const PREFIX: &str = "svs_";

/// The encrypted secrets of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VisitorSecrets {
    pub(super) current: Option<Vec<u8>>,
    /// The one before the last rotation, and the time at which it ends.
    pub(super) previous: Option<(Vec<u8>, i64)>,
}

impl Site {
    /// Returns the secrets that are valid now, the current one first.
    pub(crate) fn visitor_secrets(
        &self,
        key: &ServiceKey,
        now_ms: i64,
    ) -> Result<Vec<SecretString>, WrongKey> {
        let VisitorSecrets { current, previous } = &self.visitor_secrets;
        let previous = previous.as_ref().filter(|(_, until_ms)| now_ms < *until_ms).map(|(sealed, _)| sealed);
        let sealed = current.iter().chain(previous);
        sealed.map(|sealed| key.unseal(&purpose(&self.id), sealed)).collect()
    }
}

/// Names the place of a secret, so that one that is moved to another site's row is refused.
fn purpose(site_id: &str) -> String {
    format!("visitor secret of {site_id}")
}

/// Gives a site a new secret. The one before stays valid for `overlap_ms`, and all earlier ones end.
pub(crate) async fn rotate_visitor_secret(
    tx: &mut Tx,
    key: &ServiceKey,
    now_ms: i64,
    site: &Site,
    overlap_ms: i64,
) -> Result<NewVisitorSecret, ApiError> {
    let secret = format!("{PREFIX}{}", random_secret());
    let until_ms = now_ms.saturating_add(overlap_ms.max(0));
    tx.execute(
        "UPDATE sites SET old_visitor_secret = visitor_secret, old_visitor_secret_until_ms = $1,
             visitor_secret = $2, visitor_secret_ms = $3
         WHERE id = $4",
        args![until_ms, key.seal(&purpose(&site.id), &secret), now_ms, &site.id],
    )
    .await?;
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    Ok(NewVisitorSecret { secret, created_at: iso(now_ms) })
}

/// Removes the secrets of a site: it proves nobody any more.
pub(crate) async fn remove_visitor_secret(tx: &mut Tx, site: &Site) -> Result<(), ApiError> {
    tx.execute(
        "UPDATE sites SET visitor_secret = NULL, visitor_secret_ms = NULL, old_visitor_secret = NULL,
             old_visitor_secret_until_ms = NULL
         WHERE id = $1",
        args![&site.id],
    )
    .await?;
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    Ok(())
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;
    use crate::databases::{Kind, TestDatabase, on_both_databases};
    use crate::db::transaction;
    use crate::sites::find;
    use crate::visitors::fixture::open;

    on_both_databases! {
        async fn the_secret_before_a_rotation_is_valid_until_the_overlap_ends(database: &TestDatabase) {
            let (db, key) = (open(database).await, ServiceKey::random());
            let shop = async || find(&db, "shop").await.expect("read").expect("a site");
            let valid = async |now_ms: i64| -> Vec<String> {
                let secrets = shop().await.visitor_secrets(&key, now_ms).expect("the same key");
                secrets.iter().map(|secret| secret.expose_secret().to_owned()).collect()
            };
            assert!(valid(0).await.is_empty());
            let mut made = Vec::new();
            for now_ms in [1000, 2000, 3000] {
                let (site, key) = (shop().await, key.clone());
                let new = transaction!(&db, |tx| rotate_visitor_secret(tx, &key, now_ms, &site, 500).await);
                made.push(new.await.expect("a secret").secret);
            }
            assert!(made.iter().all(|secret| secret.len() == 47 && secret.starts_with(PREFIX)));
            assert_eq!(valid(3499).await, [made[2].clone(), made[1].clone()]);
            assert_eq!(valid(3500).await, [made[2].clone()]);
            let stored = shop().await;
            assert!(stored.visitor_secrets(&ServiceKey::random(), 3500).is_err(), "another service key");
            assert_eq!(stored.visitor_secret_created_at, Some(iso(3000)));
            let removed = transaction!(&db, |tx| remove_visitor_secret(tx, &stored).await);
            removed.await.expect("removed");
            assert!(valid(3400).await.is_empty());
        }
    }
}
