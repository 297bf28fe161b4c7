// The split of the WebAssembly module: it computes the same whatever functions are deferred.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import binaryen from "binaryen";
import { FEATURES } from "../../scripts/build.mjs";
import { assemble, disassemble, split } from "../../scripts/split.mjs";

const folder = mkdtempSync(join(tmpdir(), "split-"));
after(() => rmSync(folder, { recursive: true }));

/** Functions that call each other, themselves, imports and places of the table, and use the memory and a global. */
const SOURCE = `(module
  (type $unary (func (param i32) (result i32)))
  (import "a" "noted" (func $noted (param i32)))
  (table $0 3 3 funcref)
  (table $__wbindgen_externrefs 1 externref)
  (memory $0 1)
  (global $calls (mut i32) (i32.const 0))
  (elem (table $0) (i32.const 1) func $double $even)
  (export "memory" (memory $0))
  (export "objects" (table $__wbindgen_externrefs))
  (export "even" (func $even))
  (export "sum" (func $sum))
  (export "indirect" (func $indirect))
  (export "calls" (func $calls_so_far))
  (func $double (param $n i32) (result i32) (call $count) (i32.mul (local.get $n) (i32.const 2)))
  (func $even (param $n i32) (result i32) (call $count)
    (if (result i32) (i32.eqz (local.get $n)) (then (i32.const 1)) (else (call $odd (i32.sub (local.get $n) (i32.const 1))))))
  (func $odd (param $n i32) (result i32) (call $noted (local.get $n))
    (if (result i32) (i32.eqz (local.get $n)) (then (i32.const 0)) (else (call $even (i32.sub (local.get $n) (i32.const 1))))))
  (func $sum (param $n i32) (param $scale f64) (result f64)
    (i32.store (i32.const 16) (i32.add (i32.load (i32.const 16)) (local.get $n)))
    (f64.mul (local.get $scale) (f64.convert_i32_s (call $double (i32.load (i32.const 16))))))
  (func $indirect (param $place i32) (param $n i32) (result i32)
    (call_indirect $0 (type $unary) (local.get $n) (local.get $place)))
  (func $count (global.set $calls (i32.add (global.get $calls) (i32.const 1))))
  (func $calls_so_far (result i32) (call $count) (global.get $calls))
)`;
const FUNCTIONS = ["$double", "$even", "$odd", "$sum", "$indirect", "$count", "$calls_so_far"];

/** Returns the module's text as the build has it. */
function source() {
  assemble(SOURCE, join(folder, "source.wasm"), FEATURES);
  return disassemble(join(folder, "source.wasm"), FEATURES);
}

/** Returns everything that can be seen of a use of the module. */
function use({ even, sum, indirect, calls }, noted) {
  const results = [even(7), even(4), sum(3, 0.5), sum(4, 2), indirect(1, 21), indirect(2, 3), calls()];
  return { results, noted };
}

/** Compiles a text. As a library, because a process for each of hundreds would take minutes. */
function compiled(text) {
  const parsed = binaryen.parseText(text);
  const bytes = parsed.emitBinary();
  parsed.dispose();
  return new WebAssembly.Module(bytes);
}

/** Uses both modules. The second one is loaded at first, or when a deferred function is called. */
function useSplit({ first, second }, { isAhead }) {
  const noted = [];
  const imports = { noted: (n) => noted.push(n) };
  let loads = 0;
  const load = () => {
    loads += 1;
    new WebAssembly.Instance(second, { a: imports, b: exports });
  };
  const { exports } = new WebAssembly.Instance(first, { a: { ...imports, load } });
  if (isAhead) load();
  return { ...use(exports, noted), loads };
}

test("Any functions can be deferred, and are loaded once, at first or when one is called", () => {
  const text = source();
  const noted = [];
  const whole = new WebAssembly.Instance(compiled(text), { a: { noted: (n) => noted.push(n) } });
  const expected = use(whole.exports, noted);
  assert.ok(expected.noted.length > 0);
  for (let chosen = 0; chosen < 2 ** FUNCTIONS.length; chosen += 1) {
    const deferred = FUNCTIONS.filter((_, index) => chosen & (1 << index));
    const parts = split(text, (name) => deferred.includes(name));
    const modules = { first: compiled(parts.first), second: compiled(parts.second) };
    for (const isAhead of [true, false]) {
      const loads = isAhead || deferred.length > 0 ? 1 : 0;
      assert.deepEqual(useSplit(modules, { isAhead }), { ...expected, loads }, `deferred: ${deferred.join(" ")}`);
    }
  }
});

test("Halves of different builds do not link", () => {
  const halves = [SOURCE, SOURCE.replace("(i32.const 16)", "(i32.const 24)")].map((text) => {
    assemble(text, join(folder, "build.wasm"), FEATURES);
    const { first, second } = split(disassemble(join(folder, "build.wasm"), FEATURES), (name) => name === "$sum");
    return { first: compiled(first), second: compiled(second) };
  });
  const imports = { noted: () => {}, load: () => {} };
  const link = (first, second) => {
    const { exports } = new WebAssembly.Instance(first, { a: imports });
    return new WebAssembly.Instance(second, { a: imports, b: exports });
  };
  link(halves[0].first, halves[0].second);
  assert.throws(() => link(halves[0].first, halves[1].second), WebAssembly.LinkError);
});
