//! What can be done at the moment, by a key or from the command palette. Components offer an action while
//! they are shown.

use std::rc::Rc;

use leptos::prelude::*;

use crate::keyboard::Action;

/// An action on offer.
#[derive(Clone)]
struct Offer {
    id: u32,
    action: Action,
    run: Rc<dyn Fn()>,
}

/// The actions on offer. Copies are the same list.
#[derive(Clone, Copy)]
pub struct Actions {
    offers: RwSignal<Vec<Offer>, LocalStorage>,
    next_id: StoredValue<u32>,
}

impl Actions {
    pub(super) fn new() -> Self {
        Self { offers: RwSignal::new_local(Vec::new()), next_id: StoredValue::new(0) }
    }

    /// Offers an action until the component that calls this is removed. Of several offers of the same action,
    /// the last one counts.
    pub fn offer(self, action: Action, run: impl Fn() + 'static) {
        let id = self.next_id.get_value();
        self.next_id.set_value(id.wrapping_add(1));
        self.offers.update(|offers| offers.push(Offer { id, action, run: Rc::new(run) }));
        on_cleanup(move || {
            _ = self.offers.try_update(|offers| offers.retain(|offer| offer.id != id));
        });
    }

    /// Carries an action out. Returns whether it was on offer.
    pub fn run(self, action: Action) -> bool {
        let found = self.offers.with_untracked(|offers| {
            offers.iter().rev().find(|offer| offer.action == action).map(|offer| Rc::clone(&offer.run))
        });
        let Some(run) = found else { return false };
        run();
        true
    }

    /// Returns whether an action is on offer.
    pub fn is_offered(self, action: Action) -> bool {
        self.offers.with(|offers| offers.iter().any(|offer| offer.action == action))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn an_action_is_on_offer_while_its_component_is_shown() {
        let page = Owner::new();
        let ran = Rc::new(Cell::new(0));
        let actions = page.with(Actions::new);
        assert!(!actions.run(Action::Close));

        let conversation = page.child();
        let count = Rc::clone(&ran);
        conversation.with(|| actions.offer(Action::Close, move || count.set(count.get() + 1)));
        let dialog = page.child();
        let count = Rc::clone(&ran);
        dialog.with(|| actions.offer(Action::Close, move || count.set(count.get() + 10)));
        assert!(actions.run(Action::Close) && !actions.run(Action::Reply));
        assert_eq!(ran.get(), 10, "the last offer counts");

        dialog.cleanup();
        assert!(actions.run(Action::Close));
        assert_eq!(ran.get(), 11);
        conversation.cleanup();
        assert!(!actions.run(Action::Close));
    }
}
