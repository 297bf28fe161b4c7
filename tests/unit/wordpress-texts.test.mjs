// The plugin for WordPress: its texts in each language, and the rules that WordPress has for plugins' sources.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../scripts/setup.mjs";
import { pluginSources } from "../../scripts/wordpress-plugin.mjs";
import {
  TEXT_CALL,
  binaryCatalogue,
  catalogues,
  pluginTexts,
  readCatalogue,
  template,
} from "../../scripts/wordpress-texts.mjs";

const folder = join(root, "connectors/wordpress");
const sources = Object.fromEntries(
  readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith(".php"))
    .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
);

test("The template for translators has the plugin's texts", () => {
  const pot = readFileSync(join(folder, "languages/chat-widget.pot"), "utf8");
  assert.equal(pot, template(), "run `node scripts/wordpress-texts.mjs`");
  assert.ok(pluginTexts().size > 60);
});

test("Each language has all texts, with their placeholders, and no others", () => {
  const texts = [...pluginTexts().keys()];
  assert.ok(["ar", "de", "es", "fr"].every((language) => language in catalogues()));
  for (const [language, po] of Object.entries(catalogues())) {
    const translations = readCatalogue(po);
    assert.match(translations.get(""), new RegExp(`^Language: ${language}$`, "m"));
    assert.deepEqual([...translations.keys()].filter(Boolean).sort(), [...texts].sort(), language);
    const marks = (text) => text.match(/%s|data-proxy="https:\/\/…"|wp-config\.php|WP-Cron|wp-cron\.php/g)?.sort();
    for (const [text, translation] of translations)
      if (text !== "") {
        assert.ok(translation !== "", `${language}: ${text}`);
        assert.deepEqual(marks(translation), marks(text), `${language}: ${translation}`);
      }
  }
});

test("A binary catalogue has each text at its place, in the order of the bytes", () => {
  const po =
    'msgid ""\nmsgstr "Language: de\\n"\n\nmsgid "b \\"x\\""\nmsgstr "B „x“"\n\nmsgid "a"\nmsgstr ""\n"A "\n"a"\n';
  const mo = binaryCatalogue(po);
  const text = (table, row) => {
    const place = mo.readUInt32LE(table) + 8 * row;
    const start = mo.readUInt32LE(place + 4);
    return mo.toString("utf8", start, start + mo.readUInt32LE(place));
  };
  assert.equal(mo.readUInt32LE(0), 0x950412de);
  assert.deepEqual(
    [0, 1, 2].map((row) => [text(12, row), text(16, row)]),
    [
      ["", "Language: de\n"],
      ["a", "A a"],
      ['b "x"', "B „x“"],
    ],
  );
});

test("Every text of the plugin has its domain, and is escaped where it is printed", () => {
  for (const [name, source] of Object.entries(sources)) {
    const calls = source.match(/\b(?:__|_[enx]|_nx|esc_(?:html|attr)_(?:_|e|x))\(/g) ?? [];
    assert.equal(calls.length, [...source.matchAll(TEXT_CALL)].length, name);
    assert.doesNotMatch(source, /\becho\s+(?:__|sprintf)\(|\b_e\(/, name);
    // Each printed part is a literal, a number, or the result of a function that escapes.
    for (const [, printed] of source.matchAll(/\becho ((?:[^;']|'[^']*')*);/g)) {
      const parts = printed.split(/,(?![^()]*\))/).map((part) => part.trim());
      for (const part of parts)
        assert.match(part, /^'[^']*'$|^\(?esc_|^self::STYLE$|^\$field$/, `${name}: echo ${part}`);
    }
  }
});

test("No file of the plugin runs by itself when a visitor requests it", () => {
  for (const [path, bytes] of Object.entries(pluginSources()))
    if (path.endsWith(".php"))
      assert.match(bytes.toString(), /^defined\('(ABSPATH|WP_UNINSTALL_PLUGIN)'\) \|\| exit;$/m, path);
});

test("Each form has a nonce and a capability, and queries take no values but by their places", () => {
  const { "src/Settings.php": settings, "src/SettingsPage.php": page } = sources;
  assert.match(
    settings,
    /current_user_can\(self::CAPABILITY\)[^]*?wp_die[^]*?check_admin_referer\("chat_widget_\$action"\)/,
  );
  const forms = page.match(/<form method="post"/g).length;
  const nonces = page.match(/wp_create_nonce|settings_fields\(/g).length;
  assert.equal(nonces, forms);
  for (const [name, source] of Object.entries(sources)) {
    assert.doesNotMatch(source, /\b(eval|unserialize|extract|base64_decode|shell_exec|passthru|proc_open)\s*\(/, name);
    // Names of tables are the only variables in queries.
    for (const [, query] of source.matchAll(/"((?:SELECT|DELETE|UPDATE|INSERT|CREATE|DROP)\b[^"]*)"/g))
      for (const [variable] of query.matchAll(/\{?\$[\w>[\]'-]+/g))
        assert.match(variable, /^\{?\$(wpdb->\w+|places|options|articles|overlays)$/, `${name}: ${query}`);
  }
});
