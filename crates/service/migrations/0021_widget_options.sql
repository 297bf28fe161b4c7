-- The options of the widget that the chat config delivers, as JSON.
ALTER TABLE sites ADD COLUMN widget_options TEXT NOT NULL DEFAULT '{}';
