//! Sites, and their settings.

mod business_hours;
mod origins;
mod settings;
mod visitor_secret;
mod widget_options;

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::Deref;

use chat_protocol::admin::settings::{AiSettings, Site as SiteSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::clock::iso;
use crate::db::{Arg, Db, DbError, Row, Tx, Wake, args};
use crate::error::ApiError;
use crate::fingerprint::fingerprint;
use crate::limits::check_name;
use crate::secrets::{ServiceKey, new_id};

pub(crate) use business_hours::Opening;
pub(crate) use origins::{checked_origin, origin_of_address};
pub use settings::{AiChange, SiteChange};
pub(crate) use visitor_secret::{VisitorSecrets, remove_visitor_secret, rotate_visitor_secret};
pub(crate) use widget_options::option_attributes;

/// A site with what is stored beside its settings. It is shown as its settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Site {
    pub(crate) settings: SiteSettings,
    /// Whether its tenant is switched off.
    #[serde(skip)]
    tenant_disabled: bool,
    /// The encrypted key of the AI endpoint.
    #[serde(skip)]
    pub(crate) ai_key: Option<Vec<u8>>,
    /// The secrets with which the site proves its visitors.
    #[serde(skip)]
    visitor_secrets: VisitorSecrets,
}

/// The party that answers a visitor's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Answerer {
    /// The AI, and a person if the visitor asks for one or the AI has no answer.
    #[default]
    Ai,
    /// The AI, and nobody else: no person is offered, promised or alerted.
    AiAlone,
    /// People.
    People {
        /// Milliseconds after which the AI answers in their place, if it does.
        ai_after_ms: Option<i64>,
    },
}

impl Answerer {
    pub(crate) fn is_people(self) -> bool {
        matches!(self, Self::People { .. })
    }
}

impl Deref for Site {
    type Target = SiteSettings;

    fn deref(&self) -> &SiteSettings {
        &self.settings
    }
}

impl PartialSchema for Site {
    fn schema() -> RefOr<Schema> {
        SiteSettings::schema()
    }
}

impl ToSchema for Site {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        SiteSettings::schemas(schemas);
    }
}

impl Site {
    /// Returns whether requests for the site are served.
    pub(crate) fn is_active(&self) -> bool {
        !self.disabled && !self.tenant_disabled
    }

    /// Returns who answers a message that arrives now, while an operator is online or not.
    pub(crate) fn answerer(&self, now_ms: i64, operator_online: bool) -> Answerer {
        match self.answering.as_str() {
            "ai_only" => Answerer::AiAlone,
            "people_only" => Answerer::People { ai_after_ms: None },
            "people_first" if operator_online && self.is_open(now_ms) => {
                Answerer::People { ai_after_ms: self.ai_after_ms() }
            }
            _ => Answerer::Ai,
        }
    }

    /// Returns whether no person is offered to visitors.
    pub(crate) fn is_ai_only(&self) -> bool {
        self.answering == "ai_only"
    }

    /// Returns the milliseconds for which a visitor waits for a person before the AI answers, where people
    /// answer first; `None` if the AI does not step in.
    pub(crate) fn ai_after_ms(&self) -> Option<i64> {
        let minutes = self.ai_after_minutes.filter(|_| self.answering == "people_first")?;
        Some(minutes.saturating_mul(60_000))
    }

    /// Returns the site's own way to be reached, which its widget shows.
    pub(crate) fn contact(&self) -> Option<&str> {
        self.widget_options.get("contact").and_then(serde_json::Value::as_str)
    }

    /// Returns whether it is within the site's business hours.
    pub(crate) fn is_open(&self, now_ms: i64) -> bool {
        self.business_hours.as_ref().is_none_or(|hours| business_hours::is_open(hours, now_ms))
    }

    /// Returns when the site's business hours begin again; `None` during them, without any, and if no day of
    /// the next year has some.
    pub(crate) fn reopens(&self, now_ms: i64) -> Option<Opening> {
        self.business_hours.as_ref().and_then(|hours| business_hours::next_opening(hours, now_ms))
    }

    /// Returns how long a visitor waited from one time to another within the business hours; `None` if the
    /// site was closed when that began. An answer outside of the hours counts by the clock.
    pub(crate) fn waited_ms(&self, from_ms: i64, to_ms: i64) -> Option<i64> {
        if !self.is_open(from_ms) {
            return None;
        }
        let by_clock = to_ms.saturating_sub(from_ms);
        Some(match &self.business_hours {
            Some(hours) if self.is_open(to_ms) => business_hours::open_ms(hours, from_ms, to_ms),
            _ => by_clock,
        })
    }

    /// Returns the tenant's id as pages see it: another one for each site, which tells nothing of the tenant.
    pub(crate) fn opaque_tenant_id(&self) -> String {
        let hash = fingerprint(&[b"tenant of ", self.id.as_bytes()]);
        hash.iter().take(12).fold("tenant_".to_owned(), |mut id, byte| {
            let _ = write!(id, "{byte:02x}");
            id
        })
    }

    /// Returns the place of the AI's key, for which it is encrypted.
    pub(crate) fn ai_key_purpose(id: &str) -> String {
        format!("ai key of {id}")
    }
}

const NO_SITE: ApiError = ApiError::NotFound("This site");

const SELECT: &str = "SELECT s.id, s.tenant_id, s.name, s.domain, s.platform, s.primary_locale,
    s.supported_locales, s.allowed_origins, s.chat_enabled, s.widget_enabled, s.tracking_enabled,
    s.assistant_name, s.welcome, s.avatar_url, s.publishing, s.monthly_ai_replies, s.quota_refuses, s.ai_base,
    s.ai_model, s.ai_key, s.ai_timeout_ms, s.ai_pause_ms, s.retention_days, s.created_ms, s.activated_ms,
    s.disabled_ms, t.disabled_ms, s.visitor_secret, s.visitor_secret_ms, s.old_visitor_secret,
    s.old_visitor_secret_until_ms, s.ai_options, s.answering, s.business_hours,
    s.answer_threshold, s.widget_options, s.ai_after_minutes, s.mail_replies, s.mail_replies_after_ms
    FROM sites s JOIN tenants t ON t.id = s.tenant_id WHERE s.deleted_ms IS NULL";

fn select(rest: &str) -> sqlx::AssertSqlSafe<String> {
    sqlx::AssertSqlSafe(format!("{SELECT} {rest}"))
}

fn read(row: &Row) -> Result<Site, DbError> {
    let ai_key = row.optional_bytes(19)?;
    let ai = match (row.optional_text(17)?, row.optional_text(18)?) {
        (Some(base), Some(model)) => {
            let options = row.optional_text(31)?.map(|text| json(&text)).unwrap_or_default();
            Some(AiSettings { base, model, has_key: ai_key.is_some(), timeout_ms: row.int(20)?, options })
        }
        _ => None,
    };
    let settings = SiteSettings {
        id: row.text(0)?,
        tenant_id: row.text(1)?,
        name: row.text(2)?,
        domain: row.optional_text(3)?,
        platform: row.optional_text(4)?,
        primary_locale: row.optional_text(5)?,
        supported_locales: json(&row.text(6)?),
        allowed_origins: json(&row.text(7)?),
        chat_enabled: row.flag(8)?,
        widget_enabled: row.flag(9)?,
        tracking_enabled: row.flag(10)?,
        assistant_name: row.optional_text(11)?,
        welcome: json(&row.text(12)?),
        avatar_url: row.optional_text(13)?,
        widget_options: json(&row.text(35)?),
        publishing: row.text(14)?,
        answering: row.text(32)?,
        ai_after_minutes: row.optional_int(36)?,
        business_hours: row.optional_text(33)?.and_then(|text| json(&text)),
        answer_threshold: row.int(34)?,
        monthly_ai_replies: row.optional_int(15)?,
        quota_refuses: row.flag(16)?,
        ai,
        ai_pause_ms: row.int(21)?,
        mail_replies: row.flag(37)?,
        mail_replies_after_ms: row.int(38)?,
        retention_days: row.optional_int(22)?,
        created_at: iso(row.int(23)?),
        activated_at: row.optional_int(24)?.map(iso),
        disabled: !row.is_null(25)?,
        visitor_secret_created_at: row.optional_int(28)?.map(iso),
    };
    let visitor_secrets = VisitorSecrets {
        current: row.optional_bytes(27)?,
        previous: row.optional_bytes(29)?.zip(row.optional_int(30)?),
    };
    Ok(Site { settings, tenant_disabled: !row.is_null(26)?, ai_key, visitor_secrets })
}

/// Reads a list or an object of a column; empty if it is invalid, as after an edit by hand.
fn json<T: DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}

/// Creates a site. Every setting has its default.
pub(crate) async fn create(tx: &mut Tx, now_ms: i64, tenant_id: &str, name: &str) -> Result<Site, ApiError> {
    let name = check_name("name", name)?;
    let tenant = tx.optional("SELECT id FROM tenants WHERE id = $1", args![tenant_id]).await?;
    if tenant.is_none() {
        return Err(ApiError::NotFound("This tenant"));
    }
    let id = new_id("site");
    tx.execute(
        "INSERT INTO sites (id, tenant_id, name, created_ms) VALUES ($1, $2, $3, $4)",
        args![&id, tenant_id, name, now_ms],
    )
    .await?;
    load(tx, &id).await
}

/// Returns a site by its id, within a transaction.
pub(crate) async fn load(tx: &mut Tx, id: &str) -> Result<Site, ApiError> {
    let row = tx.optional(select("AND s.id = $1"), args![id]).await?;
    Ok(read(&row.ok_or(NO_SITE)?)?)
}

/// Returns a site by its id.
pub(crate) async fn find(db: &Db, id: &str) -> Result<Option<Site>, ApiError> {
    let row = db.optional(select("AND s.id = $1"), args![id]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Returns the ids of all sites.
pub(crate) async fn ids(db: &Db) -> Result<HashSet<String>, ApiError> {
    let rows = db.all("SELECT id FROM sites WHERE deleted_ms IS NULL", args![]).await?;
    Ok(rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?)
}

/// Returns a site of a tenant; one of another tenant does not exist.
pub(crate) async fn of_tenant(db: &Db, tenant_id: &str, id: &str) -> Result<Site, ApiError> {
    let row = db.optional(select("AND s.tenant_id = $1 AND s.id = $2"), args![tenant_id, id]).await?;
    Ok(read(&row.ok_or(NO_SITE)?)?)
}

/// Returns the sites of a tenant, or of all tenants, oldest first.
pub(crate) async fn list(db: &Db, tenant_id: Option<&str>) -> Result<Vec<Site>, ApiError> {
    let rows = match tenant_id {
        Some(id) => db.all(select("AND s.tenant_id = $1 ORDER BY s.created_ms, s.id"), args![id]).await?,
        None => db.all(select("ORDER BY s.created_ms, s.id"), args![]).await?,
    };
    Ok(rows.iter().map(read).collect::<Result<_, _>>()?)
}

/// Changes settings of a site, and returns the changed site.
pub(crate) async fn change(
    tx: &mut Tx,
    key: &ServiceKey,
    site: &Site,
    change: SiteChange,
) -> Result<Site, ApiError> {
    change.check_ai_key(site)?;
    let columns = change.checked(key, &site.id)?;
    // The mode is part of the rules, so an open editor has to notice the change.
    if columns.iter().any(|(column, _)| *column == "publishing") {
        let sql = "UPDATE sites SET publishing_version = publishing_version + 1 WHERE id = $1";
        tx.execute(sql, args![&site.id]).await?;
    }
    for (column, value) in columns {
        let sql = sqlx::AssertSqlSafe(format!("UPDATE sites SET {column} = $1 WHERE id = $2"));
        tx.execute(sql, vec![value, Arg::from(&site.id)]).await?;
    }
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    load(tx, &site.id).await
}

/// Switches a site off, or on again.
pub(crate) async fn set_disabled(
    tx: &mut Tx,
    now_ms: i64,
    site: &Site,
    disabled: bool,
) -> Result<(), ApiError> {
    let sql = "UPDATE sites SET disabled_ms = $1 WHERE id = $2";
    tx.execute(sql, args![disabled.then_some(now_ms), &site.id]).await?;
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    Ok(())
}

/// Deletes a site: from now on it does not exist. Its data is removed little by little.
pub(crate) async fn delete(tx: &mut Tx, now_ms: i64, site: &Site) -> Result<(), ApiError> {
    tx.execute("UPDATE sites SET deleted_ms = $1 WHERE id = $2", args![now_ms, &site.id]).await?;
    tx.execute("DELETE FROM site_tokens WHERE site_id = $1", args![&site.id]).await?;
    tx.execute("DELETE FROM licenses WHERE site_id = $1", args![&site.id]).await?;
    tx.wake(Wake::Settings { tenant: site.tenant_id.clone() });
    Ok(())
}
