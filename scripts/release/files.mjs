// The files of a release that are packed from what is built: archives of the widget and of the program, and the checksums.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { Advice, root } from "../setup.mjs";
import { zip } from "../zip.mjs";
import { tarGz } from "./archive.mjs";

const LICENCES = ["LICENSE-APACHE", "LICENSE-MIT"];
/** The paths in dist/ that the archive of the widget leaves out: the console, which the program contains, and stamps. */
const NOT_ZIPPED = /^(?:console|server)\/|^\./;
/** The folder in the archive, which is the path in the script tag. */
const FOLDER = "chat-widget";

/** Returns the bytes of the widget's files, by their paths in the archive. */
export function widgetFiles() {
  const dist = join(root, "dist");
  const files = Object.fromEntries(LICENCES.map((name) => [`${FOLDER}/${name}`, readFileSync(join(root, name))]));
  for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
    const source = join(entry.parentPath ?? entry.path, entry.name);
    const path = relative(dist, source).split(sep).join("/");
    if (entry.isFile() && !NOT_ZIPPED.test(path)) files[`${FOLDER}/${path}`] = readFileSync(source);
  }
  for (const name of ["chat-widget.js.br", "integrity.json", "snippet.html"])
    if (!files[`${FOLDER}/${name}`]) throw new Advice(`dist/${name} is missing: run \`npm run build\` first`);
  return files;
}

/** Returns the archive of the widget's files. */
export const widgetZip = () => zip(widgetFiles());

/** Returns the archive of a program with its licences in the folder `name`. `time` is in seconds since 1970. */
export function programArchive(name, program, time) {
  const files = { [`${name}/site-connector`]: { bytes: program, mode: 0o755 } };
  for (const licence of LICENCES)
    files[`${name}/${licence}`] = { bytes: readFileSync(join(root, licence)), mode: 0o644 };
  return tarGz(files, time);
}

/** Returns the SHA-256 of each file in a folder, as `sha256sum --check` reads it. */
export function checksums(folder) {
  const names = readdirSync(folder).filter((name) => name !== "SHA256SUMS");
  const digest = (name) =>
    createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
  return names
    .sort()
    .map((name) => `${digest(name)}  ${name}\n`)
    .join("");
}
