// Introduces mistakes into the session that violate an invariant, one at a time, and fails if the simulator misses one. It
// works on a copy of the sources.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { Advice, main, root, say } from "./setup.mjs";

/** The number of simulations for each mistake. */
const SEEDS = "2000";

const MISTAKES = [
  {
    name: "a key that is made anew on each retry",
    file: "outbox.rs",
    edits: [
      ["key: key(visitor, &self.name, self.round),", "key: key(visitor, &self.name, self.attempts),"],
      [
        "let frozen = self.frozen.take().unwrap_or_else(|| Frozen {",
        "self.frozen = None;\n        let frozen = self.frozen.take().unwrap_or_else(|| Frozen {",
      ],
    ],
  },
  {
    name: "a body that is rebuilt after navigation",
    file: "outbox.rs",
    edits: [
      [
        "letter.frozen = Some(Frozen { key: IdempotencyKey::new(key).ok()?, body: body.to_owned() });",
        "_ = (key, body);",
      ],
    ],
  },
  {
    name: "echoes that are not recognised",
    file: "timeline/entry.rs",
    edits: [
      ["let by_visitor = matches!(message.role, Role::Visitor | Role::Other(_));", "let by_visitor = false;"],
      [
        "self.may_be_of(message) && self.author == message.role",
        "self.author != Role::Visitor && self.author == message.role",
      ],
    ],
  },
  { name: "two leaders", file: "lead.rs", edits: [["self.state == State::Leading\n", "self.state != State::Idle\n"]] },
  {
    name: "polling while hidden",
    file: "reading.rs",
    edits: [
      [
        "self.leads() && self.is_on() && self.online && self.visible && self.conversation.is_some()",
        "self.leads() && self.is_on() && self.online && self.conversation.is_some()",
      ],
    ],
  },
  {
    name: "a forgotten jitter",
    file: "random.rs",
    edits: [["duration_ms - fifth + self.up_to(2 * fifth)", "duration_ms"]],
  },
];

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
      if (source.split(before).length !== 2) throw new Advice(`${file} does not have this once any more: ${before}`);
      source = source.replace(before, after);
    }
    writeFileSync(path, source);
    const run = spawnSync("cargo", ["test", "-p", "chat-session", "--test", "simulation"], {
      cwd: folder,
      env: { ...process.env, CARGO_TARGET_DIR: build, SIM_SEEDS: SEEDS, RUST_BACKTRACE: "0" },
      encoding: "utf8",
    });
    if (/could not compile/.test(run.stderr))
      throw new Advice(`with ${name}, the session does not compile:\n${run.stderr}`);
    const noticed = run.status !== 0;
    const invariants = [...run.stdout.matchAll(/^broken \d+ times, by seed [\d, ]+: (.*)$/gm)].map(
      ([, invariant]) => invariant,
    );
    const failed = [...run.stdout.matchAll(/^test (\S+) \.\.\. FAILED$/gm)].map(([, test]) => test);
    say(
      `${name}: ${noticed ? `noticed (${[...invariants, ...failed].join(" ") || "a test fails"})` : "nothing noticed"}`,
    );
    if (noticed !== edits.length > 0) survivors.push(name);
  }
  if (survivors.length > 0) throw new Advice(`not as it should be: ${survivors.join(", ")}`);
});
