//! The first steps of a site, as far as they are done.

use chat_protocol::admin::settings::{RefusedOrigin, SiteSetup};

use super::refused;
use crate::Service;
use crate::clock::iso;
use crate::db::args;
use crate::error::ApiError;
use crate::sites::Site;

/// Returns the state of a site's first steps. Consoles ask for it every few seconds, so that the count of
/// pages is bounded.
pub(crate) async fn steps(service: &Service, site: &Site) -> Result<SiteSetup, ApiError> {
    let now_ms = service.now_ms();
    let sql = "SELECT s.page_first_seen_ms, s.page_last_seen_ms, s.refused_origins,
            (SELECT count(*) FROM answers WHERE site_id = s.id),
            (SELECT count(*) FROM (SELECT 1 FROM content WHERE site_id = $1 LIMIT 1000) AS counted),
            (SELECT count(*) FROM sources WHERE site_id = s.id),
            (SELECT count(*) FROM operators WHERE tenant_id = s.tenant_id AND disabled_ms IS NULL),
            (SELECT count(*) FROM invitations WHERE tenant_id = s.tenant_id AND operator_id IS NULL
                 AND used_ms IS NULL AND expires_ms > $2),
            CAST(CASE WHEN EXISTS (SELECT 1 FROM conversations c JOIN sites o ON o.id = c.site_id
                 WHERE o.tenant_id = s.tenant_id AND o.deleted_ms IS NULL) THEN 1 ELSE 0 END AS BIGINT)
        FROM sites s WHERE s.id = $1";
    let row = service.db().one(sql, args![&site.id, now_ms]).await?;
    let mut refused = refused::read(&row.text(2)?, now_ms);
    refused.retain(|refused| !site.allowed_origins.contains(&refused.origin));
    refused.sort_by_key(|refused| std::cmp::Reverse(refused.last_ms));
    let shown = |refused: refused::Refused| RefusedOrigin {
        origin: refused.origin,
        count: refused.count,
        last_at: iso(refused.last_ms),
    };
    Ok(SiteSetup {
        has_address: !site.allowed_origins.is_empty() || site.domain.is_some(),
        page_first_seen_at: row.optional_int(0)?.map(iso),
        page_last_seen_at: row.optional_int(1)?.map(iso),
        refused_origins: refused.into_iter().map(shown).collect(),
        answers: row.int(3)?,
        pages: row.int(4)?,
        sources: row.int(5)?,
        operators: row.int(6)?,
        invitations: row.int(7)?,
        has_conversations: row.flag(8)?,
    })
}
