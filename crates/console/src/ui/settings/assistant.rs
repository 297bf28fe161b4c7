//! The assistant of a site: the built-in one, or an AI behind an endpoint; its pause and its quota.

use chat_protocol::admin::settings::{
    AI_PROVIDERS, AiChange, AiOptions, AiProvider, CUSTOM_AI_PROVIDER, Patch, Site, SiteChange,
};
use leptos::prelude::*;

use super::Sites;
use super::answering::AnsweringCard;
use super::hours::HoursCard;
use super::mail_replies::MailRepliesCard;
use super::page::{Card, Head, replace_site};
use crate::api::settings as requests;
use crate::text::settings as t;
use crate::ui::forms::{
    Editing, Form, FormState, SaveBar, SelectField, Switch, TextField, changed, draft, filled,
};

const AI_FIELDS: &[&str] = &[
    "ai.provider",
    "ai.base",
    "ai.model",
    "ai.secondModel",
    "ai.key",
    "ai.contextTokens",
    "ai.timeoutMs",
    "ai",
];
const LIMIT_FIELDS: &[&str] = &["aiPauseMs", "monthlyAiReplies"];
const BUILT_IN: &str = "built-in";
const ENDPOINT: &str = "endpoint";
const DEFAULT_TIMEOUT_S: &str = "30";

draft!(
    /// The endpoint of the AI.
    Ai, AiFields {
        kind: String,
        provider: String,
        base: String,
        model: String,
        second_model: String,
        key: String,
        context_tokens: String,
        timeout_s: String,
    }
);

impl From<&Site> for Ai {
    fn from(site: &Site) -> Self {
        let ai = site.ai.clone();
        let options = ai.as_ref().map(|ai| ai.options.clone()).unwrap_or_default();
        Self {
            kind: if ai.is_some() { ENDPOINT } else { BUILT_IN }.to_owned(),
            timeout_s: ai.as_ref().map_or(DEFAULT_TIMEOUT_S.to_owned(), |ai| seconds(ai.timeout_ms)),
            base: ai.as_ref().map(|ai| ai.base.clone()).unwrap_or_default(),
            provider: options.provider,
            second_model: options.second_model.unwrap_or_default(),
            context_tokens: options.context_tokens.map(|tokens| tokens.to_string()).unwrap_or_default(),
            model: ai.map(|ai| ai.model).unwrap_or_default(),
            // The service never shows it.
            key: String::new(),
        }
    }
}

fn seconds(milliseconds: i64) -> String {
    (milliseconds / 1000).to_string()
}

/// Returns the milliseconds of a number of seconds; an error names the field that has no number.
fn milliseconds(field: &'static str, text: &str) -> Result<i64, &'static str> {
    text.trim().parse::<i64>().ok().and_then(|seconds| seconds.checked_mul(1000)).ok_or(field)
}

impl Ai {
    /// Returns the change that makes the site use these values; an error names the field without a number.
    fn change(&self) -> Result<SiteChange, &'static str> {
        let ai = if self.kind == BUILT_IN {
            Patch::Remove
        } else {
            let context_tokens = filled(&self.context_tokens).map(|tokens| tokens.parse());
            let options = AiOptions {
                provider: self.provider.clone(),
                second_model: filled(&self.second_model),
                context_tokens: context_tokens.transpose().map_err(|_| "ai.contextTokens")?,
            };
            Patch::Set(AiChange {
                options,
                base: self.base.trim().to_owned(),
                model: self.model.trim().to_owned(),
                key: filled(&self.key),
                timeout_ms: Some(milliseconds("ai.timeoutMs", &self.timeout_s)?),
            })
        };
        Ok(SiteChange { ai, ..SiteChange::default() })
    }
}

/// Returns the base address after another provider was chosen: what somebody typed is kept.
fn base_of(provider: AiProvider, base: &str) -> String {
    let is_preset = AI_PROVIDERS.iter().any(|known| known.base == base.trim());
    match (base.trim().is_empty() || is_preset, provider.id) {
        (false, _) => base.to_owned(),
        (true, CUSTOM_AI_PROVIDER) => String::new(),
        (true, _) => provider.base.to_owned(),
    }
}

draft!(
    /// What limits the AI.
    Limits, LimitFields {
        pause_s: String,
        monthly: String,
        refuses: bool,
    }
);

impl From<&Site> for Limits {
    fn from(site: &Site) -> Self {
        Self {
            pause_s: seconds(site.ai_pause_ms),
            monthly: site.monthly_ai_replies.map(|replies| replies.to_string()).unwrap_or_default(),
            refuses: site.quota_refuses,
        }
    }
}

impl Limits {
    fn change(&self, saved: &Self) -> Result<SiteChange, &'static str> {
        let pause = changed(&self.pause_s, &saved.pause_s).map(|text| milliseconds("aiPauseMs", &text));
        let monthly = match changed(&self.monthly, &saved.monthly) {
            None => Patch::Keep,
            Some(text) if text.trim().is_empty() => Patch::Remove,
            Some(text) => Patch::Set(text.trim().parse().map_err(|_| "monthlyAiReplies")?),
        };
        Ok(SiteChange {
            ai_pause_ms: pause.transpose()?,
            monthly_ai_replies: monthly,
            quota_refuses: changed(&self.refuses, &saved.refuses),
            ..SiteChange::default()
        })
    }
}

/// The page about a site's assistant.
#[component]
pub fn AssistantSettings(site: Site) -> impl IntoView {
    view! {
        <Head title=t::SECTION_ASSISTANT.get() lead=t::ASSISTANT_LEAD.get()/>
        <AnsweringCard site=site.clone()/>
        <HoursCard site=site.clone()/>
        <MailRepliesCard site=site.clone()/>
        <EndpointCard site=site.clone()/>
        <LimitCard site/>
    }
}

#[component]
fn EndpointCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let has_key = RwSignal::new(site.ai.as_ref().is_some_and(|ai| ai.has_key));
    let editing = Editing::<AiFields>::new(Ai::from(&site));
    let form = FormState::new(AI_FIELDS, editing.is_dirty());
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let change = match now.change() {
            Ok(change) => change,
            Err(field) => return form.refuse(field, t::NEEDS_NUMBER.get()),
        };
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            has_key.set(site.ai.as_ref().is_some_and(|ai| ai.has_key));
            editing.accept(&now, Ai::from(&site));
            replace_site(sites, &site);
        });
    };
    let fields = editing.fields;
    let kinds = [(BUILT_IN, t::AI_BUILT_IN), (ENDPOINT, t::AI_ENDPOINT)];
    let kinds = kinds.map(|(kind, text)| (kind.to_owned(), text.get().to_owned())).to_vec();
    let mut providers: Vec<_> =
        AI_PROVIDERS.iter().map(|known| (known.id.to_owned(), known.name.to_owned())).collect();
    providers.push((CUSTOM_AI_PROVIDER.to_owned(), t::AI_OTHER.get().to_owned()));
    let provider =
        Memo::new(move |_| fields.provider.with(|id| AiProvider::of(id)).unwrap_or(AiProvider::CUSTOM));
    let chosen = Memo::new(move |_| fields.provider.get());
    Effect::watch(
        move || chosen.get(),
        move |_, before, _| {
            // Resetting the form restores the address by itself.
            if before.is_some() && editing.is_dirty().get_untracked() {
                fields.base.update(|base| *base = base_of(provider.get_untracked(), base));
            }
        },
        false,
    );
    view! {
        <Card title=t::AI_TITLE.get() lead=t::AI_LEAD.get()>
            <Form state=form on_submit=save>
                <SelectField name="ai" label=t::AI_KIND.get() value=fields.kind options=kinds/>
                <Show when=move || fields.kind.with(|kind| kind == ENDPOINT)>
                    <SelectField
                        name="ai.provider"
                        label=t::AI_PROVIDER.get()
                        value=fields.provider
                        options=providers.clone()
                    />
                    <TextField
                        name="ai.base"
                        label=t::AI_BASE.get()
                        help=t::AI_BASE_HELP.get()
                        placeholder="https://ai.example/v1"
                        kind="url"
                        value=fields.base
                        is_code=true
                    />
                    {move || {
                        let example = provider.get().model;
                        view! {
                            <div class="field-row">
                                <TextField
                                    name="ai.model"
                                    label=t::AI_MODEL.get()
                                    placeholder=example
                                    value=fields.model
                                    is_code=true
                                />
                                <TextField
                                    name="ai.secondModel"
                                    label=t::AI_SECOND_MODEL.get()
                                    help=t::AI_SECOND_MODEL_HELP.get()
                                    value=fields.second_model
                                    is_code=true
                                />
                            </div>
                            <div class="field-row">
                                <TextField
                                    name="ai.contextTokens"
                                    label=t::AI_CONTEXT.get()
                                    help=t::AI_CONTEXT_HELP.get()
                                    placeholder=provider.get().context_tokens.to_string()
                                    inputmode="numeric"
                                    value=fields.context_tokens
                                />
                                <TextField
                                    name="ai.timeoutMs"
                                    label=t::AI_TIMEOUT.get()
                                    help=t::AI_TIMEOUT_HELP.get()
                                    inputmode="numeric"
                                    value=fields.timeout_s
                                />
                            </div>
                        }
                    }}
                    {move || {
                        let help = if has_key.get() { t::AI_KEY_STORED } else { t::AI_KEY_HELP };
                        view! {
                            <TextField
                                name="ai.key"
                                label=t::AI_KEY.get()
                                help=help.get()
                                kind="password"
                                autocomplete="new-password"
                                value=fields.key
                                is_code=true
                            />
                        }
                    }}
                </Show>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

#[component]
fn LimitCard(site: Site) -> impl IntoView {
    let sites = expect_context::<Sites>();
    let editing = Editing::<LimitFields>::new(Limits::from(&site));
    let form = FormState::new(LIMIT_FIELDS, editing.is_dirty());
    let id = site.id;
    let save = move || {
        let (now, id) = (editing.now(), id.clone());
        let change = match now.change(&editing.saved()) {
            Ok(change) => change,
            Err(field) => return form.refuse(field, t::NEEDS_NUMBER.get()),
        };
        form.send(async move { requests::change_site(&id, &change).await }, move |site: Site| {
            editing.accept(&now, Limits::from(&site));
            replace_site(sites, &site);
        });
    };
    let fields = editing.fields;
    view! {
        <Card title=t::LIMITS_TITLE.get() lead=t::LIMITS_LEAD.get()>
            <Form state=form on_submit=save>
                <div class="field-row">
                    <TextField
                        name="aiPauseMs"
                        label=t::AI_PAUSE.get()
                        help=t::AI_PAUSE_HELP.get()
                        inputmode="numeric"
                        value=fields.pause_s
                    />
                    <TextField
                        name="monthlyAiReplies"
                        label=t::AI_MONTHLY.get()
                        help=t::AI_MONTHLY_HELP.get()
                        inputmode="numeric"
                        value=fields.monthly
                    />
                </div>
                <Switch label=t::AI_REFUSES.get() help=t::AI_REFUSES_HELP.get() value=fields.refuses/>
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_key_is_kept_unless_a_new_one_is_typed() {
        let ai = Ai {
            kind: ENDPOINT.to_owned(),
            base: "https://ai.example".to_owned(),
            model: "m".to_owned(),
            key: String::new(),
            timeout_s: "20".to_owned(),
            provider: "openai".to_owned(),
            second_model: String::new(),
            context_tokens: String::new(),
        };
        let json = |ai: &Ai| serde_json::to_value(ai.change().expect("valid")).expect("JSON");
        let expected = serde_json::json!({ "base": "https://ai.example", "model": "m", "timeoutMs": 20_000,
            "provider": "openai" });
        assert_eq!(json(&ai)["ai"], expected);
        assert_eq!(json(&Ai { key: "sk".to_owned(), ..ai.clone() })["ai"]["key"], "sk");
        assert_eq!(json(&Ai { kind: BUILT_IN.to_owned(), ..ai.clone() }), serde_json::json!({ "ai": null }));
        let more = Ai { second_model: "n".to_owned(), context_tokens: " 4096 ".to_owned(), ..ai.clone() };
        let more = &json(&more)["ai"];
        assert_eq!((&more["secondModel"], &more["contextTokens"]), (&"n".into(), &4096.into()));
        let wrong = Ai { context_tokens: "many".to_owned(), ..ai.clone() };
        assert_eq!(wrong.change(), Err("ai.contextTokens"));
        assert_eq!(Ai { timeout_s: "soon".to_owned(), ..ai }.change(), Err("ai.timeoutMs"));
    }

    #[test]
    fn a_provider_brings_its_address_unless_somebody_typed_one() {
        let of = |id| AiProvider::of(id).expect("a provider");
        assert_eq!(base_of(of("groq"), ""), of("groq").base);
        assert_eq!(base_of(of("groq"), of("openai").base), of("groq").base);
        assert_eq!(base_of(of("custom"), of("openai").base), "");
        assert_eq!(base_of(of("groq"), "https://gateway.example/v1"), "https://gateway.example/v1");
    }

    #[test]
    fn an_empty_quota_is_none() {
        let saved = Limits { pause_s: "600".to_owned(), monthly: "100".to_owned(), refuses: false };
        let now = Limits { monthly: " ".to_owned(), ..saved.clone() };
        assert_eq!(now.change(&saved).expect("valid").monthly_ai_replies, Patch::Remove);
        let now = Limits { monthly: "many".to_owned(), ..saved.clone() };
        assert_eq!(now.change(&saved), Err("monthlyAiReplies"));
    }
}
