//! The person whom the page proves: from the page's token to the session.

use std::rc::Rc;

use chat_protocol::VisitorProfile;
use chat_session::Input;
use leptos::task::spawn_local;

use super::{Inner, read};
use crate::client::{Proof, Source};

impl Inner {
    /// Passes each person that the page proves to the session, the first one before the page goes on.
    pub(super) fn start_proving(self: &Rc<Self>, token: Option<Source>) {
        let inner = Rc::downgrade(self);
        let prover = self.transport.prover();
        prover.on_person(Box::new(move |person| {
            if let Some(inner) = inner.upgrade() {
                inner.on_person(person);
            }
        }));
        if token.is_some() {
            prover.set(token);
            self.prove();
        }
    }

    pub(super) fn set_visitor_token(self: &Rc<Self>, token: Option<Source>) {
        let is_signed_out = token.is_none();
        self.transport.prover().set(token);
        self.given.replace(Some(VisitorProfile::default()));
        if is_signed_out {
            self.on_person(None);
        } else {
            // A page that cannot say who it is now may mean another person.
            let inner = Rc::downgrade(self);
            let prover = self.transport.prover().clone();
            spawn_local(async move {
                if matches!(prover.proof().await, Proof::Unavailable)
                    && let Some(inner) = inner.upgrade()
                {
                    inner.on_person(None);
                }
            });
        }
    }

    /// Asks the page who is signed in.
    pub(super) fn prove(&self) {
        let prover = self.transport.prover().clone();
        spawn_local(async move { _ = prover.proof().await });
    }

    /// Handles that the visitor has signed out in another tab. Nothing of theirs stays in view while the page
    /// is asked. A token that it cannot renew is from before.
    pub(super) fn prove_again(self: &Rc<Self>) {
        let prover = self.transport.prover();
        if !prover.forget() {
            prover.set(None);
        }
        self.on_person(None);
        self.prove();
    }

    fn on_person(self: &Rc<Self>, person: Option<String>) {
        let given = self.given.take();
        let stored = read(&self.storage.borrow());
        self.handle(Input::Person(person, stored));
        // What the page said of a previous person is forgotten with them.
        if let Some(given) = given {
            self.handle(Input::Identify(given));
        }
    }
}
