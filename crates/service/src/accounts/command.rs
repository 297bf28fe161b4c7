//! Accounts from the command line: links for owners and new passwords, and disabling operators.

use chat_protocol::admin::settings::OperatorChange;
use tracing::error;

use super::email::parse_email;
use super::links::{self, NewLink, Purpose};
use super::people::{self, Person};
use crate::Service;
use crate::audit::{self, Author};
use crate::clock::iso;
use crate::db::{Tx, args, transaction};
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
    /// Whether the account is disabled.
    pub disabled: bool,
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
        let link = links::create(tx, now, &tenant, &Purpose::Owner, "service").await?;
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
        let link = links::create(tx, now, &tenant, &Purpose::Owner, "command").await?;
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
        id: person.id,
        email: person.email,
        name: person.name,
    }
}

/// Disables or enables an operator, named by e-mail address.
pub async fn set_operator_disabled(
    service: &Service,
    email: &str,
    disabled: bool,
) -> Result<OperatorSummary, CommandError> {
    let (now, email) = (service.now_ms(), parse_email(email)?);
    let changed: Result<OperatorSummary, ApiError> = transaction!(service.db(), |tx| {
        let (tenant, id) = find(tx, &email).await?;
        people::lock(tx, &tenant).await?;
        let change = OperatorChange { disabled: Some(disabled), ..OperatorChange::default() };
        let person = people::change(tx, now, &tenant, &id, &change, &Author::command()).await?;
        Ok(summary(person, &tenant))
    })
    .await;
    Ok(changed?)
}

/// Creates a link with which an operator, named by e-mail address, sets a new password. `remove_totp` removes
/// the second factor too, for those who lost it.
pub async fn reset_operator_password(
    service: &Service,
    email: &str,
    remove_totp: bool,
) -> Result<OneTimeLink, CommandError> {
    let (now, email) = (service.now_ms(), parse_email(email)?);
    let link: Result<NewLink, ApiError> = transaction!(service.db(), |tx| {
        let (tenant, id) = find(tx, &email).await?;
        let author = Author::command();
        if remove_totp {
            people::remove_totp(tx, now, &tenant, &id, &author).await?;
        }
        let purpose = Purpose::Password { operator_id: id.clone() };
        let link = links::create(tx, now, &tenant, &purpose, "command").await?;
        audit::record(tx, &author.entry(&tenant, "password.link", &id, now)).await?;
        Ok(link)
    })
    .await;
    Ok(one_time(service, &link?))
}

async fn find(tx: &mut Tx, email: &str) -> Result<(String, String), ApiError> {
    let sql = "SELECT tenant_id, id FROM operators WHERE email = $1";
    let row = tx.optional(sql, args![email]).await?.ok_or(ApiError::NotFound("This operator"))?;
    Ok((row.text(0)?, row.text(1)?))
}
