//! A change that an operator makes to a site.

use chat_protocol::Value;

use super::Right;
use super::actor::Actor;
use crate::Service;
use crate::db::Tx;
use crate::error::ApiError;
use crate::sites;

/// A change of a site by an operator who may make it.
#[derive(Clone, Debug)]
pub(crate) struct SiteChange {
    actor: Actor,
    pub(crate) site_id: String,
    action: &'static str,
    pub(crate) now_ms: i64,
}

impl SiteChange {
    /// Returns a change, unless the operator may not manage sites, or the tenant has no such site.
    pub(crate) async fn new(
        service: &Service,
        actor: Actor,
        site: &str,
        action: &'static str,
    ) -> Result<Self, ApiError> {
        actor.operator.may(Right::ManageSites)?;
        let site_id = sites::of_tenant(service.db(), &actor.operator.tenant_id, site).await?.settings.id;
        Ok(Self { actor, site_id, action, now_ms: service.now_ms() })
    }

    /// Records the change of something of the site in the audit log, by its id alone.
    pub(crate) async fn record(&self, tx: &mut Tx, id: &str) -> Result<(), ApiError> {
        let detail = Value::object([("site", self.site_id.as_str().into())]);
        Ok(self.actor.record_with(tx, self.now_ms, self.action, id, &detail).await?)
    }
}
