// The plugin for WordPress as a ZIP archive that WordPress installs: connectors/wordpress/, the PHP library, and the files
// of dist/ that pages load.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, main, root, say } from "./setup.mjs";
import { binaryCatalogue, catalogues } from "./wordpress-texts.mjs";
import { zip } from "./zip.mjs";

/** The folder of the plugin in the archive, which is the plugin's name in WordPress. */
const PLUGIN = "chat-widget";
const SOURCES = "connectors/wordpress";
const LIBRARY = "connectors/php";

/** The paths in dist/ that no page with the script tag loads: the console, packages of npm, types, lists for editors. */
const NOT_LOADED = /^(?:console|npm|server|types)\/|^\.|\.json$|^(?:snippet\.html|client\.mjs)$/;

/** Does nothing in WordPress, and ends the file if somebody requests it by its own address. */
const GUARD = "defined('ABSPATH') || exit;\n";

/** Returns the plugin's own files, without the widget, as their bytes by their paths in the plugin. */
export function pluginSources() {
  const files = {};
  const addFolder = (folder, target, changed = (source) => source) => {
    for (const entry of readdirSync(join(root, folder), { recursive: true, withFileTypes: true })) {
      const source = join(entry.parentPath ?? entry.path, entry.name);
      const path = relative(join(root, folder), source).split(sep).join("/");
      // The library's tests are programs, which a web server would run.
      if (entry.isFile() && /^(?!tests\/).*\.php$|^readme\.txt$|\.pot$/.test(path))
        files[`${target}${path}`] = Buffer.from(changed(readFileSync(source, "utf8")));
    }
  };
  addFolder(SOURCES, "");
  // The library serves other sites as well, and has no guard of its own.
  addFolder(LIBRARY, "lib/", (source) =>
    source.replace(/^(namespace .*|declare\(.*)\n(?!\n*namespace)/m, `$1\n\n${GUARD}`),
  );
  for (const [language, po] of Object.entries(catalogues()))
    files[`languages/chat-widget-${language}.mo`] = binaryCatalogue(po);
  return files;
}

/** Returns the files of the plugin, as their bytes by their paths in the archive. */
export function pluginFiles() {
  const dist = join(root, "dist");
  const files = {};
  const add = (path, source) => (files[`${PLUGIN}/${path}`] = readFileSync(source));
  for (const [path, bytes] of Object.entries(pluginSources())) files[`${PLUGIN}/${path}`] = bytes;
  for (const name of ["LICENSE-MIT", "LICENSE-APACHE"]) add(name, join(root, name));
  // An archive of the sources leaves out files whose name begins with a dot.
  add("widget/.htaccess", join(root, SOURCES, "htaccess"));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath ?? entry.path, entry.name);
    const path = relative(dist, source).split(sep).join("/");
    if (entry.isFile() && !NOT_LOADED.test(path)) add(`widget/${path}`, source);
  }
  if (!files[`${PLUGIN}/widget/chat-widget.wasm`]) throw new Advice("dist/ is missing: run `npm run build` first");
  return files;
}

/** Writes the archive into a folder. Returns its path. */
export function packPlugin(folder) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${PLUGIN}-wordpress-${version}.zip`);
  writeFileSync(path, zip(pluginFiles()));
  return path;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => say(`the plugin for WordPress: ${packPlugin(join(root, "target", "wordpress"))}`));
}
