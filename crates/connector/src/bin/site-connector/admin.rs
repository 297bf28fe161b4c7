//! `site-connector admin`

mod licenses;
mod operators;
mod sites;
mod tenants;
mod tokens;

use std::io::{self, Write};
use std::time::Duration;

use chat_connector::printable::{Printable, printable_lines};
use chat_service::{ApiError, CommandError, Directory, Service};
use clap::{Args, Subcommand};
use jiff::Timestamp;
use serde::Serialize;

use crate::failure::Failure;
use crate::print::say;
use crate::settings::key;
use crate::settings::origin::local_origin;
use crate::settings::{DataFlags, Settings};

/// Manage tenants, sites, tokens, licenses and operators, also while the service runs
///
/// Uses the database and the key of `serve`: set them by the same --config, or by the flags below.
#[derive(Debug, Args)]
pub(crate) struct AdminFlags {
    #[command(flatten)]
    data: DataFlags,
    /// Print the result as one line of JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// The companies that use the service
    #[command(subcommand)]
    Tenant(tenants::Action),
    /// The sites of a tenant
    #[command(subcommand)]
    Site(sites::Action),
    /// The tokens of a site's server
    #[command(subcommand)]
    Token(tokens::Action),
    /// License codes, which a site's server exchanges for a token
    #[command(subcommand)]
    License(licenses::Action),
    /// Print a one-time link that creates an owner
    OwnerLink {
        /// The tenant; can be omitted if there is one only
        #[arg(long, value_name = "ID")]
        tenant: Option<String>,
    },
    /// The people who sign in
    #[command(subcommand)]
    Operator(operators::Action),
}

/// The output of a command.
struct Output {
    json: serde_json::Value,
    text: String,
    /// A hint, printed to stderr so that stdout contains only the secret.
    note: Option<String>,
}

/// The opened service, and how its output is made.
pub(crate) struct Context {
    pub(crate) service: Service,
    pub(crate) admin: Directory,
    /// The origin that links and script tags begin with.
    origin: String,
}

pub(crate) async fn run(flags: AdminFlags) -> Result<(), Failure> {
    let settings = flags.data.settings()?;
    let context = open(&settings).await?;
    let outcome = match flags.subject {
        Subject::Tenant(action) => tenants::run(&context, action).await,
        Subject::Site(action) => sites::run(&context, action).await,
        Subject::Token(action) => tokens::run(&context, action).await,
        Subject::License(action) => licenses::run(&context, action).await,
        Subject::OwnerLink { tenant } => operators::owner_link(&context, tenant).await,
        Subject::Operator(action) => operators::run(&context, action).await,
    };
    context.service.close().await;
    let output = outcome?;
    say(flags.json, &output.json, || output.text);
    if let Some(note) = output.note
        && !flags.json
    {
        let _ = writeln!(io::stderr(), "{}", printable_lines(&note));
    }
    Ok(())
}

/// Opens the data with the key of the service. A command creates neither.
pub(crate) async fn open(settings: &Settings) -> Result<Context, Failure> {
    let path = settings.key_file();
    let key = key::read(&path)?.ok_or_else(|| {
        Failure::new(format!(
            "there is no key file {}: start `site-connector serve` once, or name another with --key-file",
            path.display()
        ))
    })?;
    let options = settings.service(key)?;
    let origin = options
        .public_origin
        .clone()
        .unwrap_or_else(|| local_origin(settings.listen(), settings.tls_certificate.is_some()));
    let opened = Service::open_beside(options).await;
    let service = opened.map_err(|error| {
        let failure = if error.is_transient() { Failure::transient } else { Failure::new };
        failure(error.to_string())
    })?;
    Ok(Context { admin: service.directory(), service, origin })
}

impl Context {
    /// Returns the named tenant, or the only one.
    async fn tenant(&self, named: Option<String>) -> Result<String, Failure> {
        if let Some(id) = named {
            return Ok(id);
        }
        match self.admin.tenants().await?.as_slice() {
            [tenant] => Ok(tenant.id.clone()),
            [] => Err(Failure::new("there is no tenant: create one with `admin tenant create`")),
            _ => Err(Failure::usage("there are several tenants: name one with --tenant")),
        }
    }

    /// Completes a link of a service without a public origin.
    fn link(&self, url: &str) -> String {
        if url.starts_with('/') { format!("{}{url}", self.origin) } else { url.to_owned() }
    }
}

impl From<ApiError> for Failure {
    fn from(error: ApiError) -> Self {
        match error {
            ApiError::Unavailable => Self::transient(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

impl From<CommandError> for Failure {
    fn from(error: CommandError) -> Self {
        Self::new(error.to_string())
    }
}

/// Returns the time after a duration, in milliseconds since 1970.
fn after(duration: Duration) -> i64 {
    Timestamp::now().as_millisecond().saturating_add(millis(duration))
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Output {
    /// Returns an output whose JSON has one member.
    fn new(name: &str, value: &impl Serialize, text: impl Into<String>) -> Self {
        let value = serde_json::to_value(value).unwrap_or_default();
        Self { json: serde_json::json!({ name: value }), text: text.into(), note: None }
    }

    /// Returns a new secret, which is shown this once.
    fn secret(secret: &str, json: serde_json::Value, note: String) -> Self {
        Self { json, text: secret.to_owned(), note: Some(note) }
    }

    /// Returns a list, one line for each item.
    fn list<T: Serialize>(name: &str, items: &[T], line: impl Fn(&T) -> String) -> Self {
        Self::lines(name, &items, items.iter().map(line))
    }

    fn lines(name: &str, json: &impl Serialize, lines: impl Iterator<Item = String>) -> Self {
        let text = lines.collect::<Vec<_>>().join("\n");
        Self::new(name, json, if text.is_empty() { "There are none.".to_owned() } else { text })
    }
}

/// Formats a column of a list. Control characters are escaped.
fn column(text: &str, width: usize) -> String {
    format!("{:<width$}  ", Printable(text).to_string())
}

/// Formats a time of a list, to the minute.
fn minute(time: Option<&str>) -> &str {
    time.and_then(|time| time.get(..16)).unwrap_or("-")
}

/// Parses a duration: a number and s, m, h or d, such as 7d.
fn duration(text: &str) -> Result<Duration, String> {
    let expected = || format!("invalid duration: expected a number and s, m, h or d, such as 7d, got {text}");
    let unit = text.chars().next_back().ok_or_else(expected)?;
    let seconds: u64 = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(expected()),
    };
    let number: u64 = text[..text.len() - unit.len_utf8()].parse().map_err(|_| expected())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_has_a_number_and_a_unit() {
        let seconds = |text| duration(text).map(|duration| duration.as_secs());
        assert_eq!(seconds("90s"), Ok(90));
        assert_eq!(seconds("5m"), Ok(300));
        assert_eq!(seconds("24h"), seconds("1d"));
        for text in
            ["", "7", "d", "-1d", "1.5h", "1w", "1\u{e9}", "99999999999999999999d", "18446744073709551615d"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
