//! Where the visitor says how to be reached: offered when a person is needed, or when nobody is there.

use chat_protocol::VisitorProfile;
use chat_session::Session;
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlInputElement};

use super::Ui;
use super::dom::El;
use super::icon::{self, icon};
use crate::text::strings::Text;

/// How far the form has come.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Contact {
    #[default]
    Closed,
    /// The visitor asked for it, or the service needs it.
    Open,
    /// Filled in, or not wanted.
    Done,
}

/// Name in the form, text, and what browsers are to fill in.
const FIELDS: [(&str, Text, &str); 3] = [
    ("name", Text::ContactName, "name"),
    ("email", Text::ContactEmail, "email"),
    ("tel", Text::ContactPhone, "tel"),
];
const ERROR_ID: &str = "cw-contact-error";

/// The form is there.
pub(crate) fn is_open(ui: &Ui) -> bool {
    ui.state().contact.get() == Contact::Open
}

/// Nobody is there, and somebody has answered: the visitor may rather be called back.
pub(crate) fn is_offered(ui: &Ui) -> bool {
    let nobody = ui.session(|session| session.operator_online() == Some(false) && !session.awaits_reply());
    ui.state().contact.get() == Contact::Closed && nobody && ui.session(Session::has_answers)
}

/// The way to the form.
pub(crate) fn offer(ui: &Ui) -> El {
    ui.el("button.cw-chip.cw-offer type=button").says(Text::ContactTitle).on("click", |ui, _| {
        ui.state().contact.set(Contact::Open);
        ui.state().pinned.set(true);
        ui.notify();
        ui.stay_at_end();
    })
}

/// The form, in the log, so that the conversation stays in sight.
pub(crate) fn form(ui: &Ui) -> El {
    let mut form = ui
        .el("form.cw-card part=form novalidate=")
        .label(Text::ContactTitle)
        .child(ui.el("p.cw-card-title").says(Text::ContactTitle))
        .child(ui.el("p.cw-card-note").says(Text::ContactNote))
        .on("submit", submit);
    for (name, label, fill) in FIELDS {
        let input = ui
            .el("input.cw-text")
            .attr("name", name)
            .attr("type", if name == "name" { "text" } else { name })
            .attr("autocomplete", fill)
            .attr("dir", "auto")
            .attr("aria-describedby", ERROR_ID);
        form = form.child(ui.el("label.cw-label").text(&ui.text(label)).child(input));
    }
    form.child_if(
        |ui| ui.state().contact_error.get().is_some(),
        |ui| {
            ui.el("p.cw-error").attr("id", ERROR_ID).attr("role", "alert").child(icon(ui, icon::ALERT)).child(
                ui.el("span").text_with(|ui| {
                    ui.state().contact_error.get().map_or_else(String::new, |error| ui.text(error))
                }),
            )
        },
    )
    .child(
        ui.el("div.cw-actions")
            .child(ui.el("button.cw-button.cw-button-main type=submit").says(Text::ContactSend))
            .child(ui.el("button.cw-button type=button").says(Text::NotNow).on("click", |ui, _| close(ui))),
    )
}

fn close(ui: &Ui) {
    ui.focus_field();
    ui.state().contact.set(Contact::Done);
    ui.notify();
}

/// What is given goes along with a message that the visitor can see, so that nothing of it is lost.
fn submit(ui: &Ui, event: &Event) {
    event.prevent_default();
    let Some(form) = event.target().map(JsCast::unchecked_into::<Element>) else { return };
    let mut given = [None, None, None];
    let mut message = String::new();
    let mut wrong = None;
    for (index, (name, label, _)) in FIELDS.into_iter().enumerate() {
        let Ok(Some(field)) = form.query_selector(&["[name=", name, "]"].concat()) else { continue };
        let field: HtmlInputElement = field.unchecked_into();
        let value = field.value().trim().to_owned();
        let error = match name {
            "email" if !value.is_empty() && !is_address(&value) => Some(Text::EmailWrong),
            "tel" if !value.is_empty() && !is_number(&value) => Some(Text::PhoneWrong),
            "tel" if value.is_empty() && given[1].is_none() => Some(Text::ContactNeeded),
            _ => None,
        };
        _ = field.set_attribute("aria-invalid", if error.is_some() { "true" } else { "false" });
        if wrong.is_none() && error.is_some() {
            wrong = error;
            _ = field.focus();
        }
        if !value.is_empty() {
            if !message.is_empty() {
                message.push('\n');
            }
            message = message + &ui.text(label) + ": " + &value;
            given[index] = Some(value);
        }
    }
    ui.state().contact_error.set(wrong);
    if wrong.is_none() {
        let [name, email, phone] = given;
        ui.driver().contact(VisitorProfile { name, email, phone, ..VisitorProfile::default() });
        close(ui);
        ui.send(message);
    } else {
        ui.notify();
    }
}

/// Something before an `@`, and a name with a dot behind it.
fn is_address(text: &str) -> bool {
    // What stood before, in turn: nothing, something, the `@`, a name of the host, a dot behind that.
    let mut seen = 0;
    for byte in text.bytes() {
        seen = match (seen, byte) {
            (_, b' ') | (0 | 2..=5, b'@') | (2 | 4, b'.') => return false,
            (1, b'@') => 2,
            (3 | 5, b'.') => 4,
            (0, _) => 1,
            (2, _) => 3,
            (4, _) => 5,
            _ => seen,
        };
    }
    seen == 5
}

/// Five digits at least, and nothing but what stands in telephone numbers.
fn is_number(text: &str) -> bool {
    text.bytes().filter(u8::is_ascii_digit).count() >= 5
        && text.bytes().all(|byte| byte.is_ascii_digit() || b"+-()./ ".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_user_and_a_host_with_a_dot() {
        for good in ["anna@example.com", "a.b+c@mail.example.co.uk", "ü@bücher.example"] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "anna",
            "anna@",
            "@example.com",
            "anna@example",
            "an na@example.com",
            "a@b@c.de",
            "a@.de",
            "a@b.",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn a_number_has_five_digits_and_no_letters() {
        for good in ["12345", "+49 (30) 123-456", "030/12 34 5"] {
            assert!(is_number(good), "{good}");
        }
        for bad in ["1234", "call me", "+49 30 ext 5 1234"] {
            assert!(!is_number(bad), "{bad}");
        }
    }
}
