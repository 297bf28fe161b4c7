// Splits the WebAssembly module: functions that no window needs at first go to a second module, which browsers load when the
// window is open. docs/decisions/0044 says why, and how it stays correct whatever the list of these functions contains.
//
// It edits the text format, in which a function is a block of lines.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** The names of functions to defer, one a line, as `npm run profile` writes them. */
export const DEFERRED = "scripts/deferred-functions.txt";

/** A name in the text format. */
const NAME = String.raw`(\$"(?:[^"\\]|\\.)*"|\$[^\s()]+)`;
const IMPORTED = new RegExp(`^ \\(import "[^"]+" "[^"]+" \\(func ${NAME}`);
const DEFINED = new RegExp(`^ \\(func ${NAME}`);
const EXPORTED = new RegExp(`^ \\(export "([^"]+)" \\((\\w+) ${NAME}\\)\\)`);
const REFERENCE = new RegExp(`\\((?:call|return_call|ref\\.func) ${NAME}`, "g");

/** The exports of the first module for the second. The names that `wasm-opt` gives do not begin with a digit. */
export const IS_LOADED = "0";
const FIRST_GLOBAL = 2;
/** Returns the name of the table, which contains a hash of what is split: halves of different builds do not link. */
const tableName = (...parts) => `1${createHash("sha256").update(parts.join("\n")).digest("base64url").slice(0, 8)}`;

/** Returns the name of a function as the list has it: without the hashes of crates, which each change of a crate changes. */
export const withoutHashes = (name) => name.replace(/^\$"?|"$/g, "").replace(/\[[\da-f]{8,16}\]/g, "");

/** The parts of a module in the text format that `wasm-dis` prints. */
export function parse(text) {
  const forms = [];
  for (const line of text.slice(0, text.lastIndexOf(")")).split("\n").slice(1)) {
    if (line.startsWith(" (")) forms.push(line);
    else if (line.trim()) forms[forms.length - 1] += `\n${line}`;
  }
  const named = (pattern) =>
    new Map(forms.flatMap((form) => (pattern.test(form) ? [[form.match(pattern)[1], form]] : [])));
  return { forms, functions: named(DEFINED), imports: named(IMPORTED) };
}

/** Returns the parameters and the result of a function, as types. */
function signature(form) {
  const head = form.split("\n", 1)[0];
  const params = [...head.matchAll(/\(param (?:\$\S+ )?(\w+)\)/g)].map(([, type]) => type);
  const result = head.match(/\(result ([^)]*)\)/);
  return { params, result: result ? ` ${result[0]}` : "" };
}

const escaped = (name) => name.replace(/[$.*+?^{}()|[\]\\]/g, "\\$&");

/** Groups names by runs of consecutive places. */
function runs(entries) {
  const groups = [];
  for (const [place, name] of entries.sort(([one], [other]) => one - other)) {
    const last = groups.at(-1);
    if (last && last.start + last.names.length === place) last.names.push(name);
    else groups.push({ start: place, names: [name] });
  }
  return groups;
}

/** Returns the exports of a module, each with its name, kind and what it exports. */
function exportsOf(forms) {
  return forms.flatMap((form) => {
    const match = form.match(EXPORTED);
    return match ? [{ name: match[1], kind: match[2], of: match[3] }] : [];
  });
}

/** The table of functions. It gets a place for each function that the other module calls. */
class Table {
  places = new Map();

  constructor(forms) {
    const [element, ...more] = forms.filter((form) => form.startsWith(" (elem"));
    if (more.length > 0) throw new Error("unexpected module: it has more than one list of table elements");
    const [, base, list] = element.match(/\(i32\.const (\d+)\) func (.*)\)$/s);
    for (const [index, name] of list.match(new RegExp(NAME, "g")).entries())
      if (!this.places.has(name)) this.places.set(name, Number(base) + index);
    this.size = Number(forms.find((form) => form.startsWith(" (table $0")).match(/\$0 (\d+)/)[1]);
  }

  place(name) {
    if (!this.places.has(name)) this.places.set(name, this.size++);
    return this.places.get(name);
  }
}

/** Returns a function that does something, and then calls the function in a place of the table. */
function stub(name, form, place, before = "") {
  const { params, result } = signature(form);
  const given = params.map((type, index) => ` (param $${index} ${type})`).join("");
  const types = params.map((type) => ` (param ${type})`).join("");
  const args = params.map((_, index) => `(local.get $${index})`).join(" ");
  return ` (func ${name}${given}${result}${before} (call_indirect $0${types}${result} ${args} (i32.const ${place})))`;
}

/** Returns the globals that a text uses, with their types. */
function globalsIn(text, forms) {
  return forms.flatMap((form) => {
    const match = form.match(/^ \(global (\S+) (\(mut \w+\)|\w+) /);
    return match && new RegExp(`\\(global\\.[gs]et ${escaped(match[1])}[\\s)]`).test(text)
      ? [{ name: match[1], type: match[2] }]
      : [];
  });
}

/**
 * Splits a module in the text format. `isDeferred` says of a function's name whether it goes to the second module. Returns
 * both modules as texts. The first one imports `load` from `a`, the module of its other imports, and calls it before the
 * first deferred function if nothing has instantiated the second one.
 */
export function split(text, isDeferred) {
  const { forms, functions, imports } = parse(text);
  const [deferred, kept] = [true, false].map((which) =>
    [...functions.keys()].filter((name) => isDeferred(name) === which),
  );
  const references = (names) =>
    new Set(names.flatMap((name) => [...functions.get(name).matchAll(REFERENCE)].map((match) => match[1])));
  const [fromKept, fromDeferred] = [references(kept), references(deferred)];
  const exported = exportsOf(forms);
  const table = new Table(forms);
  const tableIs = tableName(text, ...deferred);

  const isExported = (name) => exported.some(({ kind, of }) => kind === "func" && of === name);
  const stubbed = deferred.filter((name) => fromKept.has(name) || table.places.has(name) || isExported(name));
  const stubs = stubbed.map((name) => stub(name, functions.get(name), table.place(name), " (call $ensure)"));
  const firstCalled = table.size;
  // In the order of the module, which compresses better.
  const called = kept.filter((name) => fromDeferred.has(name));
  const bridges = called.map((name) => stub(name, functions.get(name), table.place(name)));

  const bodies = deferred.map((name) => functions.get(name));
  const shared = globalsIn(bodies.join("\n"), forms);
  const types = forms.filter((form) => form.startsWith(" (type"));
  const isImport = (form) => form.startsWith(" (import");

  const added = called.filter((name) => table.places.get(name) >= firstCalled);
  const isOfFirst = (form) => !types.includes(form) && !isImport(form) && !bodies.includes(form);
  const first = [
    ...types,
    ...forms.filter(isImport),
    ' (import "a" "load" (func $load))',
    ...forms
      .filter(isOfFirst)
      .map((form) => form.replace(/^ \(table \$0 \d+ \d+/, ` (table $0 ${table.size} ${table.size}`)),
    ...(added.length > 0 ? [` (elem (table $0) (i32.const ${firstCalled}) func ${added.join(" ")})`] : []),
    " (global $loaded (mut i32) (i32.const 0))",
    ` (export "${IS_LOADED}" (global $loaded))`,
    ` (export "${tableIs}" (table $0))`,
    ...shared.map(({ name }, index) => ` (export "${FIRST_GLOBAL + index}" (global ${name}))`),
    " (func $ensure (if (i32.eqz (global.get $loaded)) (then (call $load))))",
    ...stubs,
  ];

  const exportOf = (kind, of) => exported.find((one) => one.kind === kind && (!of || one.of === of)).name;
  const objects = "$__wbindgen_externrefs";
  const hasObjects = forms.some((form) => form.startsWith(` (table ${objects}`));
  const second = [
    ...types,
    ...[...imports].filter(([name]) => fromDeferred.has(name)).map(([, form]) => form),
    ` (import "b" "${exportOf("memory")}" (memory $0 1))`,
    ` (import "b" "${tableIs}" (table $0 ${table.size} ${table.size} funcref))`,
    ...(hasObjects ? [` (import "b" "${exportOf("table", objects)}" (table ${objects} 1 externref))`] : []),
    ` (import "b" "${IS_LOADED}" (global $loaded (mut i32)))`,
    ...shared.map(({ name, type }, index) => ` (import "b" "${FIRST_GLOBAL + index}" (global ${name} ${type}))`),
    ...runs(stubbed.map((name) => [table.places.get(name), name])).map(
      ({ start, names }) => ` (elem (table $0) (i32.const ${start}) func ${names.join(" ")})`,
    ),
    ...bridges,
    ...bodies,
    " (func $begin (global.set $loaded (i32.const 1)))",
    " (start $begin)",
  ];
  return { first: `(module\n${first.join("\n")}\n)\n`, second: `(module\n${second.join("\n")}\n)\n` };
}

/** Returns the text of a module, with names. */
export function disassemble(path, flags) {
  return execFileSync("wasm-dis", [...flags, path], { encoding: "utf8", maxBuffer: 1 << 28 });
}

/** Writes a text as a module with names. */
export function assemble(text, path, flags) {
  writeFileSync(`${path}.wat`, text);
  execFileSync("wasm-as", [...flags, "-g", `${path}.wat`, "-o", path]);
}

/** Returns a predicate for the names of functions that the list defers. */
export function deferredBy(list) {
  const names = new Set(readFileSync(list, "utf8").split("\n").filter(Boolean));
  return (name) => names.has(withoutHashes(name));
}
