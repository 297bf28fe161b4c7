//! The settings of e-mail.

use std::time::Duration;

use chat_service::{SmtpOptions, SmtpTls};

use super::origin::host_of;
use super::{Settings, SmtpMode};
use crate::failure::Failure;
use crate::service::secret;

/// The variable of the SMTP password, for a machine without a file for it.
const PASSWORD: &str = "SERVICE_SMTP_PASSWORD";

impl Settings {
    /// Returns the settings of the SMTP server; `None` where no e-mails are sent.
    pub(crate) fn smtp(&self) -> Result<Option<SmtpOptions>, Failure> {
        let Some(host) = &self.smtp_host else {
            return match (&self.mail_from, &self.smtp_user) {
                (None, None) => Ok(None),
                _ => Err(Failure::usage(
                    "no SMTP server: set smtp_host as well, or remove mail_from and smtp_user",
                )),
            };
        };
        let from = self.mail_from.as_ref().ok_or_else(|| {
            Failure::usage("no sender of e-mails: set mail_from, such as \"Chat <chat@chat.example>\"")
        })?;
        let defaults = SmtpOptions::new(host, from);
        let (tls, port) = match self.smtp_tls {
            None | Some(SmtpMode::Starttls) => (SmtpTls::StartTls, 587),
            Some(SmtpMode::Tls) => (SmtpTls::Tls, 465),
            Some(SmtpMode::None) => (SmtpTls::None, 25),
        };
        let password = match &self.smtp_user {
            Some(_) => secret(self.smtp_password_file.as_deref(), PASSWORD)?,
            None => None,
        };
        let options = SmtpOptions {
            port: self.smtp_port.map_or(port, std::num::NonZeroU16::get),
            tls,
            hello: self.smtp_hello(),
            user: self.smtp_user.clone(),
            password,
            reply_to: self.mail_reply_to.clone(),
            excerpts: self.mail_excerpts.unwrap_or(defaults.excerpts),
            unanswered_after: self.mail_unanswered.map_or(defaults.unanswered_after, |minutes| {
                Duration::from_secs(u64::from(minutes.get()) * 60)
            }),
            ..defaults
        };
        options.validate().map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Some(options))
    }

    /// Returns the name by which the service introduces itself: by default, the host of its public origin.
    fn smtp_hello(&self) -> Option<String> {
        self.smtp_hello.clone().or_else(|| {
            let host = host_of(self.public_origin.as_deref()?)?;
            SmtpOptions::is_hello(host).then(|| host.to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            smtp_host: Some("smtp.example".to_owned()),
            mail_from: Some("Chat <chat@chat.example>".to_owned()),
            ..Settings::default()
        }
    }

    #[test]
    fn the_port_follows_the_encryption() {
        let port = |smtp_tls| {
            let settings = Settings { smtp_tls, smtp_host: Some("localhost".to_owned()), ..settings() };
            settings.smtp().expect("valid").expect("e-mails").port
        };
        assert_eq!(port(None), 587);
        assert_eq!(port(Some(SmtpMode::Tls)), 465);
        assert_eq!(port(Some(SmtpMode::None)), 25);
        let own = Settings { smtp_port: std::num::NonZeroU16::new(2525), ..settings() };
        assert_eq!(own.smtp().expect("valid").expect("e-mails").port, 2525);
    }

    #[test]
    fn the_service_introduces_itself_by_the_host_of_its_origin_or_by_the_name_that_is_set() {
        let hello = |name: Option<&str>, origin: Option<&str>| {
            let [smtp_hello, public_origin] = [name, origin].map(|text| text.map(str::to_owned));
            let settings = Settings { public_origin, smtp_hello, ..settings() };
            settings.smtp().map(|options| options.expect("e-mails").hello)
        };
        for (name, origin, expected) in [
            (None, Some("https://chat.example:8443"), Some("chat.example")),
            (None, Some("http://192.0.2.1:8090"), Some("192.0.2.1")),
            (None, Some("https://[2001:db8::1]:443"), Some("[2001:db8::1]")),
            (None, Some("https://my_chat.example"), None),
            (None, None, None),
            (Some("mail.example"), Some("https://chat.example"), Some("mail.example")),
        ] {
            assert_eq!(hello(name, origin).expect("valid").as_deref(), expected, "{origin:?}");
        }
        for name in ["", "a b", "-a.example", "a..example", "name\r\nMAIL FROM:<x>", "[1.2.3"] {
            assert!(hello(Some(name), None).expect_err("refused").shown().contains("hello"), "{name}");
        }
    }

    #[test]
    fn an_incomplete_or_unsafe_set_up_is_refused_by_name() {
        assert!(Settings::default().smtp().expect("valid").is_none());
        let error = |settings: Settings| settings.smtp().expect_err("refused").shown();
        assert!(error(Settings { smtp_host: None, ..settings() }).contains("smtp_host"));
        assert!(error(Settings { mail_from: None, ..settings() }).contains("mail_from"));
        assert!(error(Settings { mail_from: Some("nobody".to_owned()), ..settings() }).contains("sender"));
        assert!(error(Settings { smtp_tls: Some(SmtpMode::None), ..settings() }).contains("TLS"));
        let missing = Some("missing-file".into());
        let user = Some("user".to_owned());
        assert!(
            error(Settings { smtp_user: user, smtp_password_file: missing, ..settings() })
                .contains("missing-file")
        );
    }
}
