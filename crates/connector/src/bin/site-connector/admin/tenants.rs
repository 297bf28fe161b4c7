//! `site-connector admin tenant`

use chat_service::Tenant;
use clap::Subcommand;

use super::{Context, Output, column};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// Create a tenant
    Create {
        /// The company's name
        #[arg(long)]
        name: String,
    },
    /// List all tenants
    List,
    /// Disable a tenant: nobody of it can sign in, and no token of its sites is valid
    Disable {
        /// The tenant's id
        id: String,
    },
    /// Enable a disabled tenant
    Enable {
        /// The tenant's id
        id: String,
    },
}

pub(super) async fn run(context: &Context, action: Action) -> Result<Output, Failure> {
    let admin = &context.admin;
    Ok(match action {
        Action::Create { name } => one(&admin.create_tenant(&name).await?),
        Action::List => Output::list("tenants", &admin.tenants().await?, line),
        Action::Disable { id } => set_disabled(context, &id, true).await?,
        Action::Enable { id } => set_disabled(context, &id, false).await?,
    })
}

async fn set_disabled(context: &Context, id: &str, disabled: bool) -> Result<Output, Failure> {
    context.admin.set_tenant_disabled(id, disabled).await?;
    let tenants = context.admin.tenants().await?;
    let tenant = tenants.iter().find(|tenant| tenant.id == id);
    tenant.map(one).ok_or_else(|| Failure::new("the tenant was deleted meanwhile"))
}

fn one(tenant: &Tenant) -> Output {
    Output::new("tenant", tenant, line(tenant))
}

fn line(tenant: &Tenant) -> String {
    let state = if tenant.disabled { "disabled" } else { "" };
    format!("{}{}{state}", column(&tenant.id, 39), column(&tenant.name, 30)).trim_end().to_owned()
}
