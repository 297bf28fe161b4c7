// The list of the parts of a release, as CycloneDX JSON: the crates in the programs and modules, and the tools that built
// them. It depends on the sources and their commit alone.

import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Advice, root } from "../setup.mjs";
import { TARGETS } from "./static-binary.mjs";

/** The crates of the workspace that are released, in programs, in modules or as packages. */
const RELEASED = ["connector", "console", "markup", "protocol", "service", "session", "widget"].map(
  (name) => `chat-${name}`,
);
const PLATFORMS = [...Object.values(TARGETS).map(({ rust }) => rust), "wasm32-unknown-unknown"];
/** Parts that run with the release, and parts that only build it. */
const SHIPPED = "required";
const BUILDS = "excluded";
/** Names of licences in package-lock.json that SPDX has under another name. */
const SPDX = { "BSD-0-Clause": "0BSD" };

/** Returns cargo's metadata of the platforms that are released. */
function cargoMetadata() {
  const platforms = PLATFORMS.flatMap((platform) => ["--filter-platform", platform]);
  const args = ["metadata", "--locked", "--all-features", "--format-version", "1", ...platforms];
  const { status, stdout, stderr } = spawnSync("cargo", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  if (status !== 0) throw new Advice(`cargo metadata failed: ${stderr.trim().split("\n").at(-1)}`);
  return JSON.parse(stdout);
}

/** Returns the SHA-256 of each crate in Cargo.lock, by `name@version`. */
function cargoHashes() {
  const packages = readFileSync(join(root, "Cargo.lock"), "utf8").split("[[package]]\n").slice(1);
  const field = (text, name) => text.match(new RegExp(`^${name} = "(.+)"`, "m"))?.[1];
  return new Map(packages.map((text) => [`${field(text, "name")}@${field(text, "version")}`, field(text, "checksum")]));
}

/** Returns a component with the members that it has. */
function component({ type = "library", name, group, version, purl, licence, scope, hash }) {
  return {
    type,
    "bom-ref": purl,
    ...(group && { group }),
    name,
    version,
    scope,
    ...(hash && { hashes: [hash] }),
    // Cargo's older way to write a choice.
    licenses: [{ expression: SPDX[licence] ?? licence.replaceAll(/ *\/ */g, " OR ") }],
    purl,
  };
}

/** Returns all that is reachable from `from` by `next`, which returns neighbours, including `from`. */
function reachable(from, next) {
  const seen = new Set(from);
  for (const one of seen) for (const neighbour of next(one)) seen.add(neighbour);
  return seen;
}

/** Returns the components of the crates with the scope of each, and their dependencies. */
function crates({ packages, resolve }) {
  const hashes = cargoHashes();
  const described = new Map(packages.map((one) => [one.id, one]));
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const isMacro = (id) => described.get(id).targets.some(({ kind }) => kind.includes("proc-macro"));
  /** The dependencies of a crate that are of these kinds; those of a program have the kind null. */
  const next = (id, kinds) =>
    nodes
      .get(id)
      .deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kinds.includes(kind)))
      .map(({ pkg }) => pkg);
  const own = packages.filter(({ name, source }) => source === null && RELEASED.includes(name)).map(({ id }) => id);
  if (own.length !== RELEASED.length) throw new Error(`expected the crates ${RELEASED}, got ${own}`);
  const shipped = reachable(own, (id) => (isMacro(id) ? [] : next(id, [null]).filter((one) => !isMacro(one))));
  const all = [...reachable(own, (id) => next(id, [null, "build"]))];
  const purl = (id) => `pkg:cargo/${described.get(id).name}@${described.get(id).version}`;
  return {
    components: all.map((id) => {
      const { name, version, license } = described.get(id);
      const checksum = hashes.get(`${name}@${version}`);
      const scope = shipped.has(id) ? SHIPPED : BUILDS;
      const hash = checksum && { alg: "SHA-256", content: checksum };
      return component({ name, version, purl: purl(id), licence: license, scope, hash });
    }),
    dependencies: all.map((id) => ({ ref: purl(id), dependsOn: next(id, [null, "build"]).map(purl) })),
    own: own.map(purl),
  };
}

/** Returns the path of the package that Node finds for a name from another one, in a package-lock.json. */
function resolved(lock, from, name) {
  for (let folder = from; ; folder = folder.replace(/\/?node_modules\/(?:@[^/]+\/)?[^/]+$/, "")) {
    const path = `${folder ? `${folder}/` : ""}node_modules/${name}`;
    if (lock[path]) return path;
    if (!folder) return null;
  }
}

/** Returns the components of the npm packages, and their dependencies. The released package itself has none. */
function npmPackages({ packages: lock }) {
  const nameOf = (path) => lock[path].name ?? path.split("node_modules/").at(-1);
  const purl = (path) => `pkg:npm/${nameOf(path).replace("@", "%40")}@${lock[path].version}`;
  const parts = Object.keys(lock).map((path) => {
    const { version, license, dev, integrity, dependencies, optionalDependencies } = lock[path];
    const [name, group] = nameOf(path).split("/").reverse();
    const [, digest] = integrity?.match(/^sha512-(.+)$/) ?? [];
    const hash = digest && { alg: "SHA-512", content: Buffer.from(digest, "base64").toString("hex") };
    const next = Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => resolved(lock, path, name));
    return {
      described: component({
        name,
        group,
        version,
        purl: purl(path),
        licence: license,
        scope: dev ? BUILDS : SHIPPED,
        hash,
      }),
      edges: { ref: purl(path), dependsOn: next.filter(Boolean).map(purl) },
    };
  });
  return {
    components: parts.map((one) => one.described),
    dependencies: parts.map((one) => one.edges),
    own: [purl("")],
  };
}

/** Returns the entries sorted by a member, each value of it once. */
function sorted(entries, member) {
  const unique = new Map(entries.map((entry) => [entry[member], entry]));
  return [...unique.keys()].sort().map((key) => unique.get(key));
}

/** Returns a UUID that depends on a text alone. */
function uuidOf(text) {
  const digest = createHash("sha256").update(text).digest();
  // Version 8: the bits are the application's.
  digest[6] = (digest[6] & 0x0f) | 0x80;
  digest[8] = (digest[8] & 0x3f) | 0x80;
  const hex = digest.toString("hex", 0, 16);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns the list of the parts of a version that is made from a commit (`hash`, and `time` in seconds since 1970). */
export function sbom(version, { hash, time }) {
  const parts = [
    crates(cargoMetadata()),
    npmPackages(JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"))),
  ];
  const ref = `chat-widget-release@${version}`;
  const edges = sorted(
    parts.flatMap(({ dependencies }) => dependencies),
    "ref",
  );
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(`${hash} ${version}`)}`,
    version: 1,
    metadata: {
      timestamp: new Date(time * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": ref,
        name: "chat-widget",
        version,
        licenses: [{ expression: "MIT OR Apache-2.0" }],
        properties: [{ name: "commit", value: hash }],
      },
    },
    components: sorted(
      parts.flatMap(({ components }) => components),
      "bom-ref",
    ),
    dependencies: [
      { ref, dependsOn: parts.flatMap(({ own }) => own).sort() },
      ...edges.map(({ ref, dependsOn }) => ({ ref, dependsOn: [...new Set(dependsOn)].sort() })),
    ],
  };
}
