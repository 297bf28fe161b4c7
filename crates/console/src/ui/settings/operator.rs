//! One operator: name and role, disabling and removing.

use chat_protocol::admin::settings::{OperatorAccount, OperatorChange, OperatorRole};
use leptos::prelude::*;

use super::danger::DangerRow;
use super::page::{Card, Empty, Head, me, notices};
use super::sessions::{PasswordCard, SessionsCard};
use crate::api::settings as requests;
use crate::location::Page;
use crate::state::app;
use crate::text::{Text, settings as t};
use crate::ui::forms::{
    Editing, Form, FormState, Loaded, Remote, SaveBar, SelectField, TextField, changed, draft,
};

/// Returns a role's name.
pub fn role_text(role: OperatorRole) -> Text {
    match role {
        OperatorRole::Agent => t::ROLE_AGENT,
        OperatorRole::Admin => t::ROLE_ADMIN,
        OperatorRole::Owner => t::ROLE_OWNER,
    }
}

/// Returns the roles that somebody with a role may give.
pub fn roles_of(role: OperatorRole) -> Vec<(String, String)> {
    let given = OperatorRole::ALL.into_iter().filter(|given| role == OperatorRole::Owner || *given < role);
    given.map(|role| (role.as_str().to_owned(), role_text(role).get().to_owned())).collect()
}

/// Returns whether somebody with a role may change an operator with another one.
fn may_manage(mine: OperatorRole, theirs: OperatorRole) -> bool {
    mine == OperatorRole::Owner || (mine == OperatorRole::Admin && theirs == OperatorRole::Agent)
}

/// The page about an operator.
#[component]
pub fn OperatorPage(id: String, operators: Remote<Vec<OperatorAccount>>) -> impl IntoView {
    let id = StoredValue::new(id);
    view! {
        <p class="crumbs"><a href=Page::settings(&["team"]).href()>{t::SECTION_TEAM.get()}</a></p>
        <Loaded remote=operators let:people>
            {match people.into_iter().find(|person| person.id == id.get_value()) {
                Some(person) => view! { <Account person operators/> }.into_any(),
                None => view! { <Empty text=t::OPERATOR_GONE.get()/> }.into_any(),
            }}
        </Loaded>
    }
}

#[component]
fn Account(person: OperatorAccount, operators: Remote<Vec<OperatorAccount>>) -> impl IntoView {
    let me = me();
    let mine = me.role;
    let is_me = me.id == person.id;
    let may_change = may_manage(mine, person.role);
    let is_owner = mine == OperatorRole::Owner;
    view! {
        <Head title=person.name.clone() lead=person.email.clone()/>
        {person.disabled.then(|| view! { <p class="notice is-warning">{t::OPERATOR_IS_OFF.get()}</p> })}
        {(is_me || may_change).then(|| view! { <NameCard person=person.clone() operators may_change_role=is_owner/> })}
        {is_owner.then(|| view! { <SessionsCard id=person.id.clone()/> })}
        {is_owner.then(|| view! { <PasswordCard id=person.id.clone()/> })}
        {(may_change && !is_me).then(|| view! { <DangerCard person operators/> })}
    }
}

draft!(
    /// The values of the form.
    Person, PersonFields {
        name: String,
        role: String,
    }
);

impl From<&OperatorAccount> for Person {
    fn from(person: &OperatorAccount) -> Self {
        Self { name: person.name.clone(), role: person.role.as_str().to_owned() }
    }
}

#[component]
fn NameCard(
    person: OperatorAccount,
    operators: Remote<Vec<OperatorAccount>>,
    may_change_role: bool,
) -> impl IntoView {
    let notices = notices();
    let editing = Editing::<PersonFields>::new(Person::from(&person));
    let form = FormState::new(&["name", "role"], editing.is_dirty());
    let id = person.id;
    let save = move || {
        let (now, saved, id) = (editing.now(), editing.saved(), id.clone());
        let change = OperatorChange {
            name: changed(&now.name, &saved.name),
            role: changed(&now.role, &saved.role).and_then(|role| OperatorRole::parse(&role)),
            disabled: None,
        };
        form.send(
            async move { requests::change_operator(&id, &change).await },
            move |person: OperatorAccount| {
                editing.accept(&now, Person::from(&person));
                notices.done(t::SAVED.get());
                operators.update(|people| replace(people, person));
            },
        );
    };
    let fields = editing.fields;
    view! {
        <Card title=t::OPERATOR_ACCOUNT.get()>
            <Form state=form on_submit=save>
                <TextField name="name" label=t::OPERATOR_NAME.get() help=t::OPERATOR_NAME_HELP.get() value=fields.name/>
                {may_change_role
                    .then(|| {
                        view! {
                            <SelectField
                                name="role"
                                label=t::ROLE.get()
                                help=t::ROLE_HELP.get()
                                value=fields.role
                                options=roles_of(OperatorRole::Owner)
                            />
                        }
                    })}
                <SaveBar on_reset=move || editing.reset()/>
            </Form>
        </Card>
    }
}

fn replace(people: &mut [OperatorAccount], changed: OperatorAccount) {
    if let Some(person) = people.iter_mut().find(|person| person.id == changed.id) {
        *person = changed;
    }
}

/// Disables the operator or enables them again, and removes them.
#[component]
fn DangerCard(person: OperatorAccount, operators: Remote<Vec<OperatorAccount>>) -> impl IntoView {
    let (router, notices) = (app().router, notices());
    let is_off = person.disabled;
    let id = StoredValue::new(person.id);
    let (title, text) = if is_off {
        (t::OPERATOR_ENABLE, t::OPERATOR_ENABLE_HELP)
    } else {
        (t::OPERATOR_DISABLE, t::OPERATOR_DISABLE_HELP)
    };
    view! {
        <Card title=t::DANGER.get() is_danger=true>
            <DangerRow
                title
                text
                request=move || {
                    let change = OperatorChange { disabled: Some(!is_off), ..OperatorChange::default() };
                    let id = id.get_value();
                    async move { requests::change_operator(&id, &change).await }
                }
                on_done=move |person| {
                    notices.done(t::SAVED.get());
                    operators.update(|people| replace(people, person));
                }
            />
            <DangerRow
                title=t::OPERATOR_REMOVE
                text=t::OPERATOR_REMOVE_HELP
                is_final=true
                typed=person.email
                request=move || {
                    let id = id.get_value();
                    async move { requests::remove_operator(&id).await }
                }
                on_done=move |_| {
                    notices.done(t::OPERATOR_REMOVED.get());
                    operators.update(|people| people.retain(|person| person.id != id.get_value()));
                    router.open(Page::settings(&["team"]));
                }
            />
        </Card>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn admins_manage_agents_and_owners_everybody() {
        use OperatorRole::{Admin, Agent, Owner};
        assert!(may_manage(Admin, Agent) && !may_manage(Admin, Admin) && !may_manage(Admin, Owner));
        assert!(
            OperatorRole::ALL.into_iter().all(|role| may_manage(Owner, role) && !may_manage(Agent, role))
        );
        let names = |role| roles_of(role).into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        assert_eq!((names(Owner).len(), names(Admin), names(Agent).len()), (3, vec!["agent".to_owned()], 0));
    }
}
