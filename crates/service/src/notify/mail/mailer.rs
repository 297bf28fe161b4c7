//! The client of the SMTP server.

use std::error::Error;
use std::time::Duration;

use lettre::message::header::{Header, HeaderName, HeaderValue};
use lettre::message::{Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message};
use tokio::time::{Instant, timeout, timeout_at};

use super::connection::{ConnectError, Server};
use super::{SmtpOptions, SmtpOptionsError};

/// Maximum e-mails that a node sends at a time, each on a connection of its own.
pub(crate) const MAX_CONNECTIONS: u32 = 4;
/// The timeout for handing over an e-mail.
const SEND_TIMEOUT: Duration = Duration::from_mins(1);
/// The time that a server which has the e-mail gets to say goodbye.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum characters of a subject.
const MAX_SUBJECT_LENGTH: usize = 150;

/// The text of an e-mail.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Composed {
    pub(crate) subject: String,
    pub(crate) text: String,
    /// The same as HTML; `None` sends the text only.
    pub(crate) html: Option<String>,
}

/// An e-mail to a visitor of a site.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VisitorMail {
    /// The left part of the Message-ID, the same at each attempt.
    pub(crate) id: String,
    /// The name of the sender. The address is that of the service.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) composed: Composed,
    /// The ids of earlier e-mails of the conversation, oldest first.
    pub(crate) earlier: Vec<String>,
    /// The address that ends the e-mails by a request with POST (RFC 8058).
    pub(crate) unsubscribe: String,
}

/// An e-mail was not handed over.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum SendError {
    /// The server refuses this e-mail, for example because the recipient does not exist.
    #[error("the SMTP server refused the e-mail: {0}")]
    Refused(String),
    /// The server accepts this e-mail later.
    #[error("the SMTP server postponed the e-mail: {0}")]
    Postponed(String),
    /// The server cannot be reached, or does not accept the service's credentials.
    #[error("the SMTP server cannot be used: {0}")]
    Server(String),
    /// The connection broke after the e-mail was begun, so that the server may have it.
    #[error("the SMTP server has not answered: {0}")]
    Unanswered(String),
}

#[derive(Debug)]
pub(crate) struct Mailer {
    server: Server,
    from: Mailbox,
    reply_to: Option<Mailbox>,
}

impl Mailer {
    pub(crate) fn new(options: &SmtpOptions) -> Result<Self, SmtpOptionsError> {
        let (from, reply_to) = options.mailboxes()?;
        Ok(Self { server: options.server()?, from, reply_to })
    }

    /// Hands an e-mail to the server. `id` is the same at each attempt.
    pub(super) async fn send(&self, id: &str, to: &str, composed: Composed) -> Result<(), SendError> {
        let to: Address = to.parse().map_err(refused)?;
        let message = self.message(id, to, composed).map_err(refused)?;
        self.hand_over(&message).await
    }

    /// Hands an e-mail to a visitor to the server.
    pub(crate) async fn send_to_visitor(&self, mail: VisitorMail) -> Result<(), SendError> {
        let message = self.visitor_message(mail).map_err(refused)?;
        self.hand_over(&message).await
    }

    async fn hand_over(&self, message: &Message) -> Result<(), SendError> {
        let deadline = Instant::now() + SEND_TIMEOUT;
        let connected = timeout_at(deadline, self.server.connect()).await;
        let connected = connected.map_err(|_| SendError::Server(no_answer()))?;
        let mut connection = connected.map_err(|error| classify(&error))?;
        let bytes = message.formatted();
        let sent = connection.send(message.envelope(), &bytes);
        match timeout_at(deadline, sent).await.map(|sent| sent.map_err(ConnectError::Smtp)) {
            Ok(Ok(_)) => {
                // The server has the e-mail, whatever it says now, or if it says nothing.
                let _ = timeout(QUIT_TIMEOUT, connection.quit()).await;
                Ok(())
            }
            Ok(Err(error)) => Err(match classify(&error) {
                SendError::Server(text) if !has_status(&error) => SendError::Unanswered(text),
                error => error,
            }),
            Err(_) => Err(SendError::Unanswered(no_answer())),
        }
    }

    /// Connects to the server, and signs in.
    pub(super) async fn check(&self) -> Result<(), String> {
        let connect = async {
            let mut connection = self.server.connect().await?;
            let _ = connection.quit().await;
            Ok(())
        };
        match timeout(SEND_TIMEOUT, connect).await {
            Ok(result) => result.map_err(|error: ConnectError| with_causes(&error)),
            Err(_) => Err(no_answer()),
        }
    }

    fn message(&self, id: &str, to: Address, composed: Composed) -> Result<Message, lettre::error::Error> {
        let domain = self.from.email.domain();
        let mut message = Message::builder()
            .message_id(Some(format!("<{id}@{domain}>")))
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .subject(one_line(&composed.subject))
            .header(AutoSubmitted);
        if let Some(reply_to) = &self.reply_to {
            message = message.reply_to(reply_to.clone());
        }
        match composed.html {
            Some(html) => message
                .header(ListId(format!("<notifications.{domain}>")))
                .multipart(MultiPart::alternative_plain_html(composed.text, html)),
            None => message.singlepart(SinglePart::plain(composed.text)),
        }
    }

    fn visitor_message(&self, mail: VisitorMail) -> Result<Message, Box<dyn Error>> {
        let VisitorMail { id, from, to, composed, earlier, unsubscribe } = mail;
        let domain = self.from.email.domain();
        let name = Some(one_line(&from)).filter(|name| !name.is_empty()).or_else(|| self.from.name.clone());
        let to: Address = to.parse()?;
        let message_id = |id: &str| format!("<{id}@{domain}>");
        let mut message = Message::builder()
            .message_id(Some(message_id(&id)))
            .from(Mailbox::new(name, self.from.email.clone()))
            .to(Mailbox::new(None, to))
            .subject(one_line(&composed.subject))
            .header(AutoSubmitted);
        if let Some(reply_to) = &self.reply_to {
            message = message.reply_to(reply_to.clone());
        }
        if let Some(last) = earlier.last() {
            message = message.in_reply_to(message_id(last));
            message =
                message.references(earlier.iter().map(|id| message_id(id)).collect::<Vec<_>>().join(" "));
        }
        let html = composed.html.unwrap_or_default();
        let mut message = message.multipart(MultiPart::alternative_plain_html(composed.text, html))?;
        for (name, value) in [
            ("List-Unsubscribe", format!("<{unsubscribe}>")),
            ("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()),
            // Keeps automatic answers away where the server does not know RFC 3834.
            ("Precedence", "bulk".to_owned()),
            ("X-Auto-Response-Suppress", "All".to_owned()),
        ] {
            let name = HeaderName::new_from_ascii(name.to_owned())?;
            message.headers_mut().insert_raw(HeaderValue::dangerous_new_pre_encoded(
                name,
                value.clone(),
                value,
            ));
        }
        Ok(message)
    }
}

fn refused(error: impl std::fmt::Display) -> SendError {
    SendError::Refused(error.to_string())
}

/// Returns whether an error is the server's own answer.
fn has_status(error: &ConnectError) -> bool {
    matches!(error, ConnectError::Smtp(error) if error.status().is_some())
}

fn no_answer() -> String {
    format!("no answer within {} s", SEND_TIMEOUT.as_secs())
}

fn classify(error: &ConnectError) -> SendError {
    let text = with_causes(error);
    let ConnectError::Smtp(error) = error else { return SendError::Server(text) };
    // 530 to 539 concern the service's credentials, not the e-mail.
    let is_about_credentials = error.status().is_some_and(|code| (530..540).contains(&u16::from(code)));
    if error.is_permanent() && !is_about_credentials {
        SendError::Refused(text)
    } else if error.is_transient() {
        SendError::Postponed(text)
    } else {
        SendError::Server(text)
    }
}

/// Returns an error with its chain of causes.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Some errors contain the text of their cause.
        let next = error.to_string();
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// Returns a text for a header: one line of bounded length.
fn one_line(text: &str) -> String {
    let printable = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    printable.take(MAX_SUBJECT_LENGTH).collect::<String>().trim().to_owned()
}

/// Keeps automatic answers, such as those of somebody on holiday, away (RFC 3834).
#[derive(Clone, Copy, Debug)]
struct AutoSubmitted;

impl Header for AutoSubmitted {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Auto-Submitted")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self)
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), "auto-generated".to_owned())
    }
}

/// Names the kind of e-mails, by which recipients can sort them (RFC 2919).
#[derive(Clone, Debug)]
struct ListId(String);

impl Header for ListId {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("List-Id")
    }

    fn parse(text: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self(text.to_owned()))
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::new(Self::name(), self.0.clone())
    }
}
