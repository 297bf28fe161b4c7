//! Accounts from the command line: links for owners and new passwords, confirming and disabling operators.

use chat_protocol::admin::settings::OperatorChange;
use tracing::error;

use super::account;
use super::email::parse_email;
use super::links::{self, BY_COMMAND, BY_SERVICE, NewLink, Purpose};
use super::people::{self, Person};
use super::session::{self, Of};
use crate::Service;
use crate::audit::{self, Author};
use crate::clock::iso;
use crate::db::{DbError, Row, Tx, args, transaction};
use crate::error::ApiError;
use crate::tenants;

/// A command failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct CommandError(#[from] ApiError);

/// A link that can be used once.
#[derive(Clone, Debug)]
pub struct OneTimeLink {
    /// The URL. It begins at the path where the service has no public origin.
    pub url: String,
    /// The time after which it is not valid any more, in ISO 8601.
    pub expires_at: String,
}

/// An operator, for lists.
#[derive(Clone, Debug)]
pub struct OperatorSummary {
    /// The operator's id.
    pub id: String,
    /// The id of the operator's tenant.
    pub tenant_id: String,
    /// The address by which the operator signs in.
    pub email: String,
    /// The name that visitors see.
    pub name: String,
    /// `owner`, `admin` or `agent`.
    pub role: String,
    /// Whether the account has a second factor.
    pub totp: bool,
    /// Whether the operator is disabled.
    pub disabled: bool,
    /// Whether the mailbox, or the host of the service, has proved the address.
    pub confirmed: bool,
}

/// Returns a link for the first owner, if the service has no operators yet. Creates a tenant if there is
/// none.
///
/// Each start returns a new link, because a link cannot be shown again. Once one is used, the others are not
/// valid any more.
pub async fn first_owner_link(service: &Service) -> Option<String> {
    let now = service.now_ms();
    let link: Result<Option<NewLink>, ApiError> = transaction!(service.db(), |tx| {
        let tenant = first_tenant(tx, now).await?;
        let operators = tx.one("SELECT count(*) FROM operators", args![]).await?.int(0)?;
        if operators > 0 {
            return Ok(None);
        }
        let link = links::create(tx, now, &tenant, &Purpose::Owner, BY_SERVICE).await?;
        Ok(Some(link))
    })
    .await;
    match link {
        Ok(link) => link.map(|link| links::url(service, &link.secret)),
        Err(error) => {
            error!("the link for the first owner was not created: {error}");
            None
        }
    }
}

/// Returns the oldest tenant, which is created if there is none. Nodes that start at once create one.
async fn first_tenant(tx: &mut Tx, now_ms: i64) -> Result<String, ApiError> {
    let sql = "INSERT INTO service_values (name, value) VALUES ('first_tenant', '')
               ON CONFLICT (name) DO UPDATE SET value = service_values.value";
    tx.execute(sql, args![]).await?;
    let sql = "SELECT id FROM tenants ORDER BY created_ms, id LIMIT 1";
    if let Some(row) = tx.optional(sql, args![]).await? {
        return Ok(row.text(0)?);
    }
    Ok(tenants::create(tx, now_ms, "Main").await?.id)
}

/// Creates a link for a further owner of a tenant.
pub async fn owner_link(service: &Service, tenant_id: &str) -> Result<OneTimeLink, CommandError> {
    let (now, tenant) = (service.now_ms(), tenant_id.to_owned());
    let link: Result<NewLink, ApiError> = transaction!(service.db(), |tx| {
        let known = tx.optional("SELECT id FROM tenants WHERE id = $1", args![&tenant]).await?;
        known.ok_or(ApiError::NotFound("This tenant"))?;
        let link = links::create(tx, now, &tenant, &Purpose::Owner, BY_COMMAND).await?;
        let author = Author::command();
        audit::record(tx, &author.entry(&tenant, "owner.link", &link.id, now)).await?;
        Ok(link)
    })
    .await;
    Ok(one_time(service, &link?))
}

fn one_time(service: &Service, link: &NewLink) -> OneTimeLink {
    OneTimeLink { url: links::url(service, &link.secret), expires_at: iso(link.expires_ms) }
}

/// Lists the operators of all tenants, or of one.
pub async fn list_operators(
    service: &Service,
    tenant_id: Option<&str>,
) -> Result<Vec<OperatorSummary>, CommandError> {
    let sql = "SELECT id FROM tenants WHERE id = $1 OR $1 IS NULL ORDER BY created_ms, id";
    let tenants = service.db().all(sql, args![tenant_id]).await.map_err(ApiError::from)?;
    let mut summaries = Vec::new();
    for row in tenants {
        let tenant_id = row.text(0).map_err(ApiError::from)?;
        let people = people::list(service, &tenant_id).await?;
        summaries.extend(people.into_iter().map(|person| summary(person, &tenant_id)));
    }
    Ok(summaries)
}

fn summary(person: Person, tenant_id: &str) -> OperatorSummary {
    OperatorSummary {
        tenant_id: tenant_id.to_owned(),
        role: person.role.as_str().to_owned(),
        totp: person.has_totp,
        disabled: person.disabled_ms.is_some(),
        confirmed: person.confirmed,
        id: person.id,
        email: person.email,
        name: person.name,
    }
}

/// Disables or enables an operator, named by e-mail address, and by tenant where the address works for
/// several.
pub async fn set_operator_disabled(
    service: &Service,
    email: &str,
    tenant_id: Option<&str>,
    disabled: bool,
) -> Result<OperatorSummary, CommandError> {
    let (now, named) = (service.now_ms(), Named::parse(email, tenant_id)?);
    let changed: Result<OperatorSummary, ApiError> = transaction!(service.db(), |tx| {
        let Found { tenant, id, .. } = named.operator(tx).await?;
        people::lock(tx, &tenant).await?;
        let change = OperatorChange { disabled: Some(disabled), ..OperatorChange::default() };
        let person = people::change(tx, now, &tenant, &id, &change, &Author::command()).await?;
        Ok(summary(person, &tenant))
    })
    .await;
    Ok(changed?)
}

/// Creates a link for the owner of an operator's address, which sets a new password and confirms the
/// account, as a link in an e-mail does. The account's sessions and its other links end: somebody else, such
/// as an admin of its tenant, may have them, and may know the earlier password.
pub async fn confirm_operator(
    service: &Service,
    email: &str,
    tenant_id: Option<&str>,
) -> Result<OneTimeLink, CommandError> {
    let (now, named) = (service.now_ms(), Named::parse(email, tenant_id)?);
    let link: Result<NewLink, ApiError> = transaction!(service.db(), |tx| {
        let Found { tenant, id, account, .. } = named.account(tx).await?;
        account::lock(tx, &account).await?;
        let person = people::find_in(tx, &tenant, &id).await?;
        if person.confirmed {
            return Err(ApiError::Conflict("This account is confirmed already.".to_owned()));
        }
        if person.has_totp {
            return Err(ApiError::Conflict(
                "This account has a second factor: remove it first, so that nobody else keeps it.".to_owned(),
            ));
        }
        if account::is_confirmed_in(tx, &person.email).await? {
            return Err(ApiError::Conflict(
                "Another account of this address is confirmed already.".to_owned(),
            ));
        }
        links::revoke_password_links(tx, &account).await?;
        session::revoke_all(tx, Of::Account(&account), None).await?;
        let purpose = Purpose::Password { operator_id: id.clone() };
        let link = links::create_vouched(tx, now, &tenant, &purpose).await?;
        let author = Author::command();
        audit::record(tx, &author.entry(&tenant, "operator.confirm", &id, now)).await?;
        Ok(link)
    })
    .await;
    Ok(one_time(service, &link?))
}

/// Creates a link with which an operator, named by e-mail address, and by tenant where the address has
/// several accounts, sets a new password. `remove_totp` removes the second factor too, for those who lost it.
pub async fn reset_operator_password(
    service: &Service,
    email: &str,
    tenant_id: Option<&str>,
    remove_totp: bool,
) -> Result<OneTimeLink, CommandError> {
    let (now, named) = (service.now_ms(), Named::parse(email, tenant_id)?);
    let link: Result<NewLink, ApiError> = transaction!(service.db(), |tx| {
        let Found { tenant, id, .. } = named.account(tx).await?;
        let author = Author::command();
        if remove_totp {
            people::remove_totp(tx, now, &tenant, &id, &author).await?;
        }
        let purpose = Purpose::Password { operator_id: id.clone() };
        let link = links::create(tx, now, &tenant, &purpose, BY_COMMAND).await?;
        audit::record(tx, &author.entry(&tenant, "password.link", &id, now)).await?;
        Ok(link)
    })
    .await;
    Ok(one_time(service, &link?))
}

/// The name of an operator on the command line.
struct Named {
    email: String,
    tenant_id: Option<String>,
}

/// An operator that was found.
struct Found {
    tenant: String,
    id: String,
    account: String,
    /// Whether the operator can sign in.
    enabled: bool,
}

impl Named {
    fn parse(email: &str, tenant_id: Option<&str>) -> Result<Self, ApiError> {
        Ok(Self { email: parse_email(email)?, tenant_id: tenant_id.map(str::to_owned) })
    }

    /// Returns the operators of this name: those that can sign in first, and of these the one that was used
    /// last.
    async fn all(&self, tx: &mut Tx) -> Result<Vec<Found>, ApiError> {
        let sql = "SELECT o.tenant_id, o.id, o.account_id,
                       CAST(CASE WHEN o.disabled_ms IS NULL AND t.disabled_ms IS NULL THEN 1 ELSE 0 END AS BIGINT)
                   FROM operators o JOIN tenants t ON t.id = o.tenant_id
                   WHERE o.email = $1 AND (o.tenant_id = $2 OR $2 IS NULL)
                   ORDER BY 4 DESC, o.signed_in_ms DESC, o.created_ms, o.id";
        let rows = tx.all(sql, args![&self.email, self.tenant_id.as_deref()]).await?;
        let read = |row: &Row| {
            let (tenant, id, account) = (row.text(0)?, row.text(1)?, row.text(2)?);
            Ok(Found { tenant, id, account, enabled: row.flag(3)? })
        };
        Ok(rows.iter().map(read).collect::<Result<_, DbError>>()?)
    }

    /// Returns the operator of this name, if there is only one.
    async fn operator(&self, tx: &mut Tx) -> Result<Found, ApiError> {
        only(self.all(tx).await?, |_, _| false)
    }

    /// Returns an operator that can sign in, of the account of this name, if there is only one account. A
    /// link of another operator would not be valid.
    async fn account(&self, tx: &mut Tx) -> Result<Found, ApiError> {
        let found = only(self.all(tx).await?, |one, other| one.account == other.account)?;
        if found.enabled {
            return Ok(found);
        }
        Err(ApiError::Conflict("This operator or its tenant is disabled: enable it first.".to_owned()))
    }
}

fn only(found: Vec<Found>, is_same: impl Fn(&Found, &Found) -> bool) -> Result<Found, ApiError> {
    let tenants: Vec<String> = found.iter().map(|found| found.tenant.clone()).collect();
    let mut found = found.into_iter();
    let first = found.next().ok_or(ApiError::NotFound("This operator"))?;
    if found.all(|other| is_same(&first, &other)) {
        return Ok(first);
    }
    let tenants = tenants.join(", ");
    Err(ApiError::Conflict(format!("This address has several operators: name one of the tenants {tenants}.")))
}
