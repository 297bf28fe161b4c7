//! Where the visitor says how to be reached: one line above the composer, which takes nothing from the conversation.

use chat_protocol::{Lead, Role, VisitorProfile};
use chat_session::{Entry, Notice, Session};
use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlInputElement};

use super::Ui;
use super::dom::{El, flag};
use super::icon::{self, icon};
use crate::text::strings::Text;

/// Where the contact line stands.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Contact {
    #[default]
    Closed,
    /// The visitor asked for it, or an answer needs it.
    Open,
    /// The visitor has filled it in, and is told so.
    Done,
}

/// Name in the form, label, and what browsers fill in.
const FIELDS: [(&str, Text, &str); 3] = [
    ("email", Text::ContactLine, "email"),
    ("name", Text::ContactName, "name"),
    ("tel", Text::ContactPhone, "tel"),
];
const ERROR_ID: &str = "cw-contact-error";
/// Maximum offers while the service goes on to say that a person is needed.
const MAX_OFFERS: u32 = 3;

impl Ui {
    /// Shows the contact line, or takes it away.
    pub(super) fn set_contact(&self, contact: Contact) {
        self.state().contact.set(contact);
        self.state().contact_error.set(None);
        self.notify();
    }

    /// How the visitor can be reached: by e-mail, or else by telephone.
    pub(super) fn contact(&self) -> Option<String> {
        self.session(|session| {
            let profile = session.profile();
            profile.email.as_ref().or(profile.phone.as_ref()).cloned()
        })
    }

    /// Offers the contact line when an answer fails.
    pub(super) fn update_contact(&self) {
        let fails = self.session(|session| session.fell_back() || session.notice() == Some(Notice::NoReply));
        if !self.state().contact_needed.replace(fails) && fails {
            self.offer_contact();
        }
    }

    /// Offers the contact line when a person is needed: each time that the visitor asks, but not without end where the
    /// service says so of each message.
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

    /// A person answers here, so that no other way is needed; unless the visitor is just writing into the line.
    pub(super) fn close_contact_for(&self, entry: &Entry) {
        if entry.author == Role::Operator && is_open(self) && !self.has_focus("[part=form]") {
            self.set_contact(Contact::Closed);
        }
    }
}

/// Returns whether the line is there. Where nothing can be sent, it is not.
pub(crate) fn is_open(ui: &Ui) -> bool {
    ui.state().contact.get() == Contact::Open && ui.closed_by().is_none()
}

pub(crate) fn is_done(ui: &Ui) -> bool {
    ui.state().contact.get() == Contact::Done && ui.closed_by().is_none()
}

/// The line: an e-mail address, and on demand a name and a phone number.
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

/// The confirmation of the details, in place of the line.
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

/// Asks for a person: in the chat, where one is there or knows how to reach the visitor; else by the contact line.
pub(crate) fn ask_person(ui: &Ui) {
    if ui.session(Session::operator_online) == Some(true) || ui.contact().is_some() {
        ui.focus_field();
        ui.send(ui.text(Text::WantsPerson));
    } else {
        open(ui);
    }
}

/// Shows the line because the visitor wants it.
pub(crate) fn open(ui: &Ui) {
    ui.set_contact(Contact::Open);
    ui.focus_later("[name=email]");
}

/// What is given goes along with a message that the visitor can see, so that nothing of it is lost.
fn submit(ui: &Ui, event: &Event) {
    event.prevent_default();
    let Some(form) = event.target().map(JsCast::unchecked_into::<Element>) else { return };
    let mut given = [None, None, None];
    let mut message = String::new();
    let mut wrong = None;
    let mut first: Option<HtmlInputElement> = None;
    for (index, (name, label, _)) in FIELDS.into_iter().enumerate() {
        let Ok(Some(field)) = form.query_selector(&["[name=", name, "]"].concat()) else { continue };
        let field: HtmlInputElement = field.unchecked_into();
        let value = field.value().trim().to_owned();
        let error = match name {
            "email" if !value.is_empty() && !is_address(&value) => Some(Text::EmailWrong),
            "tel" if !value.is_empty() && !is_number(&value) => Some(Text::PhoneWrong),
            "tel" if value.is_empty() && given[0].is_none() => Some(Text::ContactNeeded),
            _ => None,
        };
        _ = field.set_attribute("aria-invalid", if error.is_some() { "true" } else { "false" });
        let first = first.get_or_insert_with(|| field.clone());
        if wrong.is_none() && error.is_some() {
            wrong = error;
            // An address will do: the number need not be shown for it.
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
            given[index] = Some(value);
        }
    }
    ui.state().contact_error.set(wrong);
    if wrong.is_none() {
        let [email, name, phone] = given;
        ui.driver().set_contact(VisitorProfile { name, email, phone, ..VisitorProfile::default() });
        ui.focus_field();
        ui.send(message);
        ui.set_contact(Contact::Done);
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
