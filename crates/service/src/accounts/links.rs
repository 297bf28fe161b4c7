//! One-time links: for the first owner, for invited people, and for new passwords.
//!
//! A link's secret is in the fragment of its URL, which browsers do not send, so that it is in no log. Only
//! its hash is stored.

use std::time::Duration;

use super::Role;
use super::session::read_role;
use crate::Service;
use crate::clock::millis;
use crate::db::{DbError, Row, Tx, args};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::secrets::{new_id, random_secret};

/// The lifetime of a link for an owner.
pub(super) const OWNER_LIFETIME: Duration = Duration::from_hours(24);
/// The lifetime of an invitation.
pub(super) const INVITATION_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// The lifetime of a link for a new password.
pub(super) const PASSWORD_LIFETIME: Duration = Duration::from_hours(1);

/// A link was used, has expired, or never existed.
pub(super) const INVALID_LINK: ApiError = ApiError::Unauthorized {
    code: "INVALID_LINK",
    message: "This link was used, or has expired: ask for a new one.",
};

/// Whom a link is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// Creates an owner, with an e-mail address of their choice.
    Owner,
    /// Makes somebody with this address an operator, with a new account or the one that the address has.
    Invitation { email: String, role: Role },
    /// Sets the password of an operator anew.
    Password { operator_id: String },
}

impl Purpose {
    fn lifetime(&self) -> Duration {
        match self {
            Self::Owner => OWNER_LIFETIME,
            Self::Invitation { .. } => INVITATION_LIFETIME,
            Self::Password { .. } => PASSWORD_LIFETIME,
        }
    }
}

/// A link that was created. The secret is known only now.
#[derive(Debug)]
pub(crate) struct NewLink {
    pub(super) id: String,
    pub(crate) secret: String,
    pub(super) expires_ms: i64,
}

/// A valid link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Link {
    pub(super) id: String,
    pub(super) tenant_id: String,
    pub(super) purpose: Purpose,
    /// Whether using it proves the mailbox: nobody else got it, or the host vouches for the one who gets it.
    pub(super) mailed: bool,
    created_by: String,
}

impl Link {
    /// Returns whether somebody of a tenant created the link, who may have used it instead of its recipient.
    pub(super) fn is_of_an_operator(&self) -> bool {
        ![BY_SERVICE, BY_COMMAND].contains(&self.created_by.as_str())
    }

    /// Returns whether the service wrote the link to its log, for its host.
    pub(super) fn is_of_the_service(&self) -> bool {
        self.created_by == BY_SERVICE
    }
}

/// The creator of links that the service itself creates.
pub(super) const BY_SERVICE: &str = "service";
/// The creator of links that the command line creates.
pub(super) const BY_COMMAND: &str = "command";

/// Creates a link that is shown to its creator: an operator's id, `service` or `command`.
pub(crate) async fn create(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    purpose: &Purpose,
    created_by: &str,
) -> Result<NewLink, DbError> {
    insert(tx, now_ms, tenant_id, purpose, created_by, false).await
}

/// Creates a link that is sent to the mailbox of its address and shown to nobody, so that using it proves the
/// mailbox.
pub(super) async fn create_mailed(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    purpose: &Purpose,
    created_by: &str,
) -> Result<NewLink, DbError> {
    insert(tx, now_ms, tenant_id, purpose, created_by, true).await
}

/// Creates a link that the host gives to the owner of its address, so that using it proves the mailbox as a
/// link in an e-mail does.
pub(super) async fn create_vouched(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    purpose: &Purpose,
) -> Result<NewLink, DbError> {
    insert(tx, now_ms, tenant_id, purpose, BY_COMMAND, true).await
}

async fn insert(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    purpose: &Purpose,
    created_by: &str,
    mailed: bool,
) -> Result<NewLink, DbError> {
    let (id, secret) = (new_id("link"), random_secret());
    let expires_ms = now_ms.saturating_add(millis(purpose.lifetime()));
    let (operator_id, email, role) = match purpose {
        Purpose::Owner => (None, None, Role::Owner),
        Purpose::Invitation { email, role } => (None, Some(email.as_str()), *role),
        Purpose::Password { operator_id } => (Some(operator_id.as_str()), None, Role::Agent),
    };
    let sql = "INSERT INTO invitations
                   (id, hash, tenant_id, operator_id, email, role, invited_by, created_ms, expires_ms, mailed)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let hash = fingerprint(&[secret.as_bytes()]);
    let (role, mailed) = (role.as_str(), i64::from(mailed));
    let values =
        args![&id, hash, tenant_id, operator_id, email, role, created_by, now_ms, expires_ms, mailed];
    tx.execute(sql, values).await?;
    Ok(NewLink { id, secret, expires_ms })
}

/// The condition of a valid link; `$1` is the hash of its secret, `$2` the current time.
macro_rules! valid {
    () => {
        "hash = $1 AND used_ms IS NULL AND expires_ms > $2
         AND tenant_id IN (SELECT id FROM tenants WHERE disabled_ms IS NULL)
         AND (operator_id IS NULL OR operator_id IN (SELECT id FROM operators WHERE disabled_ms IS NULL))"
    };
}

/// The columns of a link.
macro_rules! columns {
    () => {
        "id, tenant_id, operator_id, email, role, mailed, invited_by"
    };
}

/// Looks at a link without using it.
pub(super) async fn find(service: &Service, secret: &str) -> Result<Option<Link>, ApiError> {
    let sql = concat!("SELECT ", columns!(), " FROM invitations WHERE ", valid!());
    let hash = fingerprint(&[secret.as_bytes()]);
    let row = service.db().optional(sql, args![hash, service.now_ms()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Uses a link up. Of several requests at once, one succeeds.
pub(crate) async fn take(tx: &mut Tx, now_ms: i64, secret: &str) -> Result<Link, ApiError> {
    let sql = concat!("UPDATE invitations SET used_ms = $2 WHERE ", valid!(), " RETURNING ", columns!());
    let row = tx.optional(sql, args![fingerprint(&[secret.as_bytes()]), now_ms]).await?;
    let link = read(&row.ok_or(INVALID_LINK)?)?;
    // Links for the same purpose were meant for the same person.
    match &link.purpose {
        Purpose::Owner => {
            let others = "DELETE FROM invitations WHERE tenant_id = $1 AND used_ms IS NULL
                          AND operator_id IS NULL AND email IS NULL";
            tx.execute(others, args![&link.tenant_id]).await?;
        }
        Purpose::Invitation { email, .. } => {
            let others = "DELETE FROM invitations WHERE tenant_id = $1 AND used_ms IS NULL AND email = $2";
            tx.execute(others, args![&link.tenant_id, email]).await?;
        }
        Purpose::Password { operator_id } => {
            let sql = "DELETE FROM invitations WHERE used_ms IS NULL AND operator_id IN (
                           SELECT id FROM operators WHERE account_id =
                               (SELECT account_id FROM operators WHERE id = $1))";
            tx.execute(sql, args![operator_id]).await?;
        }
    }
    Ok(link)
}

/// Revokes the links for a new password of an operator, and their invitations of others.
pub(super) async fn revoke_of(tx: &mut Tx, operator_id: &str) -> Result<(), DbError> {
    let sql = "DELETE FROM invitations WHERE used_ms IS NULL AND (operator_id = $1 OR invited_by = $1)";
    tx.execute(sql, args![operator_id]).await?;
    Ok(())
}

/// Revokes the links for a new password of an account.
pub(super) async fn revoke_password_links(tx: &mut Tx, account_id: &str) -> Result<(), DbError> {
    let sql = "DELETE FROM invitations WHERE used_ms IS NULL
               AND operator_id IN (SELECT id FROM operators WHERE account_id = $1)";
    tx.execute(sql, args![account_id]).await?;
    Ok(())
}

fn read(row: &Row) -> Result<Link, DbError> {
    let purpose = match (row.optional_text(2)?, row.optional_text(3)?) {
        (Some(operator_id), _) => Purpose::Password { operator_id },
        (None, Some(email)) => Purpose::Invitation { email, role: read_role(&row.text(4)?) },
        (None, None) => Purpose::Owner,
    };
    let (mailed, created_by) = (row.flag(5)?, row.text(6)?);
    Ok(Link { id: row.text(0)?, tenant_id: row.text(1)?, purpose, mailed, created_by })
}

/// Returns the URL of a link. It begins at the path for a service without a public origin, which does not
/// know how it is reached.
///
/// The host of a request is never used: with a forged `Host`, an e-mail would lead to another site.
pub(super) fn url(service: &Service, secret: &str) -> String {
    let origin = service.0.options.public_origin.as_deref().unwrap_or_default();
    format!("{}/console/#setup={secret}", origin.trim_end_matches('/'))
}
