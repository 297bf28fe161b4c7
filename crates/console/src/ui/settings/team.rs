//! The operators, and the invitations of further ones.

use chat_protocol::admin::settings::{
    Invitation, InvitationRequest, NewInvitation, OperatorAccount, OperatorRole,
};
use leptos::prelude::*;

use super::operator::{OperatorPage, role_text, roles_of};
use super::page::{Card, Head, me, notices, time};
use super::rows::{Chosen, revoke, rows};
use crate::api::settings as requests;
use crate::location::Page;
use crate::text::settings as t;
use crate::ui::forms::{
    Confirm, Dialog, DialogForm, FormState, Loaded, Remote, SecretOnce, SelectField, TextField, secret_or,
};

/// The page about the team, or about one operator, whose id is the second part of the path.
#[component]
pub fn Team(id: Memo<Option<String>>) -> impl IntoView {
    let operators = Remote::new(requests::operators);
    move || match id.get() {
        Some(id) => view! { <OperatorPage id operators/> }.into_any(),
        None => view! { <People operators/> }.into_any(),
    }
}

#[component]
fn People(operators: Remote<Vec<OperatorAccount>>) -> impl IntoView {
    let me = me();
    let role = me.role;
    let may_invite = role >= OperatorRole::Admin;
    let invites = RwSignal::new(false);
    let invitations = may_invite
        .then(|| Remote::new(|| async { requests::invitations().await.map(|found| found.invitations) }));
    let my_id = StoredValue::new(me.id);
    view! {
        <Head title=t::SECTION_TEAM.get() lead=t::TEAM_LEAD.get()>
            {may_invite
                .then(|| {
                    view! {
                        <button type="button" class="button is-primary" on:click=move |_| invites.set(true)>
                            {t::INVITE.get()}
                        </button>
                    }
                })}
        </Head>
        <Loaded remote=operators let:people>
            {
                let rows = people.into_iter().map(|person| row(person, &my_id.get_value(), may_invite));
                view! { <ul class="rows">{rows.collect_view()}</ul> }
            }
        </Loaded>
        {invitations
            .map(|invitations| {
                view! {
                    <Invitations invitations/>
                    <Dialog open=invites title=t::INVITE.get()>
                        <InviteForm role invitations/>
                    </Dialog>
                }
            })}
    }
}

fn row(person: OperatorAccount, my_id: &str, may_open: bool) -> impl IntoView + use<> {
    let href = Page::settings(&["team", &person.id]).href();
    let is_me = person.id == my_id;
    let name = if may_open {
        view! { <a href=href dir="auto">{person.name}</a> }.into_any()
    } else {
        view! { <p class="row-title" dir="auto">{person.name}</p> }.into_any()
    };
    view! {
        <li class:is-off=person.disabled>
            <div class="row-main">
                {name}
                <p dir="ltr">{person.email}</p>
            </div>
            <span class="states">
                {is_me.then(|| view! { <span class="state">{t::YOU.get()}</span> })}
                {person.disabled.then(|| view! { <span class="state is-bad">{t::DISABLED.get()}</span> })}
                {(person.totp == Some(true)).then(|| view! { <span class="state is-good">{t::TWO_FACTORS.get()}</span> })}
                <span class="state">{role_text(person.role).get()}</span>
            </span>
        </li>
    }
}

#[component]
fn Invitations(invitations: Remote<Vec<Invitation>>) -> impl IntoView {
    let notices = notices();
    let revoked = Chosen::<Invitation>::new();
    view! {
        <Card title=t::INVITATIONS_TITLE.get() lead=t::INVITATIONS_LEAD.get()>
            <Loaded remote=invitations let:all>
                {rows(all.into_iter().map(|invitation| invited(invitation, revoked)).collect(), t::INVITATIONS_EMPTY)}
            </Loaded>
            <Confirm
                open=revoked.open
                title=t::INVITATION_REVOKE.get()
                text=t::INVITATION_REVOKE_HELP.get()
                action=t::REVOKE.get()
                request=move || {
                    let id = revoked.get().unwrap_or_default().id;
                    async move { requests::revoke_invitation(&id).await }
                }
                on_done=move |_| {
                    notices.done(t::INVITATION_REVOKED.get());
                    invitations.reload();
                }
            />
        </Card>
    }
}

fn invited(invitation: Invitation, revoked: Chosen<Invitation>) -> impl IntoView {
    let this = invitation.clone();
    let email = invitation.email.unwrap_or_default();
    let expires = t::EXPIRES_AT.with(&[("time", &time(&invitation.expires_at))]);
    let button = revoke(&email, move || revoked.choose(Some(this.clone())));
    view! {
        <li>
            <div class="row-main">
                <p class="row-title" dir="ltr">{email}</p>
                <p class="row-facts">{expires}</p>
            </div>
            <span class="state">{role_text(invitation.role).get()}</span>
            {button}
        </li>
    }
}

#[component]
fn InviteForm(role: OperatorRole, invitations: Remote<Vec<Invitation>>) -> impl IntoView {
    let (email, chosen) = (RwSignal::new(String::new()), RwSignal::new("agent".to_owned()));
    let new = RwSignal::new(None::<NewInvitation>);
    let typed = Signal::derive(move || new.get().is_none() && !email.get().is_empty());
    let form = FormState::new(&["email", "role"], typed);
    let roles = StoredValue::new(roles_of(role));
    let save = move || {
        let role = OperatorRole::parse(&chosen.get_untracked()).unwrap_or_default();
        let request = InvitationRequest { email: email.get_untracked().trim().to_owned(), role };
        form.send(async move { requests::invite(&request).await }, move |link| {
            new.set(Some(link));
            invitations.reload();
        });
    };
    let secret = |new: NewInvitation| match new.link {
        Some(link) => view! {
            <SecretOnce
                label=t::INVITATION_LINK.get()
                secret=link
                help=t::INVITATION_LINK_HELP.with(&[("time", &time(&new.expires_at))])
            />
        }
        .into_any(),
        None => {
            view! { <p role="status">{t::INVITATION_MAILED.with(&[("email", &new.email)])}</p> }.into_any()
        }
    };
    secret_or(new, secret, move || {
        view! {
            <DialogForm state=form action=t::INVITE.get() on_submit=save>
                <TextField
                    name="email"
                    label=t::EMAIL_ADDRESS.get()
                    kind="email"
                    inputmode="email"
                    value=email
                    is_code=true
                />
                <SelectField
                    name="role"
                    label=t::ROLE.get()
                    help=t::ROLE_HELP.get()
                    value=chosen
                    options=roles.get_value()
                />
            </DialogForm>
        }
        .into_any()
    })
}
