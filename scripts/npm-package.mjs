// The npm package: the files of the project that belong to it, with a README of its own, which npm's page shows.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Advice, main, root, say } from "./setup.mjs";

/** Runs npm in a folder, and returns its JSON output. */
const npm = (folder, ...args) =>
  JSON.parse(
    execFileSync("npm", [...args, "--json", "--ignore-scripts", "--loglevel=error"], { cwd: folder, encoding: "utf8" }),
  );

/** Returns the files that `npm pack` takes from a folder, sorted. */
export const packedFiles = (folder) =>
  npm(folder, "pack", "--dry-run")[0]
    .files.map(({ path }) => path)
    .sort();

/** Returns the fields of `package.json` that name the address of the repository, such as `https://git.example/chat`. */
export function addressFields(repository) {
  const { protocol, search, hash } = URL.canParse(repository) ? new URL(repository) : {};
  if (protocol !== "https:" || search || hash || /\/$|\.git$/.test(repository))
    throw new Advice(`expected the address of the repository, such as https://git.example/chat, got ${repository}`);
  return {
    homepage: `${repository}#readme`,
    repository: { type: "git", url: `git+${repository}.git` },
    bugs: `${repository}/issues`,
  };
}

/** Writes the content of the package into a new folder. Without the address of a repository, none is named. */
export function stagePackage(folder, { repository } = {}) {
  const files = packedFiles(root);
  if (!files.includes("dist/npm/index.mjs")) throw new Advice("dist/ is missing: run `npm run build` first");
  rmSync(folder, { recursive: true, force: true });
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  copyFileSync(join(root, "www/npm/README.md"), join(folder, "README.md"));
  // The commands and tools of the project are not in the package.
  const { scripts, devDependencies, ...manifest } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const named = { ...manifest, ...(repository ? addressFields(repository) : {}) };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(named, null, 2)}\n`);
}

/** Packs the package into a folder. Returns the path of the tarball. */
export function packPackage(folder, options) {
  const staged = join(folder, "package");
  stagePackage(staged, options);
  const [{ filename }] = npm(staged, "pack", "--pack-destination", folder);
  return join(folder, filename);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(() => say(`the npm package: ${packPackage(join(root, "target", "npm-package"))}`));
}
