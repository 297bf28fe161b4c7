// Attributes the bytes of the WebAssembly modules to crates and functions, after optimisation: `npm run size -- --by-crate`.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { FEATURES, OPTIMISE, glue } from "./build.mjs";
import { Advice, root } from "./setup.mjs";
import { withoutHashes } from "./split.mjs";

/** The largest functions that are listed. */
const LARGEST = 40;

/** Reads the binary format. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  byte() {
    return this.bytes[this.at++];
  }

  /** An unsigned number in LEB128. */
  number() {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  text() {
    const length = this.number();
    this.at += length;
    return Buffer.from(this.bytes.subarray(this.at - length, this.at)).toString();
  }

  /** The limits of a memory or a table. */
  limits() {
    const hasMaximum = this.byte() & 1;
    this.number();
    if (hasMaximum) this.number();
  }
}

const IMPORT_SECTION = 2;
const CODE_SECTION = 10;
const DATA_SECTION = 11;
const FUNCTION_NAMES = 1;

/** Returns the number of imported functions. */
function importedFunctions(reader) {
  let functions = 0;
  for (let left = reader.number(); left > 0; left -= 1) {
    reader.text();
    reader.text();
    switch (reader.byte()) {
      case 0:
        functions += 1;
        reader.number();
        break;
      case 1:
        reader.byte();
        reader.limits();
        break;
      case 2:
        reader.limits();
        break;
      default:
        reader.at += 2;
    }
  }
  return functions;
}

/** Returns the functions of a module with their names and bytes, and the bytes of its data. */
export function functionsOf(bytes) {
  const reader = new Reader(bytes, 8);
  const sizes = [];
  const names = new Map();
  let imported = 0;
  let data = 0;
  while (reader.at < bytes.length) {
    const section = reader.byte();
    const length = reader.number();
    const end = reader.at + length;
    if (section === IMPORT_SECTION) imported = importedFunctions(reader);
    if (section === DATA_SECTION) data = length;
    if (section === CODE_SECTION) {
      for (let left = reader.number(); left > 0; left -= 1) {
        const size = reader.number();
        sizes.push(size);
        reader.at += size;
      }
    }
    if (section === 0 && reader.text() === "name") {
      while (reader.at < end) {
        const kind = reader.byte();
        const after = reader.number() + reader.at;
        if (kind === FUNCTION_NAMES) {
          for (let left = reader.number(); left > 0; left -= 1) names.set(reader.number(), reader.text());
        }
        reader.at = after;
      }
    }
    reader.at = end;
  }
  return { functions: sizes.map((size, index) => ({ name: names.get(imported + index) ?? "", size })), data };
}

/** Returns the crate of a function: one of the project's if its name has one, because generic code belongs to its user. */
export function crateOf(name) {
  const [own] = name.match(/\bchat_\w+/) ?? [];
  // Methods of primitive types name no crate: `<str>::trim_matches`.
  return own ?? name.match(/(?:^|[<(&*\s])([a-z]\w*)::/)?.[1] ?? (name.startsWith("<") ? "core" : "glue");
}

const kb = (bytes) => (bytes / 1000).toFixed(1).padStart(10);

/** Prints the bytes of each crate in both modules, and the largest functions. They are not compressed. */
export function printAttribution() {
  const modules = ["chat-widget.wasm", "deferred.wasm"].map((name) => {
    const path = join(glue, name);
    if (!existsSync(path)) throw new Advice(`${path} is missing: run \`npm run build\` first`);
    const named = join(root, "target", `named-${basename(path)}`);
    execFileSync("wasm-opt", [...FEATURES, ...OPTIMISE, "-g", path, "-o", named]);
    const { functions, data } = functionsOf(readFileSync(named));
    rmSync(named);
    return { functions: functions.map(({ name, size }) => ({ name: withoutHashes(name), size })), data };
  });
  const crates = new Map();
  for (const [index, { functions, data }] of modules.entries()) {
    const add = (crate, size) => {
      const row = crates.get(crate) ?? [0, 0];
      row[index] += size;
      crates.set(crate, row);
    };
    for (const { name, size } of functions) add(crateOf(name), size);
    add("(data)", data);
  }
  console.log(`${"KB, not compressed".padEnd(32)}     first  deferred`);
  for (const [crate, [first, deferred]] of [...crates].sort(([, one], [, other]) => other[0] - one[0]))
    console.log(`${crate.padEnd(32)}${kb(first)}${kb(deferred)}`);
  console.log(`\nThe ${LARGEST} largest functions of the first module, bytes:`);
  const [{ functions }] = modules;
  for (const { name, size } of functions.sort((one, other) => other.size - one.size).slice(0, LARGEST))
    console.log(`${String(size).padStart(6)}  ${name}`);
}
