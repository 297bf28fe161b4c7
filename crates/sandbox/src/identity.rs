//! The sandbox's only tenant and site.

pub(crate) const TENANT_ID: &str = "tenant_demo";
pub(crate) const SITE_ID: &str = "site_kiln_and_clover";
