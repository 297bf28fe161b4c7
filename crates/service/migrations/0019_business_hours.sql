-- The hours in which people answer the visitors of a site, as JSON; NULL: always.
ALTER TABLE sites ADD COLUMN business_hours TEXT;
