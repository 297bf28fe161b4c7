//! The first steps of a workspace without a conversation, in place of the empty list.

use chat_protocol::admin::settings::SiteSetup;
use leptos::prelude::*;

use crate::browser::notification::Permission;
use crate::browser::{self, storage};
use crate::location::Page;
use crate::state::{DirectoryStoreFields, app, was_assistant_asked, watch_setup};
use crate::text::{Text, inbox, setup as t};
use crate::ui::controls::{Icon, icon};

/// Returns the steps, each with whether it is done and its page. Without a site, those of a site lead to the
/// list of sites, where one is added.
fn steps(
    site: Option<&str>,
    setup: &SiteSetup,
    is_asked: bool,
    is_notified: bool,
) -> [(Text, bool, Page); 6] {
    let own = site.unwrap_or_default();
    let of_site = |path: &[&str]| Page::settings(if site.is_some() { path } else { &["sites"] });
    let code = site.map_or_else(|| of_site(&[]), Page::widget_code);
    let knows = setup.answers + setup.pages + setup.sources > 0;
    let is_team = setup.operators > 1 || setup.invitations > 0;
    [
        (t::STEP_ADDRESS, setup.has_address, of_site(&["site", own])),
        (t::STEP_CODE, setup.page_last_seen_at.is_some(), code),
        (t::STEP_ANSWERS, knows, of_site(&["knowledge", own])),
        (t::STEP_ASK, is_asked, of_site(&["knowledge", own, "ask"])),
        (t::STEP_TEAM, is_team, Page::settings(&["team"])),
        (t::STEP_NOTIFY, is_notified, Page::Account),
    ]
}

/// The steps, until the workspace has a conversation or the operator hides them; for others, the empty list.
#[component]
pub fn FirstSteps() -> impl IntoView {
    let app = app();
    let hidden = ["setup.hidden.", &app.session.my_id()].concat();
    let is_hidden =
        RwSignal::new(!untrack(|| app.session.me()).is_admin() || storage::read(&hidden) == Some(true));
    let site = Memo::new(move |_| app.directory.sites().read().first().map(|site| site.id.clone()));
    let setup = watch_setup(Signal::derive(move || site.get().filter(|_| !is_hidden.get())));
    let hide = move |_| {
        storage::write(&hidden, &true);
        is_hidden.set(true);
        // The button that had it is gone.
        browser::focus("conversations");
    };
    let hide = StoredValue::new_local(hide);
    // The directory is loaded once it has the operator's own team.
    let has_no_site = move || site.read().is_none() && !app.directory.team().read().is_empty();
    move || {
        let known = setup.get().or_else(|| has_no_site().then(SiteSetup::default));
        let known = known.filter(|known| !is_hidden.get() && !known.has_conversations);
        let Some(known) = known else {
            return view! { <p class="empty">{inbox::NO_CONVERSATIONS.get()}</p> }.into_any();
        };
        let is_notified = app.alerts.permission().get() == Permission::Granted;
        let steps = steps(site.read().as_deref(), &known, was_assistant_asked(), is_notified);
        let rows = steps.map(|(text, is_done, page)| {
            view! {
                <li class:is-done=is_done>
                    <a href=page.href()>{text.get()}</a>
                    {is_done.then(|| view! { {icon(Icon::Check)}<span class="for-readers">{t::STEP_DONE.get()}</span> })}
                </li>
            }
        });
        view! {
            <div class="first-steps">
                <h2>{t::STEPS.get()}</h2>
                <ol>{rows}</ol>
                <button type="button" class="quiet" on:click=move |event| hide.with_value(|hide| hide(event))>
                    {t::HIDE.get()}
                </button>
            </div>
        }
        .into_any()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_done_once_its_fact_is_true() {
        let done = |setup: &SiteSetup| steps(Some("s"), setup, false, true).map(|(_, is_done, _)| is_done);
        let alone = SiteSetup { operators: 1, ..SiteSetup::default() };
        assert_eq!(done(&alone), [false, false, false, false, false, true]);
        let setup = SiteSetup {
            has_address: true,
            page_last_seen_at: Some("2026-11-28T12:00:00Z".to_owned()),
            sources: 1,
            invitations: 1,
            ..alone
        };
        assert_eq!(done(&setup), [true, true, true, false, true, true]);
        assert!(done(&SiteSetup { operators: 2, ..SiteSetup::default() })[4]);
    }

    #[test]
    fn the_steps_of_a_site_lead_to_it_and_without_one_to_the_list_of_sites() {
        let hrefs = |site| steps(site, &SiteSetup::default(), false, false).map(|(_, _, page)| page.href());
        let [address, code, answers, ask, team, account] = hrefs(Some("site_1"));
        assert_eq!(address, "/console/settings/site/site_1");
        assert_eq!(code, "/console/settings/widget/site_1?part=code");
        assert_eq!(
            [answers, ask].map(|href| href.replace("/console/settings/knowledge/", "")),
            ["site_1", "site_1/ask"]
        );
        assert_eq!([team, account], ["/console/settings/team", "/console/account"]);
        assert_eq!(hrefs(None)[..4], ["/console/settings/sites"; 4]);
    }
}
