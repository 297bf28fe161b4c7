//! Trouble on demand: what a service does to its clients on a bad day, switched on by flag or by `/sandbox/trouble`.

mod injector;

use chat_protocol::{Endpoint, ServerEndpoint};
use serde::{Deserialize, Serialize};

use crate::call::Call;
pub(crate) use injector::{Fault, FaultInjector};

/// What goes wrong. The default is that nothing does.
///
/// In JSON the names are in camelCase, all of them may be left out, and a name that is not known is refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Faults {
    /// The requests that `delay_ms`, `status`, `lose_answers` and `drop_requests` are about.
    pub only: Target,
    /// Milliseconds to wait before anything else.
    pub delay_ms: u64,
    /// Fail with this HTTP status, 400 to 599, before the request is looked at.
    pub status: Option<u16>,
    /// The share of requests to fail with `status`, 0 to 1; all of them when it is not said.
    pub rate: Option<f64>,
    /// Fail only so many requests more with `status`.
    pub times: Option<u32>,
    /// `error.code` of the failure, in place of the one that goes with the status.
    pub code: Option<String>,
    /// `Retry-After` of the failure, in seconds.
    pub retry_after: Option<u64>,
    /// Requests that are carried out, but whose answer is lost: the connection breaks.
    pub lose_answers: Amount,
    /// Requests that are not carried out: the connection breaks.
    pub drop_requests: Amount,
    /// How the AI fares.
    pub ai: Ai,
    /// With [`Ai::Slow`], milliseconds until it answers; the visitor's message is kept at once.
    pub slow_ms: u64,
    /// What is said in place of an answer when the AI is out of order; may be empty.
    pub fallback_text: Option<String>,
    /// Milliseconds that a claimed job is leased for, in place of a minute.
    pub lease_ms: Option<u64>,
    /// Whether `POST /events` says that it wants no more of them.
    pub tracking_disabled: bool,
    /// Changes to the chat's config.
    pub config: ConfigOverrides,
    /// Changes to the answers about presence, however little sense they make.
    pub presence: PresenceOverrides,
    /// Where the random numbers behind every share begin: the same seed, the same failures.
    pub seed: u64,
}

/// Which requests a switch is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// Every one.
    #[default]
    All,
    /// `GET /chat/config`.
    Config,
    /// `POST /chat/messages`.
    Send,
    /// `GET /chat/messages`.
    Messages,
    /// `GET /chat/presence`.
    Presence,
    /// `POST /events`.
    Events,
    /// `POST /auth/activate`.
    Activate,
    /// `GET /site/status`.
    Status,
    /// `POST /content/sync`.
    Sync,
    /// `GET /seo/overlays`.
    Overlays,
    /// `POST /site/jobs/next`.
    Claim,
    /// `POST /site/jobs/{id}/complete`.
    Complete,
}

impl Target {
    pub(crate) fn covers(self, call: Call) -> bool {
        let only = match self {
            Self::All => return true,
            Self::Config => Call::Chat(Endpoint::Config),
            Self::Send => Call::Chat(Endpoint::Send),
            Self::Messages => Call::Chat(Endpoint::Messages),
            Self::Presence => Call::Chat(Endpoint::Presence),
            Self::Events => Call::Chat(Endpoint::Events),
            Self::Activate => Call::Server(ServerEndpoint::Activate),
            Self::Status => Call::Server(ServerEndpoint::SiteStatus),
            Self::Sync => Call::Server(ServerEndpoint::SyncContent),
            Self::Overlays => Call::Server(ServerEndpoint::Overlays),
            Self::Claim => Call::Server(ServerEndpoint::ClaimJob),
            Self::Complete => Call::Server(ServerEndpoint::CompleteJob),
        };
        only == call
    }
}

/// How many requests: a whole number is the next so many, and counts down; a fraction is the share of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub f64);

impl Amount {
    fn makes_sense(self) -> bool {
        (0.0..1.0).contains(&self.0) || (self.0 >= 1.0 && self.0.is_finite() && self.0.fract() == 0.0)
    }
}

/// How the AI fares (`aiStatus`, 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ai {
    /// It answers at once.
    #[default]
    Ok,
    /// It answers after [`Faults::slow_ms`].
    Slow,
    /// It is out of order: `provider_error`, with a fallback text.
    ProviderError,
    /// The site's quota is used up: `quota_insufficient`, with a fallback text.
    QuotaInsufficient,
    /// It does not answer this visitor: `blocked`, without a message.
    Blocked,
}

/// What to say in place of the config's own values (2.3). A member that is null or missing changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConfigOverrides {
    /// `config.enabled`.
    pub enabled: Option<bool>,
    /// `config.widgetEnabled`.
    pub widget_enabled: Option<bool>,
    /// `stale`.
    pub stale: Option<bool>,
    /// `config.assistantName`.
    pub assistant_name: Option<String>,
    /// `config.welcomeMessage`.
    pub welcome_message: Option<String>,
    /// `config.avatarUrl`.
    pub avatar_url: Option<String>,
    /// `locale`.
    pub locale: Option<String>,
}

/// What to say in place of the presence's own values (2.6). A member that is null or missing changes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PresenceOverrides {
    /// `shouldPollMessages`.
    pub should_poll_messages: Option<bool>,
    /// `suggestedPresenceIntervalMs`.
    pub suggested_presence_interval_ms: Option<i64>,
    /// `suggestedMessageIntervalMs`.
    pub suggested_message_interval_ms: Option<i64>,
}

impl Faults {
    /// Says which value makes no sense, if one does not.
    pub fn check(&self) -> Result<(), String> {
        if self.status.is_some_and(|status| !(400..=599).contains(&status)) {
            return Err("status must be from 400 to 599".to_owned());
        }
        if self.rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
            return Err("rate must be from 0 to 1".to_owned());
        }
        for (name, amount) in [("loseAnswers", self.lose_answers), ("dropRequests", self.drop_requests)] {
            if !amount.makes_sense() {
                return Err(format!("{name} must be a whole number, or a share between 0 and 1"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_makes_no_sense_is_named() {
        let named = |faults: Faults| faults.check().expect_err("makes no sense");
        assert!(named(Faults { status: Some(200), ..Faults::default() }).contains("status"));
        assert!(named(Faults { rate: Some(1.5), ..Faults::default() }).contains("rate"));
        assert!(named(Faults { lose_answers: Amount(1.5), ..Faults::default() }).contains("loseAnswers"));
        assert!(
            named(Faults { drop_requests: Amount(f64::NAN), ..Faults::default() }).contains("dropRequests")
        );
        assert_eq!(Faults::default().check(), Ok(()));
    }
}
