//! Presence: operators are there while their consoles are in use.

use chat_protocol::admin::{TeamMember, WorkingState};
use chat_service::SiteChange;
use chat_test_servers::at_once;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use crate::inbox::desk::{Desk, eventually};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};
use crate::support::{Caller, Client};

async fn is_online(desk: &Desk) -> bool {
    desk.client.get("/chat/presence").await.data()["operatorOnline"] == true
}

async fn state(desk: &Desk) -> WorkingState {
    let team: Vec<TeamMember> = desk.read("/team").await;
    team.into_iter().find(|member| member.id == desk.id).expect("the operator").state
}

fn preferences(availability: &str) -> Value {
    json!({ "availability": availability, "sound": true, "notifications": false, "quietHours": null })
}

on_both_databases! {
    async fn visitors_see_a_person_exactly_while_one_is_at_work(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        assert!(!is_online(&desk).await && state(&desk).await == WorkingState::Offline);
        let console = desk.open().await;
        assert!(is_online(&desk).await && state(&desk).await == WorkingState::Online);
        let path = format!("/stream/{}", console.id);
        desk.put(&path, &json!({ "idle": true })).await.data();
        assert!(!is_online(&desk).await && state(&desk).await == WorkingState::Away);
        // One console in use is enough.
        let second = desk.open().await;
        assert!(is_online(&desk).await && state(&desk).await == WorkingState::Online);
        drop(second);
        eventually("away again", async || !is_online(&desk).await).await;
        desk.put(&path, &json!({ "idle": false })).await.data();
        assert!(is_online(&desk).await);
        drop(console);
        eventually("offline", async || !is_online(&desk).await).await;
        assert_eq!(state(&desk).await, WorkingState::Offline);
    }

    async fn pages_learn_neither_the_tenant_nor_how_many_work_there(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let other = Client::of(desk.client.service.clone(), SiteChange::default()).await;
        let directory = desk.client.service.directory();
        let sister = directory.create_site(&desk.client.site.tenant_id, "Sister", SiteChange::default()).await;
        let token = directory.create_token(&sister.expect("a site").id, "test", None).await.expect("a token");
        let sister = Caller::new(desk.client.service.router(), token.secret.expose_secret());
        let seen = async |caller: &Caller, path: &str| caller.get(path).await.data();
        assert_eq!(seen(&desk.client, "/chat/presence").await["operatorActiveSessions"], 0);
        let _consoles = [desk.open().await, ben.open().await, ben.open().await];
        let presence = seen(&desk.client, "/chat/presence").await;
        assert_eq!(presence["operatorActiveSessions"], 1);
        let config = seen(&desk.client, "/chat/config").await;
        assert_eq!(config["tenantId"], presence["tenantId"]);
        assert_eq!(config["siteId"], desk.client.site.id);
        assert!(!format!("{config}{presence}").contains(&desk.client.site.tenant_id));
        for elsewhere in [&sister, &other] {
            assert_ne!(seen(elsewhere, "/chat/config").await["tenantId"], config["tenantId"]);
        }
        // Of the same tenant, whose people work for both sites.
        assert_eq!(seen(&sister, "/chat/presence").await["operatorActiveSessions"], 1);
    }

    async fn an_operator_has_100_consoles_at_most_and_takes_none_of_others(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let mut open = Vec::new();
        for _ in 0..95 {
            open.push(desk.open().await);
        }
        let attempts = at_once(20, |_| {
            let desk = desk.clone();
            async move { desk.try_open().await }
        });
        let (opened, refused): (Vec<_>, Vec<_>) =
            attempts.await.into_iter().partition(|answer| answer.status() == 200);
        assert_eq!((opened.len(), refused.len()), (5, 15));
        assert!(refused.iter().all(|answer| answer.status() == 429));
        ben.open().await;
        drop(open.pop());
        eventually("a place", async || desk.try_open().await.status() == 200).await;
    }

    async fn operators_can_say_that_they_are_not_there(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let _console = desk.open().await;
        for (availability, shown) in [
            ("away", WorkingState::Away),
            ("offline", WorkingState::Offline),
            ("automatic", WorkingState::Online),
        ] {
            desk.put("/preferences", &preferences(availability)).await.data();
            assert_eq!(state(&desk).await, shown, "{availability}");
            assert_eq!(is_online(&desk).await, shown == WorkingState::Online, "{availability}");
        }
    }

    async fn colleagues_hear_who_comes_and_leaves(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let mut console = desk.open().await;
        let is_ben = |state: &'static str| {
            let id = ben.id.clone();
            move |event: &crate::inbox::desk::Event| {
                let team = event.data.as_array().filter(|_| event.name == "team");
                team.is_some_and(|team| team.iter().any(|member| member["id"] == id.as_str() && member["state"] == state))
            }
        };
        let his = ben.open().await;
        console.until(is_ben("online")).await;
        ben.put(&format!("/stream/{}", his.id), &json!({ "idle": true })).await.data();
        console.until(is_ben("away")).await;
        drop(his);
        console.until(is_ben("offline")).await;
    }

    async fn a_console_is_reported_idle_by_its_own_operator_only(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let console = desk.open().await;
        let idle = json!({ "idle": true });
        assert_eq!(ben.put(&format!("/stream/{}", console.id), &idle).await.status, 404);
        assert_eq!(desk.put("/stream/console_0", &idle).await.status, 404);
        assert!(is_online(&desk).await);
    }

    async fn a_disabled_operator_is_not_there_and_their_stream_ends(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let ben = desk.invite("Ben", "agent").await;
        let mut console = ben.open().await;
        assert!(is_online(&desk).await);
        desk.patch(&format!("/operators/{}", ben.id), &json!({ "disabled": true })).await.data();
        console.ends().await;
        assert!(!is_online(&desk).await);
        let team: Vec<TeamMember> = desk.read("/team").await;
        assert!(team.iter().all(|member| member.id != ben.id));
    }
}
