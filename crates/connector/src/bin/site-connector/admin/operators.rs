//! `site-connector admin operator` and `owner-link`

use chat_service::{
    OneTimeLink, OperatorSummary, confirm_operator, list_operators, reset_operator_password,
    set_operator_disabled,
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use super::{Context, Output, column, minute};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(super) enum Action {
    /// List the operators
    List {
        /// Only the operators of this tenant
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
    },
    /// Disable an operator, and end their sessions
    Disable {
        #[command(flatten)]
        operator: Named,
    },
    /// Enable a disabled operator
    Enable {
        #[command(flatten)]
        operator: Named,
    },
    /// Print a one-time link that sets a new password and confirms the address, as one in an e-mail does
    Confirm {
        #[command(flatten)]
        operator: Named,
    },
    /// Print a one-time link that sets a new password
    ResetPassword {
        #[command(flatten)]
        operator: Named,
        /// Remove the second factor as well
        #[arg(long)]
        remove_totp: bool,
    },
}

/// The name of an operator.
#[derive(Debug, Args)]
pub(super) struct Named {
    /// The e-mail address
    email: String,
    /// The tenant, where the address has operators in several
    #[arg(long, value_name = "ID")]
    tenant: Option<String>,
}

pub(super) async fn run(context: &Context, action: Action) -> Result<Output, Failure> {
    let service = &context.service;
    Ok(match action {
        Action::List { tenant } => {
            let operators = list_operators(service, tenant.as_deref()).await?;
            let json: Vec<_> = operators.iter().map(described).collect();
            Output::lines("operators", &json, operators.iter().map(line))
        }
        Action::Disable { operator: Named { email, tenant } } => {
            one(&set_operator_disabled(service, &email, tenant.as_deref(), true).await?)
        }
        Action::Enable { operator: Named { email, tenant } } => {
            one(&set_operator_disabled(service, &email, tenant.as_deref(), false).await?)
        }
        Action::Confirm { operator: Named { email, tenant } } => {
            link(context, &confirm_operator(service, &email, tenant.as_deref()).await?)
        }
        Action::ResetPassword { operator: Named { email, tenant }, remove_totp } => {
            link(context, &reset_operator_password(service, &email, tenant.as_deref(), remove_totp).await?)
        }
    })
}

pub(super) async fn owner_link(context: &Context, tenant: Option<String>) -> Result<Output, Failure> {
    let tenant = context.tenant(tenant).await?;
    Ok(link(context, &chat_service::owner_link(&context.service, &tenant).await?))
}

fn link(context: &Context, link: &OneTimeLink) -> Output {
    let url = context.link(&link.url);
    let note = format!("The link can be used once, until {} (UTC).", minute(Some(&link.expires_at)));
    Output::secret(&url, json!({ "link": url, "expiresAt": link.expires_at }), note)
}

fn one(operator: &OperatorSummary) -> Output {
    Output::new("operator", &described(operator), line(operator))
}

fn described(operator: &OperatorSummary) -> Value {
    json!({
        "id": operator.id,
        "tenantId": operator.tenant_id,
        "email": operator.email,
        "name": operator.name,
        "role": operator.role,
        "totp": operator.totp,
        "disabled": operator.disabled,
        "confirmed": operator.confirmed,
    })
}

fn line(operator: &OperatorSummary) -> String {
    let states = [
        (operator.disabled, "disabled"),
        (operator.confirmed, "confirmed"),
        (operator.totp, "second factor"),
    ];
    let states: Vec<&str> = states.into_iter().filter_map(|(is_so, state)| is_so.then_some(state)).collect();
    let columns = [column(&operator.email, 30), column(&operator.name, 20), column(&operator.role, 6)];
    format!("{}{}", columns.concat(), states.join(", ")).trim_end().to_owned()
}
