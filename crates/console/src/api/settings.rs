//! The endpoints that the settings use.

use chat_protocol::admin::settings::{
    Answer, AnswerChange, AnswerPage, AnswerText, AskedAnswer, AuditPage, ContentPage, Delivery,
    DeliveryPage, DeliveryShown, EmailChoice, EmailPreferences, InvitationRequest, Invitations,
    KnowledgeQuestion, License, LicenseRequest, NewInvitation, NewLicense, NewSite, NewSource, NewToken,
    NewVisitorSecret, NewWebhook, OneTimeLink, OperatorAccount, OperatorChange, OperatorChanged, Operators,
    ProxyCheck, ProxyChecked, Quota, Rotation, Sessions, Site, SiteChange, SourceChange, SourceShown,
    Sources, TestQuestionText, TestQuestions, Token, TokenRequest, VisitorSecretRotation, Webhook,
    WebhookChange, WebhookSecret, WebhookShown, Webhooks,
};
use chat_protocol::admin::{CannedReply, CannedReplyText, Empty, Label, LabelChange, UnansweredQuestions};

use super::{ApiError, BASE, delete, get, patch, post, put};
use crate::browser::window;
use crate::location::{Query, encode};

/// Returns a link with the console's origin. Without a public origin, the service knows the path alone.
fn with_origin(mut link: String) -> String {
    if link.starts_with('/')
        && let Ok(origin) = window().location().origin()
    {
        link.insert_str(0, &origin);
    }
    link
}

/// Returns the path of a site's resource.
fn of_site(site: &str, rest: &str) -> String {
    ["sites/", &encode(site), rest].concat()
}

/// Returns the sites with their settings, oldest first.
pub async fn sites() -> Result<Vec<Site>, ApiError> {
    get("sites").await
}

/// Creates a site. The origin of its website's address, if there is one, becomes an allowed origin.
pub async fn create_site(name: &str, address: Option<String>) -> Result<Site, ApiError> {
    post("sites", &NewSite { name: name.to_owned(), address, settings: SiteChange::default() }).await
}

/// Changes settings of a site.
pub async fn change_site(site: &str, change: &SiteChange) -> Result<Site, ApiError> {
    patch(&of_site(site, ""), change).await
}

/// Switches a site off, or on again.
pub async fn set_site_disabled(site: &str, disabled: bool) -> Result<Empty, ApiError> {
    post(&of_site(site, if disabled { "/disable" } else { "/enable" }), &Empty {}).await
}

/// Deletes a site with all of its data.
pub async fn delete_site(site: &str) -> Result<Empty, ApiError> {
    delete(&of_site(site, "")).await
}

/// Checks a page of a site, and its proxy.
pub async fn check_proxy(site: &str, check: &ProxyCheck) -> Result<Vec<ProxyChecked>, ApiError> {
    post(&of_site(site, "/check-proxy"), check).await
}

/// Returns the AI replies of the month.
pub async fn quota() -> Result<Quota, ApiError> {
    get("quota").await
}

/// Returns a page of a site's questions and answers that contain a text.
pub async fn answers(site: &str, text: &str, before: Option<i64>) -> Result<AnswerPage, ApiError> {
    let before = before.map(|number| number.to_string());
    let text = Some(text).filter(|text| !text.trim().is_empty());
    let query = Query::default().with("q", text).with("before", before.as_deref());
    get(&of_site(site, &format!("/answers{query}"))).await
}

/// Returns a page of the messages of a site's visitors that the AI could not answer.
pub async fn unanswered(site: &str, before: Option<i64>) -> Result<UnansweredQuestions, ApiError> {
    let before = before.map(|number| number.to_string());
    let query = Query::default().with("site", Some(site)).with("before", before.as_deref());
    get(&format!("questions/unanswered{query}")).await
}

/// Adds an answer, or replaces the one with an id.
pub async fn save_answer(site: &str, id: Option<&str>, text: &AnswerText) -> Result<Answer, ApiError> {
    let changed: AnswerChange = match id {
        Some(id) => put(&of_site(site, &format!("/answers/{}", encode(id))), text).await?,
        None => post(&of_site(site, "/answers"), text).await?,
    };
    Ok(changed.answer)
}

/// Deletes an answer.
pub async fn delete_answer(site: &str, id: &str) -> Result<Empty, ApiError> {
    delete(&of_site(site, &format!("/answers/{}", encode(id)))).await
}

/// Returns a page of a site's synced content, or of that of a source.
pub async fn content(site: &str, source: &str, after: Option<&str>) -> Result<ContentPage, ApiError> {
    let source = Some(source).filter(|source| !source.is_empty());
    let query = Query::default().with("source", source).with("after", after);
    get(&of_site(site, &format!("/content{query}"))).await
}

/// Returns the websites that are read for a site.
pub async fn sources(site: &str) -> Result<Sources, ApiError> {
    get(&of_site(site, "/sources")).await
}

/// Adds a website.
pub async fn add_source(site: &str, new: &NewSource) -> Result<SourceShown, ApiError> {
    post(&of_site(site, "/sources"), new).await
}

/// Changes how a website is read.
pub async fn change_source(site: &str, source: &str, change: &SourceChange) -> Result<SourceShown, ApiError> {
    patch(&of_site(site, &format!("/sources/{}", encode(source))), change).await
}

/// Removes a website with its pages.
pub async fn delete_source(site: &str, source: &str) -> Result<Empty, ApiError> {
    delete(&of_site(site, &format!("/sources/{}", encode(source)))).await
}

/// Lets a website be read again soon.
pub async fn read_source(site: &str, source: &str) -> Result<SourceShown, ApiError> {
    post(&of_site(site, &format!("/sources/{}/run", encode(source))), &Empty {}).await
}

/// Asks the assistant as a visitor would.
pub async fn ask(site: &str, question: &KnowledgeQuestion) -> Result<AskedAnswer, ApiError> {
    post(&of_site(site, "/knowledge/ask"), question).await
}

/// Returns the test questions of a site.
pub async fn test_questions(site: &str) -> Result<TestQuestions, ApiError> {
    get(&of_site(site, "/test-questions")).await
}

/// Adds a test question, or replaces the one with an id. Returns all.
pub async fn save_test_question(
    site: &str,
    id: &str,
    question: &TestQuestionText,
) -> Result<TestQuestions, ApiError> {
    if id.is_empty() {
        post(&of_site(site, "/test-questions"), question).await
    } else {
        put(&of_site(site, &format!("/test-questions/{}", encode(id))), question).await
    }
}

/// Deletes a test question. Returns the others.
pub async fn delete_test_question(site: &str, id: &str) -> Result<TestQuestions, ApiError> {
    delete(&of_site(site, &format!("/test-questions/{}", encode(id)))).await
}

/// Lets the test questions be asked. Returns them with `is_running`.
pub async fn run_test_questions(site: &str) -> Result<TestQuestions, ApiError> {
    post(&of_site(site, "/test-questions/run"), &Empty {}).await
}

/// Returns the tokens of a site.
pub async fn tokens(site: &str) -> Result<Vec<Token>, ApiError> {
    get(&of_site(site, "/tokens")).await
}

/// Creates a token.
pub async fn create_token(site: &str, request: &TokenRequest) -> Result<NewToken, ApiError> {
    post(&of_site(site, "/tokens"), request).await
}

/// Creates a token, and lets the others expire.
pub async fn rotate_tokens(site: &str, rotation: &Rotation) -> Result<NewToken, ApiError> {
    post(&of_site(site, "/tokens/rotate"), rotation).await
}

/// Revokes a token.
pub async fn revoke_token(site: &str, token: &str) -> Result<Empty, ApiError> {
    delete(&of_site(site, &format!("/tokens/{}", encode(token)))).await
}

/// Creates the secret by which a site proves its visitors, and lets the one before expire.
pub async fn rotate_visitor_secret(
    site: &str,
    rotation: &VisitorSecretRotation,
) -> Result<NewVisitorSecret, ApiError> {
    post(&of_site(site, "/visitor-secret/rotate"), rotation).await
}

/// Removes the secret by which a site proves its visitors.
pub async fn remove_visitor_secret(site: &str) -> Result<Empty, ApiError> {
    delete(&of_site(site, "/visitor-secret")).await
}

/// Returns the licenses.
pub async fn licenses() -> Result<Vec<License>, ApiError> {
    get("licenses").await
}

/// Creates a license.
pub async fn create_license(request: &LicenseRequest) -> Result<NewLicense, ApiError> {
    post("licenses", request).await
}

/// Revokes a license.
pub async fn revoke_license(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("licenses/{}", encode(id))).await
}

/// Returns the operators.
pub async fn operators() -> Result<Vec<OperatorAccount>, ApiError> {
    Ok(get::<Operators>("operators").await?.operators)
}

/// Changes an operator.
pub async fn change_operator(id: &str, change: &OperatorChange) -> Result<OperatorAccount, ApiError> {
    Ok(patch::<OperatorChanged>(&format!("operators/{}", encode(id)), change).await?.operator)
}

/// Removes an operator.
pub async fn remove_operator(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("operators/{}", encode(id))).await
}

/// Creates a link by which an operator sets a new password.
pub async fn password_link(id: &str) -> Result<OneTimeLink, ApiError> {
    post(&format!("operators/{}/password-link", encode(id)), &Empty {})
        .await
        .map(|link: OneTimeLink| OneTimeLink { link: with_origin(link.link), ..link })
}

/// Returns the sessions of an operator.
pub async fn sessions_of(id: &str) -> Result<Sessions, ApiError> {
    get(&format!("operators/{}/sessions", encode(id))).await
}

/// Ends a session of an operator.
pub async fn end_session_of(id: &str, session: &str) -> Result<Empty, ApiError> {
    delete(&format!("operators/{}/sessions/{}", encode(id), encode(session))).await
}

/// Returns the invitations that are still valid.
pub async fn invitations() -> Result<Invitations, ApiError> {
    get("invitations").await
}

/// Invites somebody.
pub async fn invite(request: &InvitationRequest) -> Result<NewInvitation, ApiError> {
    let new: NewInvitation = post("invitations", request).await?;
    Ok(NewInvitation { link: new.link.map(with_origin), ..new })
}

/// Withdraws an invitation.
pub async fn revoke_invitation(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("invitations/{}", encode(id))).await
}

/// Returns the webhooks, and the names of the events.
pub async fn webhooks() -> Result<Webhooks, ApiError> {
    get("webhooks").await
}

/// Creates a webhook.
pub async fn create_webhook(new: &NewWebhook) -> Result<WebhookSecret, ApiError> {
    post("webhooks", new).await
}

/// Changes a webhook.
pub async fn change_webhook(id: &str, change: &WebhookChange) -> Result<Webhook, ApiError> {
    Ok(patch::<WebhookShown>(&format!("webhooks/{}", encode(id)), change).await?.webhook)
}

/// Deletes a webhook with its log.
pub async fn delete_webhook(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("webhooks/{}", encode(id))).await
}

/// Creates a new secret for a webhook.
pub async fn rotate_webhook(id: &str) -> Result<WebhookSecret, ApiError> {
    post(&format!("webhooks/{}/secret", encode(id)), &Empty {}).await
}

/// Sends a test event to a webhook.
pub async fn test_webhook(id: &str) -> Result<Delivery, ApiError> {
    Ok(post::<DeliveryShown>(&format!("webhooks/{}/test", encode(id)), &Empty {}).await?.delivery)
}

/// Returns a page of a webhook's deliveries, of all states or of one.
pub async fn deliveries(id: &str, status: &str, before: Option<&str>) -> Result<DeliveryPage, ApiError> {
    let status = Some(status).filter(|status| !status.is_empty());
    let query = Query::default().with("status", status).with("before", before);
    get(&format!("webhooks/{}/deliveries{query}", encode(id))).await
}

/// Sends a delivery again.
pub async fn replay(id: &str, delivery: &str) -> Result<Delivery, ApiError> {
    let path = format!("webhooks/{}/deliveries/{}/replay", encode(id), encode(delivery));
    Ok(post::<DeliveryShown>(&path, &Empty {}).await?.delivery)
}

/// Returns the e-mails that the operator receives.
pub async fn email_preferences() -> Result<EmailPreferences, ApiError> {
    get("notifications").await
}

/// Chooses the e-mails that the operator receives.
pub async fn choose_emails(choice: &EmailChoice) -> Result<EmailPreferences, ApiError> {
    put("notifications", choice).await
}

/// Returns a page of the audit log.
pub async fn audit(filter: Query, before: Option<i64>) -> Result<AuditPage, ApiError> {
    let before = before.map(|number| number.to_string());
    get(&format!("audit{}", filter.with("before", before.as_deref()))).await
}

/// Returns the address of the audit log as CSV.
pub fn audit_csv(filter: &Query) -> String {
    format!("{BASE}audit.csv{filter}")
}

/// Adds a label, or replaces the one with an id.
pub async fn save_label(id: Option<&str>, label: &LabelChange) -> Result<Label, ApiError> {
    match id {
        Some(id) => put(&format!("labels/{}", encode(id)), label).await,
        None => post("labels", label).await,
    }
}

/// Deletes a label.
pub async fn delete_label(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("labels/{}", encode(id))).await
}

/// Adds a canned reply, or replaces the one with an id.
pub async fn save_reply(id: Option<&str>, reply: &CannedReplyText) -> Result<CannedReply, ApiError> {
    match id {
        Some(id) => put(&format!("replies/{}", encode(id)), reply).await,
        None => post("replies", reply).await,
    }
}

/// Deletes a canned reply.
pub async fn delete_reply(id: &str) -> Result<Empty, ApiError> {
    delete(&format!("replies/{}", encode(id))).await
}
