//! When replies are mailed: not if they were seen, after the wait, together, and at most once.

use super::*;
use crate::databases::{Kind, on_both_databases};
use crate::notify::notify_tests::in_time;
use crate::notify::notify_tests::number;
use crate::notify::notify_tests::smtp::Behaviour;

on_both_databases! {
    async fn a_reply_that_was_not_seen_is_mailed_once_after_the_wait(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "We do, for 9 euros.", now_ms).await;
        assert_eq!(send_due(&service, now_ms + WAIT_MS - 1).await, Some(now_ms + WAIT_MS));
        assert!(server.mails().is_empty());
        assert_eq!(send_due(&service, now_ms + WAIT_MS).await, None);
        assert_eq!(send_due(&service, now_ms + 10 * WAIT_MS).await, None);
        assert_eq!(server.mails().len(), 1);
        assert_eq!(server.mails()[0].recipients, ["<clara@home.example>"]);
        assert_eq!(told(&service, &id).await, [("mailed".to_owned(), Some("clara@home.example".to_owned()))]);
    }

    async fn replies_of_one_wait_are_one_email_and_a_later_one_another(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        for second in 0..5 {
            reply(&service, "site_a", &id, &format!("Part {second}."), now_ms + second * 10_000).await;
        }
        assert_eq!(send_due(&service, now_ms + WAIT_MS).await, None);
        let mails = server.mails();
        assert_eq!(mails.len(), 1);
        assert!((0..5).all(|part| mails[0].text().contains(&format!("Part {part}."))), "{}", mails[0].text());
        reply(&service, "site_a", &id, "And one more thing.", now_ms + 5 * MINUTE_MS).await;
        assert_eq!(send_due(&service, now_ms + 7 * MINUTE_MS).await, None);
        let mails = server.mails();
        assert_eq!(mails.len(), 2);
        assert!(mails[1].text().contains("And one more thing.") && !mails[1].text().contains("Part 4."));
        let first = mails[0].header("Message-ID");
        assert_eq!((mails[1].header("In-Reply-To"), mails[1].header("References")), (first.clone(), first));
        assert_eq!(mails[0].header("Subject"), mails[1].header("Subject"), "one thread");
    }

    async fn a_reply_that_was_seen_is_not_mailed(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let (seen, half) = (CLARA.writes(&service).await, CLARA.writes(&service).await);
        let now_ms = service.now_ms();
        for id in [&seen, &half] {
            reply(&service, "site_a", id, "First.", now_ms).await;
            reply(&service, "site_a", id, "Second.", now_ms + MINUTE_MS).await;
        }
        see(&service, &seen, 3).await;
        see(&service, &half, 2).await;
        let due_ms = now_ms + WAIT_MS;
        assert_eq!(send_due(&service, due_ms).await, Some(due_ms + MINUTE_MS), "the second one has its own wait");
        assert!(server.mails().is_empty());
        assert_eq!(send_due(&service, due_ms + MINUTE_MS).await, None);
        let mails = server.mails();
        assert_eq!(mails.len(), 1);
        assert!(mails[0].text().contains("Second.") && !mails[0].text().contains("First."));
        assert_eq!(told(&service, &seen).await, []);
    }

    async fn nothing_is_mailed_where_it_is_switched_off_without_an_address_or_long_after(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let now_ms = service.now_ms();
        let nobody = Visitor { email: " ", ..CLARA }.writes(&service).await;
        let late = CLARA.writes(&service).await;
        reply(&service, "site_a", &nobody, "Hello.", now_ms).await;
        reply(&service, "site_a", &late, "Hello.", now_ms - 25 * 60 * MINUTE_MS).await;
        let off = Visitor { site: "site_b", ..CLARA }.writes(&service).await;
        reply(&service, "site_b", &off, "Hello.", now_ms).await;
        execute(&service, "UPDATE sites SET mail_replies = 0 WHERE id = 'site_b'", args![]).await;
        assert_eq!(send_due(&service, now_ms + WAIT_MS).await, None);
        assert!(server.mails().is_empty());
        reply(&service, "site_b", &off, "Again.", now_ms).await;
        assert_eq!(number(&service, "SELECT count(*) FROM conversations WHERE mail_due_ms IS NOT NULL").await, 0);
    }

    async fn two_nodes_mail_each_reply_once(database: &TestDatabase) {
        let server = SmtpServer::start();
        let one = open(database, server.options()).await;
        // Only one process opens a file of SQLite: there, two workers of it compete.
        let other =
            if database.address.starts_with("postgres") { open(database, server.options()).await } else { one.clone() };
        let nodes = [one, other];
        let now_ms = nodes[0].now_ms();
        let mut ids = Vec::new();
        for number in 0..40 {
            let email = format!("visitor{number}@home.example");
            let id = Visitor { email: &email, ..CLARA }.writes(&nodes[number % 2]).await;
            reply(&nodes[number % 2], "site_a", &id, "Hello.", now_ms).await;
            ids.push(id);
        }
        let [one, other] = &nodes;
        tokio::join!(send_due(one, now_ms + WAIT_MS), send_due(other, now_ms + WAIT_MS));
        let mut recipients: Vec<String> = server.mails().iter().flat_map(|mail| mail.recipients.clone()).collect();
        recipients.sort();
        let count = recipients.len();
        recipients.dedup();
        assert_eq!((count, recipients.len()), (40, 40));
        for id in &ids {
            assert_eq!(told_names(one, id).await, ["mailed"]);
        }
    }

    async fn two_hundred_replies_are_mailed_at_most_once_over_bad_lines_by_killed_nodes(database: &TestDatabase) {
        let server = SmtpServer::start();
        server.behave(Behaviour { lost: 30, ..Behaviour::default() });
        let service = open(database, server.options()).await;
        let mut now_ms = service.now_ms();
        let mut ids = Vec::new();
        for number in 0..200 {
            let email = format!("visitor{number}@home.example");
            let id = Visitor { email: &email, ..CLARA }.writes(&service).await;
            reply(&service, "site_a", &id, "Hello.", now_ms).await;
            ids.push((id, format!("<{email}>")));
        }
        now_ms += WAIT_MS;
        let left = "SELECT (SELECT count(*) FROM conversations WHERE mail_due_ms IS NOT NULL)
                        + (SELECT count(*) FROM reply_mails WHERE status IN ('sending', 'waiting'))";
        let mut killed = 0;
        while number(&service, left).await > 0 {
            let mut node = worker::<ReplyQueue>(&service);
            let arrived = server.mails().len() + 5;
            tokio::select! {
                biased;
                () = server.wait_for(arrived), if killed < 20 => killed += 1,
                _ = drain(&mut node, now_ms) => {}
            }
            // A node that is dropped leaves what it was about to do.
            drop(node);
            now_ms += 3 * MINUTE_MS;
        }
        assert!(killed > 5, "{killed}");
        let mails = server.mails();
        let arrived = |recipient: &String| mails.iter().filter(|mail| mail.recipients.contains(recipient)).count();
        let (mut mailed, mut unknown) = (0, 0);
        for (id, recipient) in &ids {
            match told_names(&service, id).await.as_slice() {
                [name] if name == "mailed" => {
                    assert_eq!(arrived(recipient), 1, "{recipient}");
                    mailed += 1;
                }
                [name] if name == "mail_unknown" => {
                    assert!(arrived(recipient) <= 1, "{recipient}");
                    unknown += 1;
                }
                other => panic!("{recipient}: {other:?}"),
            }
        }
        println!("{killed} nodes killed: {mailed} mailed, {unknown} not known, {} arrived", mails.len());
        assert!(mailed > 60 && mailed + unknown == 200, "{mailed} {unknown}");
    }

    async fn what_a_killed_node_was_sending_is_not_sent_again(database: &TestDatabase) {
        let server = SmtpServer::start();
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "Hello.", now_ms).await;
        // The node dies between the claim and the server's answer, or between that and the database.
        let queue = <ReplyQueue as crate::queue_runner::Queue>::open(&service).expect("valid").expect("on");
        let (claimed, _) =
            crate::queue_runner::Queue::claim(&queue, now_ms + WAIT_MS, 4).await.expect("claimed");
        assert_eq!(claimed.len(), 1);
        assert_eq!(send_due(&service, now_ms + WAIT_MS + MINUTE_MS).await, None);
        assert_eq!(told(&service, &id).await, [], "its lease has not ended");
        assert_eq!(send_due(&service, now_ms + WAIT_MS + 2 * MINUTE_MS).await, None);
        assert_eq!(told_names(&service, &id).await, ["mail_unknown"]);
        // The node was only slow: what it stores now changes nothing.
        in_time(crate::queue_runner::Queue::send(std::sync::Arc::new(queue), claimed[0].clone(), now_ms))
            .await
            .expect("stored");
        assert_eq!(told_names(&service, &id).await, ["mail_unknown"]);
        assert_eq!(server.mails().len(), 1);
    }

    async fn an_email_without_an_answer_of_the_server_is_not_sent_again(database: &TestDatabase) {
        let server = SmtpServer::start();
        server.behave(Behaviour { hang_up: true, ..Behaviour::default() });
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "Hello.", now_ms).await;
        send_due(&service, now_ms + WAIT_MS).await;
        server.behave(Behaviour::default());
        assert_eq!(send_due(&service, now_ms + 60 * MINUTE_MS).await, None);
        assert_eq!(server.mails().len(), 1);
        assert_eq!(told_names(&service, &id).await, ["mail_unknown"]);
    }

    async fn a_postponed_email_is_tried_again_unless_the_visitor_has_seen_the_reply(database: &TestDatabase) {
        let server = SmtpServer::start();
        server.behave(Behaviour { data: Some("451 later"), ..Behaviour::default() });
        let service = open(database, server.options()).await;
        let (waits, returns) = (CLARA.writes(&service).await, CLARA.writes(&service).await);
        let now_ms = service.now_ms();
        reply(&service, "site_a", &waits, "Hello.", now_ms).await;
        reply(&service, "site_a", &returns, "Welcome back.", now_ms).await;
        let next_ms = send_due(&service, now_ms + WAIT_MS).await.expect("a retry");
        server.behave(Behaviour::default());
        see(&service, &returns, 2).await;
        assert_eq!(send_due(&service, next_ms).await, None);
        let mails = server.mails();
        assert_eq!(mails.len(), 1);
        assert!(mails[0].text().contains("Hello."));
        assert_eq!((told_names(&service, &waits).await, told(&service, &returns).await), (vec!["mailed".to_owned()], vec![]));
    }

    async fn a_refused_address_is_told_with_the_answer_of_the_server(database: &TestDatabase) {
        let server = SmtpServer::start();
        server.behave(Behaviour { refuse: Some(("clara@", "550 no such user")), ..Behaviour::default() });
        let service = open(database, server.options()).await;
        let id = CLARA.writes(&service).await;
        let now_ms = service.now_ms();
        reply(&service, "site_a", &id, "Hello.", now_ms).await;
        assert_eq!(send_due(&service, now_ms + WAIT_MS).await, None);
        let told = told(&service, &id).await;
        assert_eq!(told.len(), 1);
        assert!(told[0].0 == "mail_failed" && told[0].1.as_deref().is_some_and(|why| why.contains("550")), "{told:?}");
    }
}
