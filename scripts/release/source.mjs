// The sources of a release: the commit, its time, and one version in all manifests and in the changelog.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Advice, root } from "../setup.mjs";

const read = (path) => readFileSync(join(root, path), "utf8");

/** Runs git, and returns its output. */
function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Advice(`a release is made from a git checkout: git ${args[0]} failed: ${stderr?.trim()}`);
  return stdout.trim();
}

/** Returns the hash of the commit, and its time in seconds since 1970. Fails if files differ from it. */
export function commit() {
  const changed = git("status", "--porcelain");
  if (changed)
    throw new Advice(`the work tree differs from its commit: commit or stash these changes first\n${changed}`);
  return { hash: git("rev-parse", "HEAD"), time: Number(git("log", "-1", "--format=%ct")) };
}

/** Returns every place that states the version, as pairs of the place and its version. */
export function statedVersions() {
  const cargo = read("Cargo.toml");
  const found = (text, pattern) => text.match(pattern)?.[1];
  const own = [...cargo.matchAll(/^(chat-[\w-]+) = \{ path = "[^"]+", version = "([^"]+)" \}$/gm)];
  const lock = JSON.parse(read("package-lock.json"));
  return [
    ["Cargo.toml, [workspace.package]", found(cargo, /^version = "([^"]+)"/m)],
    ...own.map(([, name, version]) => [`Cargo.toml, ${name}`, version]),
    ["package.json", JSON.parse(read("package.json")).version],
    ["package-lock.json", lock.version],
    ["connectors/wordpress/chat-widget.php", found(read("connectors/wordpress/chat-widget.php"), /Version: (\S+)/)],
    ["connectors/wordpress/readme.txt", found(read("connectors/wordpress/readme.txt"), /^Stable tag: (\S+)/m)],
  ];
}

/** Returns the version that all places state. Fails if one differs from the first, and names it. */
export function sharedVersion(stated) {
  const [[first, version]] = stated;
  const others = stated.filter(([, other]) => other !== version);
  if (others.length > 0) {
    const lines = others.map(([place, other]) => `  ${place}: ${other ?? "no version"}`);
    throw new Advice(`invalid versions: expected ${version} as in ${first}, got\n${lines.join("\n")}`);
  }
  return version;
}

/** Matches the heading of a released version, with or without its date. */
const heading = (version) => new RegExp(`^## \\[?${version.replaceAll(".", "\\.")}\\]?(?: .*)?$`);

/**
 * Returns the text of a version's section of the changelog. Without a section of its own, a dry run takes the section
 * "Unreleased".
 */
export function changesOf(changelog, version, { dryRun = false } = {}) {
  const lines = changelog.split("\n");
  let start = lines.findIndex((line) => heading(version).test(line));
  if (start === -1 && dryRun) start = lines.indexOf("## Unreleased");
  if (start === -1)
    throw new Advice(
      `CHANGELOG.md has no section of version ${version}: rename the heading "## Unreleased" to "## ${version} - YYYY-MM-DD"`,
    );
  const length = lines.slice(start + 1).findIndex((line) => line.startsWith("## "));
  const text = lines.slice(start + 1, length === -1 ? undefined : start + 1 + length).join("\n");
  if (!text.trim()) throw new Advice(`CHANGELOG.md: the section of version ${version} is empty`);
  return text.trim();
}

/** Matches a link to a file of the repository. */
const LINK = /\[([^\]]+)\]\((?!https?:|mailto:)[^)]+\)/g;

/**
 * Returns the release notes. They are shown outside of the repository, so that a link to one of its files becomes the link's
 * text.
 */
export function releaseNotes(changelog, version, options) {
  const changes = changesOf(changelog, version, options).replace(LINK, "$1");
  return `# Chat widget ${version}\n\n${changes}\n`;
}
