// Fuzzes all parsers of external data: the targets of fuzz/, guided by coverage, and the property tests of the workspace
// with new seeds. They share the given time. Prints the number of cases of each, and stores failing inputs.
//
// --minutes N    the total time; 5 by default
// --only TEXT    runs targets and tests whose name contains this text
// --keep         adds to fuzz/corpus/ the inputs that reached the most new code

import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Advice, main, root, say, setupBuild, which } from "./setup.mjs";

const CORPUS = join(root, "fuzz", "corpus");
const FAILURES = join(root, "fuzz", "failures");
/** The corpus of libFuzzer, which grows from run to run and is not in the repository. */
const FOUND = join(root, "target", "fuzz-corpus");
/** Maximum inputs and bytes of a target's corpus in the repository. */
const MAX_KEPT = 60;
const MAX_KEPT_BYTES = 24 * 1024;
/** Options that count the edges that an input covers. They are stable options of rustc and need no sanitizer. */
const COVERAGE = [
  "-Cpasses=sancov-module",
  "-Cllvm-args=-sanitizer-coverage-level=4",
  "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
  "-Cllvm-args=-sanitizer-coverage-pc-table",
  "-Cllvm-args=-sanitizer-coverage-trace-compares",
].join(" ");

/** Returns the names of the targets in fuzz/src/lib.rs. */
function targets() {
  const list = readFileSync(join(root, "fuzz/src/lib.rs"), "utf8");
  return [...list.matchAll(/Target \{ name: "(\w+)"/g)].map(([, name]) => name);
}

/** Builds the targets with libFuzzer and returns the program; null without a C++ compiler. */
function buildGuided() {
  if (!which("c++") && !which("clang++") && !process.env.CXX) {
    say("no coverage-guided fuzzing: libFuzzer needs a C++ compiler, such as Debian's g++");
    return null;
  }
  const host = spawnSync("rustc", ["-vV"], { encoding: "utf8" }).stdout.match(/^host: (.*)$/m)[1];
  const folder = join(root, "target", "fuzz");
  // With an explicit target, build scripts and macros are compiled without the counters.
  const where = ["--target", host, "--target-dir", folder, "--profile", "fuzz"];
  say("building the targets with libFuzzer");
  const args = ["build", "--quiet", "--locked", "-p", "chat-fuzz", "--features", "guided", "--bin", "guided", ...where];
  const { status } = spawnSync("cargo", args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, RUSTFLAGS: COVERAGE },
  });
  if (status !== 0) throw new Advice("the fuzz targets do not compile: see the errors above");
  return join(folder, host, "fuzz", "guided");
}

/** Runs a program and returns its output and status; the status is null if a signal ended it. */
function run(program, args, { cwd = root, env = {}, seconds }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      // The last lines have the result; a long run prints a line for each new input.
      stream.on("data", (data) => (output = (output + data).slice(-20_000)));
    }
    const stop = () => child.kill("SIGKILL");
    const timer = setTimeout(stop, seconds * 1000);
    process.once("exit", stop);
    child.on("close", (status) => {
      clearTimeout(timer);
      process.off("exit", stop);
      resolve({ status, output });
    });
  });
}

/** Runs libFuzzer on one target for this number of seconds. */
async function fuzzTarget(program, name, seconds) {
  const [kept, found, failures] = [join(CORPUS, name), join(FOUND, name), join(FAILURES, name)];
  for (const folder of [kept, found, failures]) mkdirSync(folder, { recursive: true });
  const limits = [`-max_total_time=${Math.ceil(seconds)}`, "-timeout=10", "-rss_limit_mb=1024"];
  const files = [`-dict=${join(root, "fuzz/dictionary.txt")}`, `-artifact_prefix=${failures}/`];
  const args = [...limits, ...files, "-print_final_stats=1", found, kept];
  const { status, output } = await run(program, args, { env: { FUZZ_TARGET: name }, seconds: seconds + 60 });
  const figure = (key) => Number(output.match(new RegExp(`stat::${key}:\\s+(\\d+)`))?.[1] ?? 0);
  return { cases: figure("number_of_executed_units"), found: figure("new_units_added"), ok: status === 0, output };
}

/** Returns the property tests in the sources of a folder: their names and, if fixed, their numbers of cases. */
function propertiesIn(folder) {
  const properties = new Map();
  if (!existsSync(folder)) return properties;
  for (const file of readdirSync(folder, { recursive: true })) {
    if (!file.endsWith(".rs")) continue;
    const blocks = readFileSync(join(folder, file), "utf8").matchAll(/^( *)proptest! \{\n([^]*?)\n\1\}$/gm);
    for (const [, , block] of blocks) {
      const cases = block.match(/with_cases\((\d+)\)/)?.[1];
      for (const [, name] of block.matchAll(/#\[test\]\s+fn (\w+)/g)) properties.set(name, cases && Number(cases));
    }
  }
  return properties;
}

/** Returns every property test of the workspace: its program, and its name there. */
function properties() {
  say("building the property tests");
  // The features of `npm test`: others would compile everything again.
  const args = ["test", "--locked", "--no-run", "--quiet", "--message-format=json", "--workspace"];
  const built = spawnSync("cargo", args, {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (built.status !== 0) throw new Advice("the tests do not compile: see the errors above");
  const messages = built.stdout
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line));
  const programs = messages.filter((message) => message.executable && message.profile?.test);
  return programs.flatMap(({ executable: program, manifest_path, target: { name, kind } }) => {
    const folder = dirname(manifest_path);
    const known = new Map(["src", "tests"].flatMap((part) => [...propertiesIn(join(folder, part))]));
    if (known.size === 0) return [];
    const { stdout } = spawnSync(program, ["--list"], { cwd: folder, encoding: "utf8" });
    const listed = [...stdout.matchAll(/^(\S+): test$/gm)].map(([, test]) => test);
    const found = listed.filter((test) => known.has(test.split("::").at(-1)));
    return found.map((test) => ({
      in: kind.includes("test") ? `${basename(folder)}/${name}` : name,
      program,
      folder,
      test,
      cases: known.get(test.split("::").at(-1)),
    }));
  });
}

/** Repeats a property test with new seeds until its time is over. */
async function testProperty({ program, folder, test, cases: fixed }, seconds) {
  const end = Date.now() + seconds * 1000;
  let [cases, next] = [0, fixed ?? 256];
  do {
    const started = Date.now();
    const env = { PROPTEST_CASES: String(next), CARGO_MANIFEST_DIR: folder };
    const { status, output } = await run(program, ["--exact", test], { cwd: folder, env, seconds: seconds + 120 });
    if (status !== 0) return { cases, ok: false, output };
    cases += next;
    const took = Math.max(Date.now() - started, 1);
    // As many cases as fit into the remaining time, with a limited increase, because the estimate is rough.
    if (!fixed) next = Math.max(1, Math.min(Math.floor((next * (end - Date.now())) / took), next * 8));
  } while (Date.now() < end);
  return { cases, ok: true };
}

const bytesIn = (folder) => readdirSync(folder).reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

/** Adds inputs that reached new code to a target's corpus, those with the most new code first. */
async function keep(program, name) {
  const [kept, found] = [join(CORPUS, name), join(FOUND, name)];
  const chosen = mkdtempSync(join(tmpdir(), "fuzz-"));
  for (const file of readdirSync(kept)) copyFileSync(join(kept, file), join(chosen, file));
  const known = new Set(readdirSync(chosen));
  await run(program, ["-set_cover_merge=1", chosen, found], { env: { FUZZ_TARGET: name }, seconds: 600 });
  const written = (file) => statSync(join(chosen, file)).mtimeMs;
  const fresh = readdirSync(chosen)
    .filter((file) => !known.has(file))
    .sort((a, b) => written(a) - written(b));
  let added = 0;
  for (const file of fresh) {
    const { size } = statSync(join(chosen, file));
    if (known.size + added >= MAX_KEPT) break;
    if (bytesIn(kept) + size > MAX_KEPT_BYTES) continue;
    copyFileSync(join(chosen, file), join(kept, file.slice(0, 16)));
    added += 1;
  }
  rmSync(chosen, { recursive: true });
  say(`${name}: ${added} inputs added to fuzz/corpus/, which has ${bytesIn(kept)} bytes for it`);
}

/** Prints a row of the table. */
function row(name, kind, cases, seconds, ok) {
  const columns = [name.padEnd(72), kind.padEnd(9), cases.padStart(12), seconds.padStart(8), ok.padStart(7)];
  console.log(columns.join(" "));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once("SIGTERM", () => process.exit(1));
  await main(async () => {
    const options = {
      minutes: { type: "string", default: "5" },
      only: { type: "string", default: "" },
      keep: { type: "boolean", default: false },
    };
    const { values } = parseArgs({ options });
    const minutes = Number(values.minutes);
    if (!(minutes > 0)) throw new Advice(`invalid --minutes: expected a number above 0, got ${values.minutes}`);
    setupBuild();
    const program = buildGuided();
    const names = program ? targets().filter((name) => name.includes(values.only)) : [];
    const tests = properties().filter(({ test }) => test.includes(values.only));
    const work = [
      ...names.map((name) => ({ name, kind: "guided", run: (seconds) => fuzzTarget(program, name, seconds) })),
      ...tests.map((one) => ({
        name: `${one.in} ${one.test}`,
        kind: "property",
        run: (seconds) => testProperty(one, seconds),
      })),
    ];
    if (work.length === 0)
      throw new Advice(`invalid --only: no target or property test has ${JSON.stringify(values.only)} in its name`);
    const share = (minutes * 60) / work.length;
    say(`${names.length} targets and ${tests.length} property tests, ${share.toFixed(0)} s each`);
    row("what", "how", "cases", "seconds", "");
    const failed = [];
    let cases = 0;
    for (const { name, kind, run: fuzz } of work) {
      const started = Date.now();
      const outcome = await fuzz(share);
      cases += outcome.cases;
      row(
        name,
        kind,
        outcome.cases.toLocaleString("en"),
        ((Date.now() - started) / 1000).toFixed(0),
        outcome.ok ? "ok" : "FAILED",
      );
      if (!outcome.ok) failed.push({ name, ...outcome });
    }
    say(`${cases.toLocaleString("en")} cases, ${failed.length} failed`);
    for (const { name, output } of failed) console.log(`\n── ${name}\n${output.split("\n").slice(-60).join("\n")}`);
    if (values.keep) for (const name of names) await keep(program, name);
    if (failed.length > 0)
      throw new Advice(`failing inputs are in ${relative(root, FAILURES)}/ and in files proptest-regressions/`);
  });
}
