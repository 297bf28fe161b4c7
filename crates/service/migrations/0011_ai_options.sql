-- What is particular to the provider of a site's AI, and to its models, as JSON; NULL where nothing is set.
ALTER TABLE sites ADD COLUMN ai_options TEXT;
