// Introduces mistakes into the session that violate an invariant, one at a time, and fails if the simulator misses one. It
// works on a copy of the sources.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { MISTAKES } from "./mistakes.mjs";
import { Advice, main, root, say } from "./setup.mjs";

/** The number of simulations for each mistake. */
const SEEDS = "2000";

/** Copies the session, the protocol and their manifests into a folder. */
function copy(folder) {
  rmSync(folder, { recursive: true, force: true });
  for (const crate of ["session", "protocol"])
    cpSync(join(root, "crates", crate), join(folder, "crates", crate), { recursive: true });
  cpSync(join(root, "Cargo.lock"), join(folder, "Cargo.lock"));
  const manifest = readFileSync(join(root, "Cargo.toml"), "utf8");
  const section = (name) => manifest.match(new RegExp(`^\\[${name}\\]\\n[^]*?(?=^\\[)`, "m"))?.[0] ?? "";
  const shared = [
    "workspace\\.package",
    "workspace\\.dependencies",
    "workspace\\.lints\\.rust",
    "workspace\\.lints\\.clippy",
  ];
  const profiles = ["chat-session", "chat-protocol", "serde_json"].map(
    (name) => `[profile.dev.package.${name}]\nopt-level = 2\n`,
  );
  writeFileSync(
    join(folder, "Cargo.toml"),
    ['[workspace]\nmembers = ["crates/*"]\nresolver = "3"\n', ...shared.map(section), ...profiles].join("\n"),
  );
}

await main(async () => {
  const folder = join(root, "target", "mutations");
  const build = join(root, "target", "mutations-build");
  mkdirSync(folder, { recursive: true });
  const survivors = [];
  for (const { name, file, edits } of [{ name: "no mistake", file: "random.rs", edits: [] }, ...MISTAKES]) {
    copy(folder);
    const path = join(folder, "crates", "session", "src", file);
    let source = readFileSync(path, "utf8");
    for (const [before, after] of edits) {
      if (source.split(before).length !== 2)
        throw new Advice(`invalid mistake: expected ${file} to have this text once: ${before}`);
      source = source.replace(before, after);
    }
    writeFileSync(path, source);
    const run = spawnSync(
      "cargo",
      ["test", "-p", "chat-session", "--test", "session", "--", "--skip", "conversation::"],
      {
        cwd: folder,
        env: { ...process.env, CARGO_TARGET_DIR: build, SIM_SEEDS: SEEDS, RUST_BACKTRACE: "0" },
        encoding: "utf8",
      },
    );
    if (/could not compile/.test(run.stderr))
      throw new Advice(`the session does not compile with the mistake "${name}":\n${run.stderr}`);
    const caught = run.status !== 0;
    const invariants = [...run.stdout.matchAll(/^broken \d+ times, by seed [\d, ]+: (.*)$/gm)].map(
      ([, invariant]) => invariant,
    );
    const failed = [...run.stdout.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(([, test]) => test);
    say(`${name}: ${caught ? `caught (${[...invariants, ...failed].join(" ") || "a test fails"})` : "not caught"}`);
    if (caught !== edits.length > 0) survivors.push(name);
  }
  if (survivors.length > 0) throw new Advice(`unexpected results: ${survivors.join(", ")}`);
});
