//! The tenant and the site that the sandbox stands for: there is one of each.

pub(crate) const TENANT_ID: &str = "tenant_demo";
pub(crate) const SITE_ID: &str = "site_kiln_and_clover";
