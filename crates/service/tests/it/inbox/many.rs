//! Many consoles of one tenant at one node.

use serde_json::json;

use crate::inbox::desk::{Console, Desk};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

/// The consoles of each operator, which is the maximum.
const CONSOLES: usize = 100;

on_both_databases! {
    async fn a_message_reaches_500_consoles(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut consoles: Vec<Console> = Vec::new();
        let agents = [desk.invite("Ben", "agent").await, desk.invite("Cem", "agent").await];
        let more = [desk.invite("Dora", "agent").await, desk.invite("Emil", "agent").await];
        for operator in std::iter::once(&desk).chain(&agents).chain(&more) {
            for _ in 0..CONSOLES {
                consoles.push(operator.open().await);
            }
        }
        for number in 0..10 {
            let text = format!("message {number}");
            desk.client.begin(&text).await;
            for console in &mut consoles {
                console.message(&text).await;
            }
        }
        let answer = desk.put(&format!("/stream/{}", consoles[0].id), &json!({ "idle": true })).await;
        assert_eq!(answer.status, 200);
    }
}
