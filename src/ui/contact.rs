//! The contact line above the composer, for the visitor's contact details.

use chat_protocol::{Lead, Role, VisitorProfile};
use chat_session::{Entry, Session};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlInputElement};

use super::Ui;
use super::dom::{El, flag};
use super::icon::{self, icon};
use crate::text::strings::Text;

/// The state of the contact line.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Contact {
    #[default]
    Closed,
    /// Open: the visitor asked for it, or a reply needs it.
    Open,
    /// Replaced by a confirmation.
    Done,
}

/// Name, label and `autocomplete` of each field.
const FIELDS: [(&str, Text, &str); 3] = [
    ("email", Text::ContactLine, "email"),
    ("name", Text::ContactName, "name"),
    ("tel", Text::ContactPhone, "tel"),
];
const ERROR_ID: &str = "cw-contact-error";
/// Maximum offers in a row while the service keeps asking for an operator.
const MAX_OFFERS: u32 = 3;

impl Ui {
    /// Changes the state of the contact line.
    pub(super) fn set_contact(&self, contact: Contact) {
        self.state().contact.set(contact);
        self.state().contact_error.set(None);
        self.notify();
    }

    /// Returns the visitor's e-mail address, or else the phone number.
    pub(super) fn contact(&self) -> Option<String> {
        self.session(|session| {
            let profile = session.profile();
            profile.email.as_ref().or(profile.phone.as_ref()).cloned()
        })
    }

    /// Offers the contact line when the service asks for an operator. The offers are limited, because a
    /// service may ask with every message.
    pub(super) fn on_lead(&self, lead: &Lead) {
        let needed = lead.needs_handoff && !lead.has_contact;
        let handoffs = &self.state().handoffs;
        handoffs.set(if needed { handoffs.get() + 1 } else { 0 });
        if needed && handoffs.get() <= MAX_OFFERS {
            self.offer_contact();
        }
    }

    fn offer_contact(&self) {
        if self.contact().is_none() && self.state().contact.get() == Contact::Closed {
            self.set_contact(Contact::Open);
        }
    }

    /// Closes the contact line when an operator answers, unless the visitor is filling it in.
    pub(super) fn close_contact_for(&self, entry: &Entry) {
        if entry.author == Role::Operator && is_open(self) && !self.has_focus("[part=form]") {
            self.set_contact(Contact::Closed);
        }
    }
}

/// Returns whether the contact line is shown. It is hidden from a blocked visitor.
pub(crate) fn is_open(ui: &Ui) -> bool {
    ui.state().contact.get() == Contact::Open && !ui.is_blocked()
}

/// Returns whether the confirmation is shown.
pub(crate) fn is_done(ui: &Ui) -> bool {
    ui.state().contact.get() == Contact::Done && !ui.is_blocked()
}

/// Renders the form: an e-mail address, and on demand a name and a phone number.
pub(crate) fn form(ui: &Ui) -> El {
    let mut form = ui
        .el("form.cw-dock part=form novalidate=")
        .label(Text::ContactLine)
        .class_if("cw-dock-more", |ui| ui.state().contact_more.get())
        .on("submit", submit)
        .child(icon(ui, icon::MAIL));
    for (name, label, fill) in FIELDS {
        let label = ui.text(label);
        let input = ui
            .el("input.cw-text dir=auto")
            .attr("name", name)
            .attr("type", if name == "name" { "text" } else { name })
            .attr("autocomplete", fill)
            .attr("placeholder", &label)
            .attr_with("aria-describedby", |ui| ui.state().contact_error.get().map(|_| ERROR_ID.to_owned()));
        form = form.child(ui.el("label.cw-label").child(ui.el("span").text(&label)).child(input));
    }
    let more = ui
        .el("button.cw-icon-button part=contact-more type=button")
        .label(Text::ContactMore)
        .attr_with("aria-expanded", |ui| Some(flag(ui.state().contact_more.get())))
        .child(icon(ui, icon::CHEVRON_DOWN))
        .on("click", |ui, _| {
            ui.state().contact_more.set(!ui.state().contact_more.get());
            ui.notify();
        });
    let send = ui
        .el("button.cw-icon-button.cw-dock-send part=contact-send type=submit")
        .label(Text::ContactSend)
        .child(icon(ui, icon::SEND));
    form.child(more).child(send).child(dismiss(ui, "contact-dismiss")).child_if(
        |ui| ui.state().contact_error.get().is_some(),
        |ui| {
            ui.el("p.cw-error").attr("id", ERROR_ID).attr("role", "alert").child(icon(ui, icon::ALERT)).child(
                ui.el("span").text_with(|ui| {
                    ui.state().contact_error.get().map_or_else(String::new, |error| ui.text(error))
                }),
            )
        },
    )
}

fn dismiss(ui: &Ui, part: &str) -> El {
    ui.el("button.cw-icon-button type=button")
        .attr("part", part)
        .label(Text::NotNow)
        .child(icon(ui, icon::CLOSE))
        .on("click", |ui, _| {
            ui.focus_field();
            ui.set_contact(Contact::Closed);
        })
}

/// Renders the confirmation, in place of the form.
pub(crate) fn done(ui: &Ui) -> El {
    let words = ui.el("span").text_with(|ui| {
        let text = if ui.session(|session| session.profile().email.is_some()) {
            Text::ContactWrite
        } else {
            Text::ContactCall
        };
        ui.named(text, &ui.contact().unwrap_or_default())
    });
    ui.el("p.cw-dock part=contact-done role=status")
        .child(icon(ui, icon::CHECK))
        .child(words)
        .child(dismiss(ui, "contact-dismiss"))
}

/// Asks for an operator by a message that the visitor can see, and opens the contact line if an operator
/// could not answer otherwise.
pub(crate) fn ask_person(ui: &Ui) {
    let can_answer = ui.session(Session::operator_online) == Some(true) || ui.contact().is_some();
    // A message would wait for the reply that is awaited.
    if can_answer || !ui.session(Session::awaits_reply) {
        ui.focus_field();
        ui.send(ui.text(Text::WantsPerson));
    }
    if !can_answer {
        open(ui);
    }
}

/// Opens the contact line for the visitor.
pub(crate) fn open(ui: &Ui) {
    ui.set_contact(Contact::Open);
    ui.focus_later("[name=email]");
}

/// Sends the details in a message that the visitor can see, so that they take the same reliable way as every
/// message.
fn submit(ui: &Ui, event: &Event) {
    event.prevent_default();
    let Some(form) = event.target().map(JsCast::unchecked_into::<Element>) else { return };
    let mut values = [None, None, None];
    let mut message = String::new();
    let mut first_error = None;
    let mut first: Option<HtmlInputElement> = None;
    for (index, (name, label, _)) in FIELDS.into_iter().enumerate() {
        let Ok(Some(field)) = form.query_selector(&["[name=", name, "]"].concat()) else { continue };
        let field: HtmlInputElement = field.unchecked_into();
        let value = field.value().trim().to_owned();
        let error = match name {
            "email" if !value.is_empty() && !is_address(&value) => Some(Text::EmailWrong),
            "tel" if !value.is_empty() && !is_number(&value) => Some(Text::PhoneWrong),
            "tel" if value.is_empty() && values[0].is_none() => Some(Text::ContactNeeded),
            _ => None,
        };
        _ = field.set_attribute("aria-invalid", if error.is_some() { "true" } else { "false" });
        let first = first.get_or_insert_with(|| field.clone());
        if first_error.is_none() && error.is_some() {
            first_error = error;
            // An address is sufficient, so the number does not have to be visible.
            let field = if error == Some(Text::ContactNeeded) { first } else { &field };
            _ = field.set_attribute("aria-invalid", "true");
            _ = field.focus();
        }
        if !value.is_empty() {
            if !message.is_empty() {
                message.push('\n');
            }
            let label = if index == 0 { Text::ContactEmail } else { label };
            message = message + &ui.text(label) + ": " + &value;
            values[index] = Some(value);
        }
    }
    ui.state().contact_error.set(first_error);
    if first_error.is_none() {
        let [email, name, phone] = values;
        ui.driver().set_contact(VisitorProfile { name, email, phone, ..VisitorProfile::default() });
        ui.focus_field();
        ui.send(message);
        ui.set_contact(Contact::Done);
    } else {
        ui.notify();
    }
}

/// Returns whether a text is an e-mail address: a user, an `@`, and a host with a dot.
fn is_address(text: &str) -> bool {
    // States: 0 start, 1 user, 2 after the `@`, 3 first label of the host, 4 after a dot, 5 further label.
    let mut state = 0;
    for byte in text.bytes() {
        state = match (state, byte) {
            (_, b' ') | (0 | 2..=5, b'@') | (2 | 4, b'.') => return false,
            (1, b'@') => 2,
            (3 | 5, b'.') => 4,
            (0, _) => 1,
            (2, _) => 3,
            (4, _) => 5,
            _ => state,
        };
    }
    state == 5
}

/// Returns whether a text is a phone number: at least five digits, and no characters that phone numbers do
/// not have.
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
