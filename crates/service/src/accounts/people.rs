//! The operators of a tenant, as stored, and the rule that one owner remains.

use chat_protocol::Value;
use chat_protocol::admin::settings::{OperatorAccount, OperatorChange};

use super::session::{self, Of, read_role};
use super::{Operator, Right, Role, account, links, totp};
use crate::Service;
use crate::audit::{self, Author};
use crate::clock::iso;
use crate::db::{DbError, Row, Tx, Wake, args};
use crate::error::ApiError;

/// An operator as others see them.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) id: String,
    pub(super) account_id: String,
    pub(super) email: String,
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) has_totp: bool,
    /// Whether the mailbox has proved the address.
    pub(super) confirmed: bool,
    created_ms: i64,
    pub(super) disabled_ms: Option<i64>,
}

macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT o.id, o.email, o.name, o.role,
             CAST(CASE WHEN a.totp_secret IS NULL THEN 0 ELSE 1 END AS BIGINT), o.created_ms, o.disabled_ms,
             o.account_id, o.tenant_id, CAST(CASE WHEN a.confirmed_ms IS NULL THEN 0 ELSE 1 END AS BIGINT)
             FROM operators o JOIN accounts a ON a.id = o.account_id WHERE ",
            $condition
        )
    };
}

impl Person {
    fn read(row: &Row) -> Result<Self, DbError> {
        Ok(Self {
            id: row.text(0)?,
            email: row.text(1)?,
            name: row.text(2)?,
            role: read_role(&row.text(3)?),
            has_totp: row.flag(4)?,
            created_ms: row.int(5)?,
            disabled_ms: row.optional_int(6)?,
            account_id: row.text(7)?,
            confirmed: row.flag(9)?,
        })
    }

    /// Returns the account as the console shows it to an operator.
    pub(super) fn account(self, to: &Operator) -> OperatorAccount {
        let may_know = self.id == to.id || to.may(Right::to_manage(self.role)).is_ok();
        OperatorAccount {
            id: self.id,
            email: self.email,
            name: self.name,
            role: self.role,
            totp: may_know.then_some(self.has_totp),
            disabled: self.disabled_ms.is_some(),
            created_at: iso(self.created_ms),
        }
    }

    fn is_active_owner(&self) -> bool {
        self.role == Role::Owner && self.disabled_ms.is_none()
    }
}

/// Lists the operators of a tenant.
pub(super) async fn list(service: &Service, tenant_id: &str) -> Result<Vec<Person>, ApiError> {
    let rows =
        service.db().all(select!("o.tenant_id = $1 ORDER BY o.created_ms, o.id"), args![tenant_id]).await?;
    Ok(rows.iter().map(Person::read).collect::<Result<_, _>>()?)
}

/// Returns an operator of a tenant. That of another tenant does not exist.
pub(super) async fn find(service: &Service, tenant_id: &str, id: &str) -> Result<Person, ApiError> {
    let row = service.db().optional(select!("o.tenant_id = $1 AND o.id = $2"), args![tenant_id, id]).await?;
    Ok(Person::read(&row.ok_or(UNKNOWN)?)?)
}

/// Returns an operator of a tenant in a transaction.
pub(super) async fn find_in(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<Person, ApiError> {
    let row = tx.optional(select!("o.tenant_id = $1 AND o.id = $2"), args![tenant_id, id]).await?;
    Ok(Person::read(&row.ok_or(UNKNOWN)?)?)
}

const UNKNOWN: ApiError = ApiError::NotFound("This operator");
/// An account has no such operator, or a disabled one.
pub(super) const UNKNOWN_WORKSPACE: ApiError = ApiError::NotFound("This workspace");

/// Returns an operator of an account. That of another account does not exist.
pub(super) async fn of_account(tx: &mut Tx, account_id: &str, id: &str) -> Result<Operator, ApiError> {
    let row = tx.optional(select!("o.account_id = $1 AND o.id = $2"), args![account_id, id]).await?;
    let row = row.ok_or(UNKNOWN_WORKSPACE)?;
    let Person { id, account_id, email, name, role, .. } = Person::read(&row)?;
    Ok(Operator { id, account_id, tenant_id: row.text(8)?, email, name, role })
}

/// Locks an operator's account, and refuses unless it works for this tenant alone: others rely on its
/// password and its second factor as well.
pub(super) async fn require_sole(tx: &mut Tx, tenant_id: &str, person: &Person) -> Result<(), ApiError> {
    account::lock(tx, &person.account_id).await?.ok_or(UNKNOWN)?;
    if account::is_shared(tx, &person.account_id, tenant_id).await? {
        return Err(ApiError::Conflict(
            "This account works for others as well: only its owner can change how it signs in.".to_owned(),
        ));
    }
    Ok(())
}

/// Locks the people of a tenant, so that of two owners who remove each other at once, one remains.
pub(super) async fn lock(tx: &mut Tx, tenant_id: &str) -> Result<(), DbError> {
    tx.execute("UPDATE tenants SET name = name WHERE id = $1", args![tenant_id]).await?;
    Ok(())
}

/// Checks a right by the stored role of an operator, which may have changed since the request began.
pub(super) async fn still_may(tx: &mut Tx, operator: &Operator, right: Right) -> Result<(), ApiError> {
    let person = match find_in(tx, &operator.tenant_id, &operator.id).await {
        Err(UNKNOWN) => return Err(ApiError::SIGNED_OUT),
        found => found?,
    };
    if person.disabled_ms.is_some() {
        return Err(ApiError::SIGNED_OUT);
    }
    Operator { role: person.role, ..operator.clone() }.may(right)
}

/// Changes an operator. Their sessions end when their rights change.
pub(super) async fn change(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    id: &str,
    change: &OperatorChange,
    author: &Author,
) -> Result<Person, ApiError> {
    let before = find_in(tx, tenant_id, id).await?;
    let mut after = before.clone();
    after.name = change.name.clone().unwrap_or(after.name);
    after.role = change.role.unwrap_or(after.role);
    after.disabled_ms = match change.disabled {
        Some(true) => Some(before.disabled_ms.unwrap_or(now_ms)),
        Some(false) => None,
        None => before.disabled_ms,
    };
    let sql = "UPDATE operators SET name = $1, role = $2, disabled_ms = $3 WHERE id = $4 AND tenant_id = $5";
    let values = args![&after.name, after.role.as_str(), after.disabled_ms, id, tenant_id];
    tx.execute(sql, values).await?;
    if (before.role, before.disabled_ms) != (after.role, after.disabled_ms) {
        end_access(tx, tenant_id, id).await?;
    }
    if after.disabled_ms.is_some() {
        release_conversations(tx, tenant_id, id).await?;
    }
    if before.is_active_owner() && !after.is_active_owner() {
        keep_an_owner(tx, tenant_id).await?;
    }
    audit::record(tx, &author.entry(tenant_id, "operator.update", id, now_ms).with(change)).await?;
    tx.wake(Wake::Settings { tenant: tenant_id.to_owned() });
    Ok(after)
}

/// Deletes an operator, and the account if it works for nobody else. What they wrote remains.
pub(super) async fn remove(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    id: &str,
    author: &Author,
) -> Result<(), ApiError> {
    let person = find_in(tx, tenant_id, id).await?;
    // The account ends with its last operator.
    account::lock(tx, &person.account_id).await?;
    end_access(tx, tenant_id, id).await?;
    release_conversations(tx, tenant_id, id).await?;
    tx.execute("DELETE FROM operators WHERE id = $1 AND tenant_id = $2", args![id, tenant_id]).await?;
    if person.is_active_owner() {
        keep_an_owner(tx, tenant_id).await?;
    }
    let detail = Value::object([("email", person.email.into()), ("role", person.role.as_str().into())]);
    audit::record(tx, &author.entry(tenant_id, "operator.delete", id, now_ms).with(&detail)).await?;
    Ok(())
}

/// Removes the second factor of an operator's account, for those who lost it.
pub(super) async fn remove_totp(
    tx: &mut Tx,
    now_ms: i64,
    tenant_id: &str,
    id: &str,
    author: &Author,
) -> Result<(), ApiError> {
    let person = find_in(tx, tenant_id, id).await?;
    totp::store(tx, &person.account_id, None).await?;
    session::revoke_all(tx, Of::Account(&person.account_id), None).await?;
    audit::record(tx, &author.entry(tenant_id, "totp.remove", id, now_ms)).await?;
    Ok(())
}

/// Ends the sessions, open consoles, links and invitations of an operator.
async fn end_access(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<(), DbError> {
    session::revoke_all(tx, Of::Operator(id), None).await?;
    links::revoke_of(tx, id).await?;
    let sql = "UPDATE consoles SET open = 0 WHERE operator_id = $1 AND tenant_id = $2 AND open <> 0";
    if tx.execute(sql, args![id, tenant_id]).await? > 0 {
        tx.wake(Wake::Presence { tenant: tenant_id.to_owned() });
    }
    Ok(())
}

/// Takes an operator's conversations from them, so that those are in the views of all the others. A closed
/// one may be opened again by its visitor.
async fn release_conversations(tx: &mut Tx, tenant_id: &str, id: &str) -> Result<(), DbError> {
    let sql = "SELECT site_id, id FROM conversations
               WHERE tenant_id = $1 AND assignee_id = $2 AND status <> 'closed' ORDER BY no";
    for row in tx.all(sql, args![tenant_id, id]).await? {
        let (site, conversation) = (row.text(0)?, row.text(1)?);
        tx.wake(Wake::Conversation { tenant: tenant_id.to_owned(), site, conversation });
    }
    let sql = "UPDATE conversations SET assignee_id = NULL WHERE tenant_id = $1 AND assignee_id = $2";
    tx.execute(sql, args![tenant_id, id]).await?;
    Ok(())
}

/// Refuses a change that left a tenant without an owner.
async fn keep_an_owner(tx: &mut Tx, tenant_id: &str) -> Result<(), ApiError> {
    let sql =
        "SELECT count(*) FROM operators WHERE tenant_id = $1 AND role = 'owner' AND disabled_ms IS NULL";
    if tx.one(sql, args![tenant_id]).await?.int(0)? > 0 {
        return Ok(());
    }
    Err(ApiError::Conflict("This is the last owner: make somebody else an owner first.".to_owned()))
}
