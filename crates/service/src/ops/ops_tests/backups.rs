//! Tests of backups and of putting them back.

use std::fs;
use std::path::{Path, PathBuf};

use super::{add_tenant, open, tenants};
use crate::databases::{Kind, TestDatabase};
use crate::ops::{BackupError, backup, restore};
use crate::{OpenError, ServiceKey};

fn beside(database: &TestDatabase, name: &str) -> PathBuf {
    Path::new(&database.address).with_file_name(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_taken_while_others_write_is_whole_and_can_be_put_back() {
    let (database, key) = (TestDatabase::new(Kind::Sqlite).await, ServiceKey::random());
    let service = open(&database, &key).await.expect("opened");
    add_tenant(service.db(), "before").await;
    let writer = {
        let service = service.clone();
        tokio::spawn(async move {
            for number in 0..300 {
                add_tenant(service.db(), &format!("t{number:03}")).await;
            }
        })
    };
    let file = beside(&database, "backup.db");
    let copied = backup(&database.address, &file).await.expect("copied");
    writer.await.expect("the writer was not disturbed");
    assert_eq!(copied.bytes, fs::metadata(&file).expect("a file").len());
    let expected = tenants(service.db()).await;
    assert_eq!(expected.len(), 301);

    let in_use = restore(&file, &database.address, true).await.expect_err("the service runs");
    assert!(matches!(in_use, BackupError::Open(OpenError::InUse(_))), "{in_use}");
    service.close().await;
    drop(service);
    // The lock is free when the writer has ended.
    let occupied = loop {
        match restore(&file, &database.address, false).await {
            Err(BackupError::Open(OpenError::InUse(_))) => tokio::task::yield_now().await,
            refused => break refused.expect_err("there is data"),
        }
    };
    assert!(matches!(occupied, BackupError::Occupied(_)), "{occupied}");
    let kept = restore(&file, &database.address, true).await.expect("put back").expect("kept");
    let service = open(&database, &key).await.expect("opened");
    let restored = tenants(service.db()).await;
    assert!(restored.contains(&"before".to_owned()));
    assert!(expected.starts_with(&restored), "a backup is a moment: {} of 301", restored.len());
    service.close().await;
    // The old file has everything, also what was in its log.
    fs::copy(&kept, beside(&database, "old.db")).expect("copied");
    let old = backup(kept.to_str().expect("UTF-8"), &beside(&database, "again.db")).await.expect("whole");
    assert!(old.version > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_files_that_are_no_backup_and_leaves_the_data_alone() {
    let (database, key) = (TestDatabase::new(Kind::Sqlite).await, ServiceKey::random());
    let service = open(&database, &key).await.expect("opened");
    add_tenant(service.db(), "mine").await;
    let good = beside(&database, "good.db");
    backup(&database.address, &good).await.expect("copied");
    service.close().await;
    drop(service);
    let bytes = fs::read(&good).expect("a file");
    let cut_off = &bytes[..bytes.len() / 2];
    let file = beside(&database, "bad.db");
    for (content, what) in [(&b""[..], "empty"), (b"somebody's notes", "text"), (cut_off, "cut off")] {
        fs::write(&file, content).expect("written");
        let refused = restore(&file, &database.address, true).await.expect_err(what);
        assert!(matches!(refused, BackupError::Damaged { .. }), "{what}: {refused}");
    }
    assert!(restore(&beside(&database, "none.db"), &database.address, true).await.is_err());
    let service = open(&database, &key).await.expect("opened");
    assert_eq!(tenants(service.db()).await, ["mine"]);
}

#[tokio::test]
async fn refuses_a_missing_database_and_postgres() {
    let folder = tempfile::tempdir().expect("a folder");
    let (missing, file) = (folder.path().join("none.db"), folder.path().join("backup.db"));
    let refused = backup(missing.to_str().expect("UTF-8"), &file).await.expect_err("there is none");
    assert!(matches!(refused, BackupError::Open(OpenError::Missing(_))), "{refused}");
    let refused = backup("postgres://localhost/chat", &file).await.expect_err("other programs do that");
    assert!(matches!(refused, BackupError::Postgres));
    assert!(!missing.exists() && !file.exists());
}
