//! Fault injection: failures of the service on demand, by command-line flag or by `/sandbox/trouble`.

mod injector;

use chat_protocol::{Endpoint, ServerEndpoint};
use serde::{Deserialize, Serialize};

use crate::connector_api::call::Call;
pub(super) use injector::{Fault, FaultInjector};

/// The faults to inject. The default injects none.
///
/// In JSON the names are in camelCase. All are optional; unknown names are refused.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Faults {
    /// The requests that `delay_ms`, `status`, `lose_answers` and `drop_requests` apply to.
    pub only: Target,
    /// Milliseconds to wait before each request is handled.
    pub delay_ms: u64,
    /// The HTTP status to fail with, 400 to 599, before the request is handled.
    pub status: Option<u16>,
    /// The share of requests that fail with `status`, 0 to 1; all if `None`.
    pub rate: Option<f64>,
    /// The number of requests that fail with `status`; unlimited if `None`.
    pub times: Option<u32>,
    /// `error.code` of the failure; the status's own code if `None`.
    pub code: Option<String>,
    /// `Retry-After` of the failure, in seconds.
    pub retry_after: Option<u64>,
    /// Requests that are carried out but whose response is lost: the connection breaks.
    pub lose_answers: Amount,
    /// Requests that are not carried out: the connection breaks.
    pub drop_requests: Amount,
    /// The behaviour of the AI.
    pub ai: Ai,
    /// Milliseconds until a slow AI ([`Ai::Slow`]) answers. The visitor's message is stored at once.
    pub slow_ms: u64,
    /// The text that replaces an answer of the AI when it fails; may be empty.
    pub fallback_text: Option<String>,
    /// Maximum milliseconds that a job is leased for; the lease of the service if `None`.
    pub lease_ms: Option<u64>,
    /// Whether `POST /events` reports that tracking is disabled.
    pub tracking_disabled: bool,
    /// Overrides of the chat's config.
    pub config: ConfigOverrides,
    /// Overrides of presence. Values are not checked.
    pub presence: PresenceOverrides,
    /// The seed of the random numbers behind every share. The same seed gives the same failures.
    pub seed: u64,
}

/// The requests that a fault applies to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Target {
    /// Every request.
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

/// A number of requests. A whole number is a count of the next requests; a fraction is a share of all
/// requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Amount(pub f64);

impl Amount {
    fn is_valid(self) -> bool {
        (0.0..1.0).contains(&self.0) || (self.0 >= 1.0 && self.0.is_finite() && self.0.fract() == 0.0)
    }
}

/// The behaviour of the AI (`aiStatus`, 4.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ai {
    /// Answers at once.
    #[default]
    Ok,
    /// Answers after [`Faults::slow_ms`].
    Slow,
    /// Fails with `provider_error` and a fallback text.
    ProviderError,
    /// Fails with `quota_insufficient` and a fallback text.
    QuotaInsufficient,
    /// Blocks the visitor: `blocked`, without a message.
    Blocked,
}

/// Values that replace those of the config (2.3). `None` changes nothing.
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

/// Values that replace those of presence (2.6). `None` changes nothing.
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
    /// Checks all values. The error names the invalid one.
    pub fn check(&self) -> Result<(), String> {
        if self.status.is_some_and(|status| !(400..=599).contains(&status)) {
            return Err("status must be from 400 to 599".to_owned());
        }
        if self.rate.is_some_and(|rate| !(0.0..=1.0).contains(&rate)) {
            return Err("rate must be from 0 to 1".to_owned());
        }
        for (name, amount) in [("loseAnswers", self.lose_answers), ("dropRequests", self.drop_requests)] {
            if !amount.is_valid() {
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
    fn names_the_invalid_value() {
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
