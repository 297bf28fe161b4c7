// Makes all files of a release in target/release-files/. It publishes nothing, and prints the commands that publish them.
//
//     npm run release -- --dry-run            before the release: the changelog may still say "Unreleased"
//     npm run release -- --without-binaries   leaves out the static binaries
//     npm run release -- --verify             packs everything but the binaries twice from one build, and compares
//     npm run release -- --repository URL     names the address of the repository in the npm package

import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildDist, buildModule } from "./build.mjs";
import { buildConsole } from "./console.mjs";
import { packPackage } from "./npm-package.mjs";
import { packCrates } from "./package.mjs";
import { checksums, programArchive, widgetZip } from "./release/files.mjs";
import { sbom } from "./release/sbom.mjs";
import { commit, releaseNotes, sharedVersion, statedVersions } from "./release/source.mjs";
import { TARGETS, buildBinary } from "./release/static-binary.mjs";
import { Advice, main, root, say, setupBuild } from "./setup.mjs";
import { packPlugin } from "./wordpress-plugin.mjs";

/** The folder of the files of a release. */
export const releaseFiles = join(root, "target", "release-files");
const scratch = join(root, "target", "release-scratch");

/** Writes all files of a release but the programs into a folder. */
export function packAll(folder, { version, source, notes, repository }) {
  for (const one of [folder, scratch]) rmSync(one, { recursive: true, force: true });
  for (const one of [folder, scratch]) mkdirSync(one, { recursive: true });
  const paths = [packPackage(scratch, { repository }), packPlugin(scratch), ...packCrates()];
  for (const path of paths) copyFileSync(path, join(folder, basename(path)));
  writeFileSync(join(folder, `chat-widget-${version}.zip`), widgetZip());
  writeFileSync(join(folder, `chat-widget-${version}.cdx.json`), `${JSON.stringify(sbom(version, source), null, 2)}\n`);
  writeFileSync(join(folder, "release-notes.md"), notes);
}

/** Packs the files of the same build a second time. Fails if a byte differs. */
function verify(options) {
  const again = join(root, "target", "release-again");
  packAll(again, options);
  const different = readdirSync(again).filter(
    (name) => !readFileSync(join(again, name)).equals(readFileSync(join(releaseFiles, name))),
  );
  rmSync(again, { recursive: true });
  if (different.length > 0) throw new Advice(`packing the same build again made other files: ${different.join(", ")}`);
  say("packing the same build again makes the same files, to the byte");
}

/** Returns the commands that publish the release. */
function commands(version, source) {
  const files = (suffix) => readdirSync(releaseFiles).filter((name) => name.endsWith(suffix));
  return [
    `git tag -a v${version} ${source.hash} -m "Version ${version}" && git push origin v${version}`,
    ...files(".tgz").map((name) => `npm publish target/release-files/${name} --access public`),
    // Each one after those that it depends on.
    ...["chat-markup", "chat-protocol", "chat-session", "chat-widget"].map(
      (name) => `cargo publish --locked -p ${name}`,
    ),
  ];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    const { values } = parseArgs({
      options: {
        "dry-run": { type: "boolean" },
        "without-binaries": { type: "boolean" },
        verify: { type: "boolean" },
        repository: { type: "string" },
      },
    });
    const source = commit();
    const version = sharedVersion(statedVersions());
    const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
    const notes = releaseNotes(changelog, version, { dryRun: values["dry-run"] });
    setupBuild();
    await buildModule();
    await buildDist();
    await buildConsole();
    const options = { version, source, notes, repository: values.repository };
    packAll(releaseFiles, options);
    if (values.verify) verify(options);
    for (const target of values["without-binaries"] ? [] : Object.keys(TARGETS)) {
      const name = `site-connector-${version}-${target}`;
      writeFileSync(
        join(releaseFiles, `${name}.tar.gz`),
        programArchive(name, buildBinary(target, source.time), source.time),
      );
    }
    writeFileSync(join(releaseFiles, "SHA256SUMS"), checksums(releaseFiles));
    for (const name of readdirSync(releaseFiles))
      say(`${name}: ${(statSync(join(releaseFiles, name)).size / 1000).toFixed(1)} KB`);
    const publish = commands(version, source).join("\n  ");
    say(
      `the files of version ${version} are in target/release-files/. Nothing is published. To publish:\n  ${publish}`,
    );
  });
}
