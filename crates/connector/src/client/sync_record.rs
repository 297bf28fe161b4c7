//! Records which items the service has, so that a sync that would remove many of them is refused before it
//! starts.
//!
//! The contract has no way to ask what a complete snapshot would remove. The names of pushed items are
//! therefore stored in a state folder. If the service reports its number of items (`contentItems`), that is
//! used as well.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::{Path, PathBuf};

use chat_protocol::{ContentItem, Fields, Value};
use uuid::Uuid;

use super::ServerConnectorClient;
use super::error::ConnectorError;
use crate::printable::Printable;
use crate::private_file;

/// Maximum removals without confirmation, if they are at most half of all items.
const MAX_UNCONFIRMED_REMOVALS: u64 = 10;
/// Minimum removals that need confirmation.
const MIN_CONFIRMED_REMOVALS: u64 = 3;

/// Identifies an item: its kind, its `externalId` and its locale.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ItemName {
    kind: String,
    external_id: String,
    locale: String,
}

impl ItemName {
    /// Returns the name without the locale.
    fn id(&self) -> (&str, &str) {
        (&self.kind, &self.external_id)
    }
}

impl From<&ContentItem> for ItemName {
    fn from(item: &ContentItem) -> Self {
        Self {
            kind: item.kind.as_str().to_owned(),
            external_id: item.external_id.clone(),
            locale: item.locale.clone().unwrap_or_default(),
        }
    }
}

impl Display for ItemName {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}", Printable(&self.kind), Printable(&self.external_id))?;
        if self.locale.is_empty() { Ok(()) } else { write!(out, " ({})", Printable(&self.locale)) }
    }
}

/// The removals of a sync cannot be determined.
#[derive(Debug, thiserror::Error)]
pub enum SyncRecordError {
    /// The site's status cannot be read.
    #[error(transparent)]
    Service(#[from] ConnectorError),
    /// The record cannot be read or written.
    #[error("cannot read or write {}: {source}; set another --state, or remove the file to start anew", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

/// The names of the items that were pushed for a site.
#[derive(Debug)]
pub struct SyncRecord {
    file: PathBuf,
    known: BTreeSet<ItemName>,
    /// The number of items that the service reports, if it does.
    at_service: Option<u64>,
}

/// The effect of a sync, determined in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyncPlan {
    /// The items that are pushed.
    pub pushed: Vec<ItemName>,
    /// The items that the service removes, as far as their names are known.
    pub removed: Vec<ItemName>,
    /// The number of items that the service removes. Higher than the number of names if other machines have
    /// pushed items.
    pub removals: u64,
    /// The number of items that the service has.
    pub known: u64,
    is_complete: bool,
}

/// A sync that would remove too many items.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooManyRemovals {
    /// The sync has no items at all.
    #[error(
        "nothing to sync: an empty snapshot would remove all content. Check the folder or the file; to remove all \
         content: --allow-removals {removals}"
    )]
    Everything {
        /// The number of items that would be removed.
        removals: u64,
    },
    /// The sync lacks many of the service's items.
    #[error(
        "the sync would remove {removals} of the service's {known} items. Check the folder or the file; to remove them: \
         --allow-removals {removals}; if the items are not complete: --partial"
    )]
    Many {
        /// The number of items that would be removed.
        removals: u64,
        /// The number of items that the service has.
        known: u64,
    },
}

impl ServerConnectorClient {
    /// Opens the record of this site in a state folder; it is empty before the first sync. Requests the
    /// site's status for the site's id and its number of items.
    pub async fn sync_record(&self, state: &Path) -> Result<SyncRecord, SyncRecordError> {
        let status = self.get_site_status().await?;
        let at_service = match status.extra.get("contentItems") {
            Some(Value::Integer(count)) => u64::try_from(*count).ok(),
            _ => None,
        };
        let site = format!("{} {}", self.exchange.origin(), status.site_id.unwrap_or_default());
        let name = Uuid::new_v5(&Uuid::NAMESPACE_OID, site.as_bytes()).simple().to_string();
        SyncRecord::open(state.join(format!("synced-{name}.json")), at_service)
    }
}

impl SyncRecord {
    fn open(file: PathBuf, at_service: Option<u64>) -> Result<Self, SyncRecordError> {
        let known = match std::fs::read(&file) {
            Ok(bytes) => names(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeSet::new()),
            Err(error) => Err(error),
        };
        match known {
            Ok(known) => Ok(Self { file, known, at_service }),
            Err(source) => Err(SyncRecordError::File { file, source }),
        }
    }

    /// Returns the effect of a sync of these items. Items marked as deleted do not count as removals.
    pub fn plan(&self, items: &[ContentItem], is_complete: bool) -> SyncPlan {
        let named: BTreeSet<ItemName> = items.iter().map(ItemName::from).collect();
        let pushed: Vec<_> = items.iter().filter(|item| !item.deleted).map(ItemName::from).collect();
        let (mut removed, mut removals) = (Vec::new(), 0);
        if is_complete {
            // An item that is pushed with a language for the first time replaces the one without.
            let ids: BTreeSet<_> = named.iter().map(ItemName::id).collect();
            let is_renamed = |name: &&ItemName| name.locale.is_empty() && ids.contains(&name.id());
            removed.extend(self.known.difference(&named).filter(|name| !is_renamed(name)).cloned());
            let unnamed = self.at_service.unwrap_or(0).saturating_sub(named.len() as u64);
            removals = unnamed.max(removed.len() as u64);
        }
        let known = self.at_service.unwrap_or(0).max(self.known.len() as u64);
        SyncPlan { pushed, removed, removals, known, is_complete }
    }

    /// Records that a sync of these items begins: from now on the service may have them.
    pub fn begin(&mut self, items: &[ContentItem]) -> Result<(), SyncRecordError> {
        self.known.extend(items.iter().filter(|item| !item.deleted).map(ItemName::from));
        self.write()
    }

    /// Records that a sync has ended: after a complete one the service has these items and no others.
    pub fn finish(&mut self, items: &[ContentItem], is_complete: bool) -> Result<(), SyncRecordError> {
        if is_complete {
            self.known.clear();
        }
        for item in items {
            let name = ItemName::from(item);
            if item.deleted {
                self.known.remove(&name);
            } else {
                self.known.insert(name);
            }
        }
        self.write()
    }

    fn write(&self) -> Result<(), SyncRecordError> {
        let name = |name: &ItemName| {
            Value::List(vec![
                name.kind.as_str().into(),
                name.external_id.as_str().into(),
                name.locale.as_str().into(),
            ])
        };
        let record = Value::object([("items", Value::List(self.known.iter().map(name).collect()))]);
        private_file::write(&self.file, record.to_string().as_bytes())
            .map_err(|source| SyncRecordError::File { file: self.file.clone(), source })
    }
}

impl SyncPlan {
    /// Fails if the sync removes more items than `allowed`. Without `allowed`, fails if it removes more than
    /// 10 items and a fifth of all, at least 3 items and more than half of all, or everything.
    pub fn check(&self, allowed: Option<u64>) -> Result<(), TooManyRemovals> {
        let (removals, known) = (self.removals, self.known);
        if !self.is_complete || allowed.is_some_and(|allowed| removals <= allowed) {
            return Ok(());
        }
        if self.pushed.is_empty() {
            return Err(TooManyRemovals::Everything { removals });
        }
        let is_much = removals > MAX_UNCONFIRMED_REMOVALS && removals > known / 5;
        let is_most = removals >= MIN_CONFIRMED_REMOVALS && removals > known / 2;
        if allowed.is_some() || is_much || is_most {
            return Err(TooManyRemovals::Many { removals, known });
        }
        Ok(())
    }
}

/// Parses the names of a record.
fn names(bytes: &[u8]) -> io::Result<BTreeSet<ItemName>> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut fields = Fields::of(serde_json::from_slice(bytes)?).map_err(io::Error::other)?;
    let items = fields.list("items").map_err(io::Error::other)?;
    let name = |item: Value| match item {
        Value::List(parts) => match <[Value; 3]>::try_from(parts) {
            Ok([Value::Text(kind), Value::Text(external_id), Value::Text(locale)]) => {
                Ok(ItemName { kind, external_id, locale })
            }
            _ => Err(invalid()),
        },
        _ => Err(invalid()),
    };
    items.into_iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use chat_protocol::ContentKind;

    fn items(names: impl IntoIterator<Item = u64>) -> Vec<ContentItem> {
        names.into_iter().map(|name| ContentItem::new(name.to_string(), ContentKind::Page)).collect()
    }

    fn record(directory: &Path, at_service: Option<u64>) -> SyncRecord {
        SyncRecord::open(directory.join("state/synced.json"), at_service).expect("a record")
    }

    #[test]
    fn an_item_that_gains_a_language_is_not_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut record = record(directory.path(), None);
        record.finish(&items(0..10), true).expect("written");
        let with_language = |item: ContentItem| ContentItem { locale: Some("de".to_owned()), ..item };
        let plan = record.plan(&items(0..8).into_iter().map(with_language).collect::<Vec<_>>(), true);
        assert_eq!((plan.removals, plan.removed.len()), (2, 2));
    }

    #[test]
    fn plans_removals_from_the_previous_sync() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut first = record(directory.path(), None);
        assert_eq!(first.plan(&items(0..100), true).check(None), Ok(()), "nothing is known of a first sync");
        first.begin(&items(0..100)).expect("written");
        first.finish(&items(0..100), true).expect("written");
        let again = record(directory.path(), None);
        for (remaining, refused) in [(100, false), (90, false), (80, false), (79, true), (1, true)] {
            let plan = again.plan(&items(0..remaining), true);
            assert_eq!((plan.removals, plan.known), (100 - remaining, 100));
            assert_eq!(plan.check(None).is_err(), refused, "{remaining} of 100 are left");
            assert_eq!(plan.check(Some(100 - remaining)), Ok(()));
            assert_eq!(plan.check(Some(99 - remaining.min(99))).is_err(), remaining < 100);
            assert_eq!(again.plan(&items(0..remaining), false).check(None), Ok(()), "a part removes nothing");
        }
        let removed = again.plan(&items(2..100), true).removed;
        assert_eq!(removed.iter().map(ToString::to_string).collect::<Vec<_>>(), ["page 0", "page 1"]);
    }

    #[test]
    fn refuses_to_remove_most_of_a_small_site() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut small = record(directory.path(), None);
        small.finish(&items(0..8), true).expect("written");
        assert_eq!(
            small.plan(&items(7..12), true).check(None),
            Err(TooManyRemovals::Many { removals: 7, known: 8 })
        );
        assert_eq!(small.plan(&items(2..8), true).check(None), Ok(()));
        assert_eq!(small.plan(&[], true).check(None), Err(TooManyRemovals::Everything { removals: 8 }));
        assert_eq!(small.plan(&[], true).check(Some(8)), Ok(()));
    }

    #[test]
    fn uses_the_services_number_of_items() {
        let directory = tempfile::tempdir().expect("a directory");
        let plan = record(directory.path(), Some(500)).plan(&items(0..3), true);
        assert_eq!((plan.removals, plan.removed.len()), (497, 0));
        assert!(plan.check(None).is_err());
        assert_eq!(record(directory.path(), Some(3)).plan(&items(0..3), true).check(None), Ok(()));
    }

    #[test]
    fn deleted_items_are_not_removals_and_are_forgotten() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut record = record(directory.path(), None);
        record.finish(&items(0..20), true).expect("written");
        let mut deleted = items(0..20);
        for item in &mut deleted[..15] {
            item.deleted = true;
        }
        let plan = record.plan(&deleted, true);
        assert_eq!((plan.removals, plan.check(None)), (0, Ok(())));
        record.finish(&deleted, true).expect("written");
        assert_eq!(record.plan(&[], true).removals, 5);
    }

    #[test]
    fn an_interrupted_sync_counts_as_pushed_but_not_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let mut stopped = record(directory.path(), None);
        stopped.finish(&items(0..10), true).expect("written");
        stopped.begin(&items(10..20)).expect("written");
        assert_eq!(record(directory.path(), None).plan(&[], true).removals, 20);
    }

    #[test]
    fn refuses_a_damaged_record() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("synced.json");
        for text in ["", "{", "{\"items\":[[1]]}", "{\"items\":7}"] {
            std::fs::write(&file, text).expect("written");
            assert!(SyncRecord::open(file.clone(), None).is_err(), "{text}");
        }
    }
}
