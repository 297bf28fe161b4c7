//! The tenants and sites of a service, as the command line manages them.

use chat_protocol::admin::settings::{TestQuestionText, TestResult};
use futures_util::future::BoxFuture;

use crate::Service;
use crate::ai::Threshold;
use crate::audit::{self, Author};
use crate::db::{Tx, work};
use crate::error::ApiError;
use crate::licenses::{self, License, NewLicense};
use crate::sites::{self, Site, SiteChange};
use crate::tenants::{self, Tenant};
use crate::test_questions;
use crate::tokens::{self, NewToken, TokenInfo};

/// Manages tenants, sites, tokens and licenses. Each change is recorded in the audit log as one of the
/// command.
#[derive(Clone, Debug)]
pub struct Directory(Service);

/// Records a change of the command.
async fn record(
    tx: &mut Tx,
    at_ms: i64,
    tenant_id: &str,
    action: &str,
    target: &str,
) -> Result<(), ApiError> {
    Ok(audit::record(tx, &Author::command().entry(tenant_id, action, target, at_ms)).await?)
}

impl Service {
    /// Returns the tenants and sites of the service.
    pub fn directory(&self) -> Directory {
        Directory(self.clone())
    }
}

impl Directory {
    async fn write<T, F>(&self, work: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: for<'tx> FnOnce(&'tx mut Tx, i64) -> BoxFuture<'tx, Result<T, ApiError>> + Send + 'static,
    {
        let now_ms = self.0.now_ms();
        self.0.db().write(move |tx| work(tx, now_ms)).await
    }

    /// Returns all tenants, oldest first.
    pub async fn tenants(&self) -> Result<Vec<Tenant>, ApiError> {
        tenants::list(self.0.db()).await
    }

    /// Creates a tenant.
    pub async fn create_tenant(&self, name: &str) -> Result<Tenant, ApiError> {
        let name = name.to_owned();
        self.write(work!(|tx, now_ms| {
            let tenant = tenants::create(tx, now_ms, &name).await?;
            record(tx, now_ms, &tenant.id, "tenant.create", &tenant.id).await?;
            Ok(tenant)
        }))
        .await
    }

    /// Disables a tenant, or enables it again.
    pub async fn set_tenant_disabled(&self, id: &str, disabled: bool) -> Result<(), ApiError> {
        let id = id.to_owned();
        self.write(work!(|tx, now_ms| {
            tenants::set_disabled(tx, now_ms, &id, disabled).await?;
            record(tx, now_ms, &id, if disabled { "tenant.disable" } else { "tenant.enable" }, &id).await
        }))
        .await
    }

    /// Returns the sites of a tenant, or of all tenants, oldest first.
    pub async fn sites(&self, tenant_id: Option<&str>) -> Result<Vec<Site>, ApiError> {
        sites::list(self.0.db(), tenant_id).await
    }

    /// Returns a site.
    pub async fn site(&self, id: &str) -> Result<Site, ApiError> {
        sites::find(self.0.db(), id).await?.ok_or(ApiError::NotFound("This site"))
    }

    /// Asks a test question of a site as a run of its test questions does. `threshold` is the certainty, in
    /// thousandths, from which on a source is an answer; `None` is that of the site. Nothing is stored.
    pub async fn ask(
        &self,
        site: &Site,
        question: &TestQuestionText,
        threshold: Option<i64>,
    ) -> Result<TestResult, ApiError> {
        let threshold = match threshold {
            None => Threshold::of_site(site),
            Some(thousandths) => Threshold::of_thousandths(thousandths).ok_or_else(|| {
                ApiError::InvalidRequest(format!("Invalid threshold: expected 0 to 1000, got {thousandths}."))
            })?,
        };
        test_questions::ask(&self.0, site, question, threshold).await
    }

    /// Creates a site of a tenant, with these settings.
    pub async fn create_site(
        &self,
        tenant_id: &str,
        name: &str,
        change: SiteChange,
    ) -> Result<Site, ApiError> {
        let (tenant_id, name) = (tenant_id.to_owned(), name.to_owned());
        let key = self.0.0.options.key.clone();
        self.write(work!(|tx, now_ms| {
            let site = sites::create(tx, now_ms, &tenant_id, &name).await?;
            record(tx, now_ms, &tenant_id, "site.create", &site.id).await?;
            sites::change(tx, &key, &site, change).await
        }))
        .await
    }

    /// Changes settings of a site.
    pub async fn change_site(&self, id: &str, change: SiteChange) -> Result<Site, ApiError> {
        let key = self.0.0.options.key.clone();
        self.with_site(id, "site.update", work!(|tx, _, site| sites::change(tx, &key, &site, change).await))
            .await
    }

    /// Switches a site off, or on again.
    pub async fn set_site_disabled(&self, id: &str, disabled: bool) -> Result<(), ApiError> {
        let action = if disabled { "site.disable" } else { "site.enable" };
        self.with_site(
            id,
            action,
            work!(|tx, now_ms, site| sites::set_disabled(tx, now_ms, &site, disabled).await),
        )
        .await
    }

    /// Deletes a site and, little by little, all of its data.
    pub async fn delete_site(&self, id: &str) -> Result<(), ApiError> {
        self.with_site(id, "site.delete", work!(|tx, now_ms, site| sites::delete(tx, now_ms, &site).await))
            .await
    }

    /// Changes something of a site, and records it.
    async fn with_site<T, F>(&self, id: &str, action: &'static str, work: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: for<'tx> FnOnce(&'tx mut Tx, i64, Site) -> BoxFuture<'tx, Result<T, ApiError>> + Send + 'static,
    {
        let id = id.to_owned();
        self.write(work!(|tx, now_ms| {
            let site = sites::load(tx, &id).await?;
            record(tx, now_ms, &site.tenant_id, action, &id).await?;
            work(tx, now_ms, site).await
        }))
        .await
    }

    /// Returns the tokens of a site, newest first.
    pub async fn tokens(&self, site_id: &str) -> Result<Vec<TokenInfo>, ApiError> {
        tokens::list(self.0.db(), &self.site(site_id).await?).await
    }

    /// Creates a token of a site. `expires_ms`: milliseconds since 1970.
    pub async fn create_token(
        &self,
        site_id: &str,
        name: &str,
        expires_ms: Option<i64>,
    ) -> Result<NewToken, ApiError> {
        let name = name.to_owned();
        self.with_site(
            site_id,
            "token.create",
            work!(|tx, now_ms, site| tokens::create(tx, now_ms, &site, &name, expires_ms).await),
        )
        .await
    }

    /// Creates a token, and lets the others of the site expire after `overlap_ms` milliseconds.
    pub async fn rotate_token(
        &self,
        site_id: &str,
        name: &str,
        overlap_ms: i64,
    ) -> Result<NewToken, ApiError> {
        let name = name.to_owned();
        self.with_site(
            site_id,
            "token.rotate",
            work!(|tx, now_ms, site| tokens::rotate(tx, now_ms, &site, &name, overlap_ms).await),
        )
        .await
    }

    /// Revokes a token of a site.
    pub async fn revoke_token(&self, site_id: &str, token_id: &str) -> Result<(), ApiError> {
        let token_id = token_id.to_owned();
        self.with_site(
            site_id,
            "token.revoke",
            work!(|tx, now_ms, site| tokens::revoke(tx, now_ms, &site, &token_id).await),
        )
        .await
    }

    /// Returns the licenses of a tenant, newest first.
    pub async fn licenses(&self, tenant_id: &str) -> Result<Vec<License>, ApiError> {
        licenses::list(self.0.db(), tenant_id).await
    }

    /// Creates a license for a site, or for a new site of a tenant. `expires_ms`: milliseconds since 1970.
    pub async fn create_license(
        &self,
        tenant_id: &str,
        site_id: Option<&str>,
        expires_ms: i64,
    ) -> Result<NewLicense, ApiError> {
        let (tenant_id, site_id) = (tenant_id.to_owned(), site_id.map(str::to_owned));
        self.write(work!(|tx, now_ms| {
            tenants::load(tx, &tenant_id).await?;
            let new = licenses::create(tx, now_ms, &tenant_id, site_id.as_deref(), expires_ms).await?;
            record(tx, now_ms, &tenant_id, "license.create", &new.info.id).await?;
            Ok(new)
        }))
        .await
    }

    /// Revokes a license of a tenant.
    pub async fn revoke_license(&self, tenant_id: &str, id: &str) -> Result<(), ApiError> {
        let (tenant_id, id) = (tenant_id.to_owned(), id.to_owned());
        self.write(work!(|tx, now_ms| {
            licenses::revoke(tx, now_ms, &tenant_id, &id).await?;
            record(tx, now_ms, &tenant_id, "license.revoke", &id).await
        }))
        .await
    }
}
