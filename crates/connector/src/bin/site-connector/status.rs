//! `site-connector status`

use chat_connector::printable::Printable;
use chat_protocol::Value;
use clap::Args;

use crate::failure::Failure;
use crate::print::say;
use crate::service::ServiceFlags;

#[derive(Debug, Args)]
pub(crate) struct StatusFlags {
    #[command(flatten)]
    service: ServiceFlags,
    /// Print the whole status as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: StatusFlags) -> Result<(), Failure> {
    let status = flags.service.client()?.get_site_status().await?;
    let value = Value::from(&status);
    say(flags.json, &value, || match &value {
        Value::Object(members) => {
            let line = |(name, value): &(String, Value)| {
                let text = match value {
                    Value::Text(text) => Printable(text).to_string(),
                    other => Printable(&other.to_string()).to_string(),
                };
                format!("{:<18}{text}", Printable(name).to_string())
            };
            members.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    });
    Ok(())
}
