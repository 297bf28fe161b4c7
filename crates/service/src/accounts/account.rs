//! The accounts of people, as stored: an address with its credentials, and the workspaces that it works for.
//!
//! An account is confirmed once its mailbox has proved the address. An address has one confirmed account at
//! most, and any number of others, each of which works for one tenant. Accounts are never merged.

use chat_protocol::admin::{Tenant, Workspace};
use tracing::warn;

use super::Operator;
use super::session::read_role;
use super::totp::{SecondFactor, TotpSecret};
use crate::Service;
use crate::db::{DbError, Row, Tx, args};
use crate::error::ApiError;

/// Maximum accounts of an address that signing in looks at: the confirmed one, and those that were used last.
pub(super) const MAX_CANDIDATES: usize = 17;

/// Selects the ids of the accounts that can sign in somewhere.
macro_rules! enabled {
    () => {
        "(SELECT o.account_id FROM operators o JOIN tenants t ON t.id = o.tenant_id
          WHERE o.email = $1 AND o.disabled_ms IS NULL AND t.disabled_ms IS NULL)"
    };
}

/// Returns the answer where the address has a confirmed account.
pub(super) fn has_account() -> ApiError {
    ApiError::Conflict("This address has an account already: sign in with it.".to_owned())
}

/// An account, as signing in needs it.
pub(super) struct Account {
    pub(super) id: String,
    /// The operator that signing in leads to: the one that was used last, among those who are not disabled.
    pub(super) operator: Operator,
    /// Whether that operator may sign in.
    pub(super) enabled: bool,
    pub(super) password: String,
    /// The secret of one-time passwords, encrypted; `None` without a second factor.
    pub(super) totp_secret: Option<Vec<u8>>,
    recovery_codes: String,
}

impl Account {
    /// Returns the second factor; `None` without one.
    pub(super) fn second_factor(&self, service: &Service) -> Result<Option<SecondFactor>, ApiError> {
        let Some(sealed) = &self.totp_secret else { return Ok(None) };
        let secret = TotpSecret::unseal(&service.0.options.key, &self.id, sealed).map_err(|error| {
            warn!("the second factor of {}: {error}", self.id);
            ApiError::Internal
        })?;
        Ok(Some(SecondFactor { secret, recovery_codes: self.recovery_codes.clone() }))
    }
}

/// Returns the accounts of an address: the confirmed one, then those that were used last.
pub(super) async fn of_address(service: &Service, address: &str) -> Result<Vec<Account>, ApiError> {
    let sql = "SELECT a.id, o.id, o.tenant_id, o.email, o.name, o.role, a.password, a.totp_secret,
                   a.recovery_codes,
                   CAST(CASE WHEN o.disabled_ms IS NULL AND t.disabled_ms IS NULL THEN 1 ELSE 0 END AS BIGINT)
               FROM accounts a JOIN operators o ON o.account_id = a.id JOIN tenants t ON t.id = o.tenant_id
               WHERE a.id IN (SELECT id FROM accounts WHERE address = $1
                   ORDER BY CASE WHEN confirmed_ms IS NULL THEN 1 ELSE 0 END, signed_in_ms DESC, created_ms DESC, id
                   LIMIT $2)
               ORDER BY CASE WHEN a.confirmed_ms IS NULL THEN 1 ELSE 0 END, a.signed_in_ms DESC, a.created_ms DESC,
                   a.id, 10 DESC, o.signed_in_ms DESC, o.created_ms DESC, o.id";
    let limit = i64::try_from(MAX_CANDIDATES).unwrap_or(i64::MAX);
    let mut accounts: Vec<Account> = Vec::new();
    for row in service.db().all(sql, args![address, limit]).await? {
        let id = row.text(0)?;
        if accounts.last().is_none_or(|last| last.id != id) {
            accounts.push(read(&row, id)?);
        }
    }
    Ok(accounts)
}

fn read(row: &Row, id: String) -> Result<Account, DbError> {
    let operator = Operator {
        id: row.text(1)?,
        account_id: id.clone(),
        tenant_id: row.text(2)?,
        email: row.text(3)?,
        name: row.text(4)?,
        role: read_role(&row.text(5)?),
    };
    Ok(Account {
        id,
        operator,
        enabled: row.flag(9)?,
        password: row.text(6)?,
        totp_secret: row.optional_bytes(7)?,
        recovery_codes: row.text(8)?,
    })
}

/// Returns the workspaces that an account can switch to, by their names.
pub(super) async fn workspaces(service: &Service, account_id: &str) -> Result<Vec<Workspace>, DbError> {
    let sql = "SELECT o.id, t.id, t.name FROM operators o JOIN tenants t ON t.id = o.tenant_id
               WHERE o.account_id = $1 AND o.disabled_ms IS NULL AND t.disabled_ms IS NULL
               ORDER BY t.name, t.id";
    let read = |row: &Row| {
        let tenant = Tenant { id: row.text(1)?, name: row.text(2)? };
        Ok(Workspace { operator_id: row.text(0)?, tenant })
    };
    service.db().all(sql, args![account_id]).await?.iter().map(read).collect()
}

/// Returns a hash whose salt a new password of an address gets, so that one hash of a password is compared
/// with those of all accounts of the address; `None` if it has no account.
pub(super) async fn hash_of_address(service: &Service, address: &str) -> Result<Option<String>, DbError> {
    let sql = "SELECT password FROM accounts WHERE address = $1 ORDER BY created_ms, id LIMIT 1";
    service.db().optional(sql, args![address]).await?.map(|row| row.text(0)).transpose()
}

/// Selects the confirmed account of an address, if it can sign in somewhere.
macro_rules! confirmed {
    () => {
        concat!(
            "SELECT id FROM accounts WHERE address = $1 AND confirmed_ms IS NOT NULL AND id IN ",
            enabled!()
        )
    };
}

/// Returns whether an address has a confirmed account that can sign in.
pub(super) async fn is_confirmed(service: &Service, address: &str) -> Result<bool, DbError> {
    Ok(service.db().optional(confirmed!(), args![address]).await?.is_some())
}

/// Returns the same as [`is_confirmed`], in a transaction.
pub(super) async fn is_confirmed_in(tx: &mut Tx, address: &str) -> Result<bool, DbError> {
    Ok(tx.optional(confirmed!(), args![address]).await?.is_some())
}

/// Lets go of an address whose confirmed account can sign in nowhere, because a tenant or its owner has
/// disabled it: that must not keep the mailbox from working for somebody else, with an account of its own.
async fn release(tx: &mut Tx, address: &str) -> Result<(), DbError> {
    let sql = concat!(
        "UPDATE accounts SET confirmed_ms = NULL
         WHERE address = $1 AND confirmed_ms IS NOT NULL AND id NOT IN ",
        enabled!()
    );
    tx.execute(sql, args![address]).await?;
    Ok(())
}

/// A new account.
pub(super) struct NewAccount<'a> {
    pub(super) id: &'a str,
    pub(super) address: &'a str,
    pub(super) confirmed_ms: Option<i64>,
    pub(super) password: String,
}

/// Stores a new account. Its operator is added in the same transaction.
pub(super) async fn create(tx: &mut Tx, now_ms: i64, new: NewAccount<'_>) -> Result<(), ApiError> {
    if new.confirmed_ms.is_some() {
        release(tx, new.address).await?;
    }
    let sql =
        "INSERT INTO accounts (id, address, confirmed_ms, password, created_ms) VALUES ($1, $2, $3, $4, $5)";
    let values = args![new.id, new.address, new.confirmed_ms, new.password, now_ms];
    tx.execute(sql, values).await.map_err(|error| unique(error, has_account()))?;
    Ok(())
}

/// Adds an operator to the tenant that it names.
pub(super) async fn add_operator(tx: &mut Tx, now_ms: i64, operator: &Operator) -> Result<(), ApiError> {
    let Operator { id, account_id, tenant_id, email, name, role } = operator;
    let sql = "INSERT INTO operators (id, tenant_id, account_id, email, name, role, created_ms)
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let here = || ApiError::Conflict("This address has an account here already: sign in with it.".to_owned());
    let values = args![id, tenant_id, account_id, email, name, role.as_str(), now_ms];
    tx.execute(sql, values).await.map_err(|error| unique(error, here()))?;
    Ok(())
}

fn unique(error: DbError, conflict: ApiError) -> ApiError {
    if error.is_unique_violation() { conflict } else { error.into() }
}

/// Sets the password of an account, and locks it. Returns whether it has a second factor; `None` if it is
/// gone.
pub(super) async fn set_password(
    tx: &mut Tx,
    account_id: &str,
    hash: String,
) -> Result<Option<bool>, DbError> {
    let sql = "UPDATE accounts SET password = $1 WHERE id = $2
               RETURNING CAST(CASE WHEN totp_secret IS NULL THEN 0 ELSE 1 END AS BIGINT)";
    tx.optional(sql, args![hash, account_id]).await?.map(|row| row.flag(0)).transpose()
}

/// Records that the mailbox has proved the address of an account. Changes nothing where another account of
/// the address is confirmed, or where this one has a second factor: somebody else may have set that up, and
/// would keep the mailbox out of its own account.
///
/// # Errors
///
/// Returns a conflict if another account of the address is confirmed at the same moment.
pub(super) async fn confirm(
    tx: &mut Tx,
    now_ms: i64,
    account_id: &str,
    address: &str,
) -> Result<(), ApiError> {
    release(tx, address).await?;
    let sql = "UPDATE accounts SET confirmed_ms = $1
               WHERE id = $2 AND confirmed_ms IS NULL AND totp_secret IS NULL AND NOT EXISTS (
                   SELECT 1 FROM accounts other WHERE other.address = $3 AND other.confirmed_ms IS NOT NULL)";
    let changed = tx.execute(sql, args![now_ms, account_id, address]).await;
    changed.map_err(|error| unique(error, has_account()))?;
    Ok(())
}

/// Records that the mailbox alone does not decide about an account any more: somebody of its tenant gave it a
/// new password.
pub(super) async fn unconfirm(tx: &mut Tx, account_id: &str) -> Result<(), DbError> {
    tx.execute("UPDATE accounts SET confirmed_ms = NULL WHERE id = $1", args![account_id]).await?;
    Ok(())
}

/// Locks an account, unless its password is another one than this.
pub(super) async fn lock_verified(tx: &mut Tx, account_id: &str, password: String) -> Result<bool, DbError> {
    let sql = "UPDATE accounts SET address = address WHERE id = $1 AND password = $2";
    Ok(tx.execute(sql, args![account_id, password]).await? > 0)
}

/// Locks an account, unless it has another password or another second factor than these.
pub(super) async fn lock_unchanged(
    tx: &mut Tx,
    account_id: &str,
    password: String,
    totp_secret: Option<Vec<u8>>,
) -> Result<bool, DbError> {
    let sql = "UPDATE accounts SET address = address WHERE id = $1 AND password = $2
               AND (totp_secret = $3 OR (totp_secret IS NULL AND $3 IS NULL))";
    Ok(tx.execute(sql, args![account_id, password, totp_secret]).await? > 0)
}

/// Locks an account, so that it neither joins a workspace nor loses one meanwhile. Returns whether it is
/// there, and confirmed.
pub(super) async fn lock(tx: &mut Tx, account_id: &str) -> Result<Option<bool>, DbError> {
    let sql = "UPDATE accounts SET address = address WHERE id = $1
               RETURNING CAST(CASE WHEN confirmed_ms IS NULL THEN 0 ELSE 1 END AS BIGINT)";
    tx.optional(sql, args![account_id]).await?.map(|row| row.flag(0)).transpose()
}

/// Returns whether an account works for another tenant as well, also where its operator is disabled. Lock it
/// first.
pub(super) async fn is_shared(tx: &mut Tx, account_id: &str, tenant_id: &str) -> Result<bool, DbError> {
    let sql = "SELECT count(*) FROM operators WHERE account_id = $1 AND tenant_id <> $2";
    Ok(tx.one(sql, args![account_id, tenant_id]).await?.int(0)? > 0)
}

/// Records that an account has signed in, as an operator that is not disabled. Returns whether there is such
/// an operator.
pub(super) async fn enter(tx: &mut Tx, now_ms: i64, operator: &Operator) -> Result<bool, DbError> {
    let sql =
        "UPDATE operators SET signed_in_ms = $1 WHERE id = $2 AND account_id = $3 AND disabled_ms IS NULL
               AND tenant_id IN (SELECT id FROM tenants WHERE disabled_ms IS NULL)";
    if tx.execute(sql, args![now_ms, &operator.id, &operator.account_id]).await? == 0 {
        return Ok(false);
    }
    let sql = "UPDATE accounts SET signed_in_ms = $1 WHERE id = $2";
    tx.execute(sql, args![now_ms, &operator.account_id]).await?;
    Ok(true)
}
