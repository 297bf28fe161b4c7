//! `site-connector doctor`

mod live;
mod public_origin;

use std::path::{Path, PathBuf};

use chat_connector::printable::Printable;
use chat_connector::tls::{TlsFiles, validity};
use chat_service::ops::{Finding, Level, check_database, check_disk, check_service};
use chat_service::{ServiceKey, check_smtp};
use clap::Args;
use jiff::{Timestamp, ToSpan};
use serde_json::json;

use crate::failure::Failure;
use crate::print::{count, say};
use crate::settings::Settings;
use crate::settings::key;

/// Days before a certificate expires at which it is reported. Renewal usually happens 30 days before.
const EXPIRY_WARNING_DAYS: i64 = 14;

/// Check the set-up of the service: settings, key, database, disk, clock, public origin, TLS, e-mail and AI
///
/// Takes the settings of `serve`, and changes nothing. Prints one line for each check, and exits with 1 if
/// one of them is an error.
#[derive(Debug, Args)]
pub(crate) struct DoctorFlags {
    /// The configuration file of the service
    #[arg(long, env = "SERVICE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
    /// Only ask the running service whether it is ready, for health checks
    #[arg(long)]
    live: bool,
    /// Print the findings as one line of JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(flags: DoctorFlags) -> Result<(), Failure> {
    let settings = flags.settings.or(Settings::read(flags.config.as_deref())?);
    let findings = if flags.live { vec![live::check(&settings).await] } else { findings(&settings).await };
    let items: Vec<_> = findings
        .iter()
        .map(|finding| {
            json!({ "subject": finding.subject, "level": name(finding.level), "text": finding.text })
        })
        .collect();
    say(flags.json, &json!({ "findings": items }), || {
        let lines = findings.iter().map(|finding| {
            let text = Printable(&finding.text).to_string();
            format!("{:<8} {:<14} {text}", name(finding.level), finding.subject)
        });
        lines.collect::<Vec<_>>().join("\n")
    });
    match findings.iter().filter(|finding| finding.level == Level::Error).count() {
        0 => Ok(()),
        errors => Err(Failure::new(format!("{} to repair", count(errors as u64, "error")))),
    }
}

fn name(level: Level) -> &'static str {
    match level {
        Level::Ok => "ok",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}

async fn findings(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (key, finding) = check_key(settings);
    findings.push(finding);
    findings.extend(check_settings(settings));
    let database = settings.database();
    let (found, is_current) = check_database(database).await;
    findings.extend(found);
    if is_current {
        let allows_private_ai = settings.allow_private_targets.unwrap_or_default();
        findings.extend(check_service(database, key.as_ref(), &settings.storage(), allows_private_ai).await);
    }
    if !key::is_postgres(database) {
        findings.push(check_disk(Path::new(database)).await);
    }
    findings.push(check_widget(settings));
    match settings.tls() {
        Ok(Some(files)) => findings.push(check_certificate(&files)),
        Ok(None) => {}
        Err(error) => findings.push(Finding::error("TLS", error.shown())),
    }
    findings.push(public_origin::check(settings).await);
    // A wrong setting is reported above.
    if let Ok(Some(smtp)) = settings.smtp() {
        findings.push(match check_smtp(&smtp).await {
            Ok(()) => Finding::ok("e-mail", format!("{} accepts the connection", smtp.host)),
            Err(error) => Finding::error("e-mail", format!("{} refuses: {error}", smtp.host)),
        });
    }
    findings
}

fn check_key(settings: &Settings) -> (Option<ServiceKey>, Finding) {
    let path = settings.key_file();
    let shown = path.display();
    match key::read(&path) {
        Ok(Some(key)) if key::is_readable_by_others(&path) => {
            let text = format!("other users can read {shown}: run chmod 600 {shown}");
            (Some(key), Finding::warning("key file", text))
        }
        Ok(Some(key)) => (Some(key), Finding::ok("key file", shown.to_string())),
        Ok(None) => {
            let text =
                format!("there is none at {shown} yet: the first start of `site-connector serve` creates it");
            (None, Finding::warning("key file", text))
        }
        Err(error) => (None, Finding::error("key file", error.shown())),
    }
}

/// Checks the settings that only the service itself would refuse.
fn check_settings(settings: &Settings) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Err(error) = settings.trusted_hops() {
        findings.push(Finding::error("settings", error.shown()));
    }
    if let Err(error) = settings.service(ServiceKey::random()) {
        findings.push(Finding::error("settings", error.shown()));
    }
    let is_open = !settings.listen().ip().is_loopback();
    if is_open && settings.tls_certificate.is_none() {
        findings.push(Finding::warning(
            "listen",
            format!(
                "{} serves plain HTTP to other machines: set tls_certificate, or listen on 127.0.0.1 behind a reverse proxy",
                settings.listen()
            ),
        ));
    }
    if findings.is_empty() {
        findings.push(Finding::ok("settings", "valid"));
    }
    findings
}

fn check_widget(settings: &Settings) -> Finding {
    match settings.widget_dir() {
        None => Finding::warning(
            "widget",
            "no folder: pages cannot load /chat-widget/chat-widget.js from the service; set widget_dir",
        ),
        Some(folder) if folder.join("chat-widget.js").is_file() => {
            Finding::ok("widget", folder.display().to_string())
        }
        Some(folder) => Finding::error(
            "widget",
            format!(
                "{} has no chat-widget.js: set widget_dir to the folder of the built widget",
                folder.display()
            ),
        ),
    }
}

fn check_certificate(files: &TlsFiles) -> Finding {
    let shown = files.certificate.display();
    let now = Timestamp::now();
    match validity(&files.certificate) {
        Err(error) => Finding::error("TLS", error.to_string()),
        Ok(None) => Finding::warning("TLS", format!("the validity of {shown} cannot be read")),
        Ok(Some(valid)) if now < valid.not_before => {
            Finding::error("TLS", format!("{shown} is not valid before {}", valid.not_before))
        }
        Ok(Some(valid)) if now > valid.not_after => {
            Finding::error("TLS", format!("{shown} expired at {}: renew it", valid.not_after))
        }
        Ok(Some(valid)) => {
            let soon =
                now.checked_add((EXPIRY_WARNING_DAYS * 24).hours()).is_ok_and(|soon| soon > valid.not_after);
            let text = format!("{shown} is valid until {}", valid.not_after);
            if soon { Finding::warning("TLS", format!("{text}: renew it")) } else { Finding::ok("TLS", text) }
        }
    }
}
