//! Many consoles of one tenant at one node.

use serde_json::json;

use crate::inbox::desk::{Console, Desk};
use crate::support::databases::{Kind, TestDatabase, on_both_databases};

const CONSOLES: usize = 500;

on_both_databases! {
    async fn a_message_reaches_500_consoles(database: &TestDatabase) {
        let desk = Desk::new(database).await;
        let mut consoles: Vec<Console> = Vec::new();
        for _ in 0..CONSOLES {
            consoles.push(desk.open().await);
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
