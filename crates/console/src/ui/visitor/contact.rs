//! Contact details, language, and how to write to the visitor elsewhere.

use chat_protocol::admin::{ConversationSummary, Visitor};
use leptos::prelude::*;
use leptos::task::spawn_local;

use super::edit::EditContact;
use crate::browser::clipboard;
use crate::location::encode;
use crate::state::app;
use crate::text::{Text, units, visitor};
use crate::ui::controls::{Icon, icon};

/// The section of contact details.
#[component]
pub(super) fn Contact(
    /// The conversation's id.
    conversation: String,
    person: Memo<Visitor>,
    summary: Memo<ConversationSummary>,
) -> impl IntoView {
    let is_editing = RwSignal::new(false);
    let close = Callback::new(move |()| {
        is_editing.set(false);
        crate::browser::focus("edit-contact");
    });
    view! {
        <section class="visitor-section" aria-labelledby="visitor-contact">
            <header>
                <h3 id="visitor-contact">{visitor::CONTACT.get()}</h3>
                <button
                    type="button"
                    id="edit-contact"
                    class="quiet small"
                    hidden=is_editing
                    on:click=move |_| is_editing.set(true)
                >
                    {visitor::EDIT.get()}
                </button>
            </header>
            {move || {
                if is_editing.get() {
                    let conversation = conversation.clone();
                    view! { <EditContact conversation person=person.get_untracked() on_close=close/> }.into_any()
                } else {
                    view! { <Facts person summary/> }.into_any()
                }
            }}
        </section>
    }
}

/// The known details.
#[component]
fn Facts(person: Memo<Visitor>, summary: Memo<ConversationSummary>) -> impl IntoView {
    let facts = move || {
        let Visitor { visitor_id, email, phone, company, wechat, whatsapp, country, verified_fields, .. } =
            person.get();
        let is_proved = |name: &str| verified_fields.iter().any(|proved| proved == name);
        let (locale, page) = summary.with(|summary| (summary.locale.clone(), summary.source_page.clone()));
        let country = country.map(|country| region(&country).unwrap_or(country));
        let language = locale.map(|tag| units::language_name(&tag).unwrap_or(tag));
        let mail = email.as_deref().map(|address| format!("mailto:{}", encode(address)));
        let call = phone.as_deref().map(|number| format!("tel:{}", encode(&digits(number))));
        [
            fact(visitor::EMAIL, email, mail, is_proved("email")),
            fact(visitor::PHONE, phone, call, is_proved("phone")),
            fact(visitor::COMPANY, company, None, is_proved("company")),
            fact(visitor::COUNTRY, country, None, is_proved("country")),
            fact(visitor::LANGUAGE, language, None, false),
            fact(visitor::WECHAT, wechat, None, is_proved("wechat")),
            fact(visitor::WHATSAPP, whatsapp, None, is_proved("whatsapp")),
            fact(visitor::BEGAN_ON, page, None, false),
            fact(visitor::ID, visitor_id, None, is_proved("visitorId")),
        ]
    };
    let has_contact = Memo::new(move |_| {
        let person = person.read();
        [&person.email, &person.phone, &person.wechat, &person.whatsapp].into_iter().any(Option::is_some)
    });
    view! {
        <p class="hint" hidden=has_contact>{visitor::NO_CONTACT.get()}</p>
        <dl class="visitor-facts">{move || facts().into_iter().flatten().collect_view()}</dl>
    }
}

/// One detail: its name, its text, perhaps as a link, a button that copies it, and a mark if the site has
/// proved it.
fn fact(name: Text, value: Option<String>, href: Option<String>, is_proved: bool) -> Option<impl IntoView> {
    let value = value.filter(|value| !value.trim().is_empty())?;
    let notices = app().notices;
    let copied = value.clone();
    let copy = move |_| {
        let text = copied.clone();
        spawn_local(async move {
            if clipboard::copy(&text).await {
                notices.done(visitor::COPIED.get());
            } else {
                notices.problem(visitor::COPY_FAILED.get());
            }
        });
    };
    let shown = match href {
        Some(href) => view! { <a href=href rel="noopener noreferrer"><bdi>{value}</bdi></a> }.into_any(),
        None => view! { <bdi>{value}</bdi> }.into_any(),
    };
    Some(view! {
        <div>
            <dt>{name.get()}</dt>
            <dd>
                {shown}
                {is_proved.then(|| view! {
                    <span class="proved" role="img" title=visitor::PROVED.get() aria-label=visitor::PROVED.get()>
                        {icon(Icon::Check)}
                    </span>
                })}
                <button
                    type="button"
                    class="quiet square copy"
                    aria-label=visitor::COPY.with(&[("what", name.get())])
                    on:click=copy
                >
                    {icon(Icon::Copy)}
                </button>
            </dd>
        </div>
    })
}

/// Returns the name of a two-letter code.
fn region(code: &str) -> Option<String> {
    let code = code.trim();
    let is_code = code.len() == 2 && code.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_code.then(|| units::region_name(&code.to_ascii_uppercase())).flatten()
}

/// Returns what can be dialled of a phone number.
fn digits(number: &str) -> String {
    number.chars().filter(|letter| letter.is_ascii_digit() || *letter == '+').collect()
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn a_phone_link_has_digits_only() {
        assert_eq!(digits("+44 (20) 7946-0991"), "+442079460991");
        assert_eq!(digits("javascript:alert(1)"), "1");
    }
}
