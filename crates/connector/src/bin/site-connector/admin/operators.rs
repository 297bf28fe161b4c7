//! `site-connector admin operator` and `owner-link`

use chat_service::{
    OneTimeLink, OperatorSummary, list_operators, reset_operator_password, set_operator_disabled,
};
use clap::Subcommand;
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
        /// The e-mail address
        email: String,
    },
    /// Enable a disabled operator
    Enable {
        /// The e-mail address
        email: String,
    },
    /// Print a one-time link that sets a new password
    ResetPassword {
        /// The e-mail address
        email: String,
        /// Remove the second factor as well
        #[arg(long)]
        remove_totp: bool,
    },
}

pub(super) async fn run(context: &Context, action: Action) -> Result<Output, Failure> {
    let service = &context.service;
    Ok(match action {
        Action::List { tenant } => {
            let operators = list_operators(service, tenant.as_deref()).await?;
            let json: Vec<_> = operators.iter().map(described).collect();
            Output::lines("operators", &json, operators.iter().map(line))
        }
        Action::Disable { email } => one(&set_operator_disabled(service, &email, true).await?),
        Action::Enable { email } => one(&set_operator_disabled(service, &email, false).await?),
        Action::ResetPassword { email, remove_totp } => {
            link(context, &reset_operator_password(service, &email, remove_totp).await?)
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
    })
}

fn line(operator: &OperatorSummary) -> String {
    let state = match (operator.disabled, operator.totp) {
        (true, _) => "disabled",
        (false, true) => "second factor",
        (false, false) => "",
    };
    let columns = [column(&operator.email, 30), column(&operator.name, 20), column(&operator.role, 6)];
    format!("{}{state}", columns.concat()).trim_end().to_owned()
}
