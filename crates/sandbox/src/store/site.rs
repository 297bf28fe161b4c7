//! The activated site (4.2).

use chat_protocol::{Activation, Value};
use rusqlite::{OptionalExtension, params};

use super::{Store, json};

/// A site, as described by its activation.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) domain: String,
    pub(crate) platform: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) primary_locale: Option<String>,
    /// An array of language tags.
    pub(crate) supported_locales: Value,
    pub(crate) activated_at: String,
}

impl Store {
    pub(crate) fn site(&self) -> rusqlite::Result<Option<Site>> {
        let mut site = self.db.prepare_cached(
            "SELECT domain, platform, name, primary_locale, supported_locales, activated_at FROM site",
        )?;
        let read = |row: &rusqlite::Row<'_>| {
            let supported_locales: String = row.get(4)?;
            Ok(Site {
                domain: row.get(0)?,
                platform: row.get(1)?,
                name: row.get(2)?,
                primary_locale: row.get(3)?,
                supported_locales: json(&supported_locales),
                activated_at: row.get(5)?,
            })
        };
        site.query_row([], read).optional()
    }

    /// Stores the activated site; a later activation replaces it.
    pub(crate) fn activate(&self, body: &Activation) -> rusqlite::Result<()> {
        let locales: Value = body.supported_locales.iter().map(String::as_str).collect();
        self.db.execute(
            "INSERT OR REPLACE INTO site VALUES (1, ?, ?, ?, ?, ?, ?)",
            params![
                body.domain,
                body.platform,
                body.site_name,
                body.primary_locale,
                locales.to_string(),
                self.clock.now()
            ],
        )?;
        Ok(())
    }
}
