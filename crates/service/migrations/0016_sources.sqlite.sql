-- Content beside a site's sync: websites that the service reads itself (decision 0057).

CREATE TABLE sources (
    id TEXT NOT NULL PRIMARY KEY,
    site_id TEXT NOT NULL REFERENCES sites (id) ON DELETE CASCADE,
    -- The address of a website or a sitemap.
    address TEXT NOT NULL,
    max_pages BIGINT NOT NULL,
    -- off, daily or weekly.
    refresh TEXT NOT NULL,
    created_ms BIGINT NOT NULL,
    -- A removed source is no longer listed; its pages go little by little.
    deleted_ms BIGINT,
    -- waiting, reading, read or failed.
    state TEXT NOT NULL,
    -- The part of a run that is next: discover, sitemaps, read, check or store.
    phase TEXT NOT NULL DEFAULT 'discover',
    problem TEXT,
    -- The number of the last run.
    run BIGINT NOT NULL DEFAULT 0,
    -- 1 if the run finds pages by links, 0 if it has a sitemap.
    follows_links BIGINT NOT NULL DEFAULT 1,
    -- 1 if a part of the website could not be read in the run, so that nothing is known of unlinked pages.
    is_partial BIGINT NOT NULL DEFAULT 0,
    started_ms BIGINT,
    -- The time that workers have spent on the run.
    active_ms BIGINT NOT NULL DEFAULT 0,
    read_ms BIGINT,
    -- Since when the website answers as if most of its pages were gone.
    failing_since_ms BIGINT,
    -- When there is something to do; NULL for never.
    due_ms BIGINT,
    -- When a worker last took it, by which tenants take turns.
    turn_ms BIGINT NOT NULL DEFAULT 0,
    lease TEXT,
    lease_until_ms BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sources_by_site ON sources (site_id);
CREATE INDEX sources_due ON sources (due_ms) WHERE due_ms IS NOT NULL;

-- The addresses that a source has found: the queue of a run, and what came of each.
CREATE TABLE source_pages (
    no {{id}},
    source_id TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
    site_id TEXT NOT NULL,
    address TEXT NOT NULL,
    -- A hash of the normalised address.
    address_key TEXT NOT NULL,
    -- The last run that found it.
    run BIGINT NOT NULL,
    -- The last run that asked whether it still exists, although nothing led to it.
    checked BIGINT NOT NULL DEFAULT 0,
    -- queued, read, skipped or moved; sitemap for one that is to be read.
    state TEXT NOT NULL,
    reason TEXT,
    attempts BIGINT NOT NULL DEFAULT 0,
    -- The key of the address that the page has moved to for good.
    moved_to TEXT,
    -- The runs in a row in which it was missed, the time of the first, and the number of the last.
    missed BIGINT NOT NULL DEFAULT 0,
    missed_since_ms BIGINT,
    missed_run BIGINT NOT NULL DEFAULT 0,
    etag TEXT,
    modified TEXT,
    -- The lines and the links of the page, compressed.
    page {{bytes}},
    -- A hash of the content that was made of it; NULL if there is none.
    stored TEXT,
    UNIQUE (source_id, address_key)
);
CREATE INDEX source_pages_by_state ON source_pages (source_id, state, no);
CREATE INDEX source_pages_by_site ON source_pages (site_id);

-- One request at a time for each host, from all nodes, with a pause between two.
CREATE TABLE crawl_hosts (
    host TEXT NOT NULL PRIMARY KEY,
    lease TEXT NOT NULL,
    until_ms BIGINT NOT NULL,
    next_ms BIGINT NOT NULL
);

-- The source's page that an item was made of; NULL for an item of the sync.
ALTER TABLE content ADD COLUMN source_page BIGINT REFERENCES source_pages (no) ON DELETE CASCADE;
-- Hashes of the item's normalised address, and of its path alone.
ALTER TABLE content ADD COLUMN address_key TEXT;
ALTER TABLE content ADD COLUMN path_key TEXT;
CREATE INDEX content_by_source_page ON content (source_page) WHERE source_page IS NOT NULL;
CREATE INDEX content_by_address ON content (site_id, address_key) WHERE address_key IS NOT NULL;
CREATE INDEX content_by_path ON content (site_id, path_key) WHERE path_key IS NOT NULL;

-- Counted as in step 9.
CREATE TRIGGER source_pages_added AFTER INSERT ON source_pages BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, 500 + octet_length(new.address) + coalesce(octet_length(new.page), 0))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER source_pages_removed AFTER DELETE ON source_pages BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (old.site_id, -(500 + octet_length(old.address) + coalesce(octet_length(old.page), 0)))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
CREATE TRIGGER source_pages_changed AFTER UPDATE OF address, page ON source_pages
    WHEN octet_length(old.address) <> octet_length(new.address)
        OR coalesce(octet_length(old.page), 0) <> coalesce(octet_length(new.page), 0) BEGIN
    INSERT INTO storage (site_id, bytes)
        VALUES (new.site_id, octet_length(new.address) - octet_length(old.address)
            + coalesce(octet_length(new.page), 0) - coalesce(octet_length(old.page), 0))
    ON CONFLICT (site_id) DO UPDATE SET bytes = storage.bytes + excluded.bytes;
END;
