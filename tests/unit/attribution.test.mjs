// The attribution of a module's bytes to functions and crates.

import assert from "node:assert/strict";
import { test } from "node:test";
import binaryen from "binaryen";
import { crateOf, functionsOf } from "../../scripts/attribution.mjs";

test("The bytes of each function and of the data are read from a module, past its imports", () => {
  const module = binaryen.parseText(`(module
    (import "a" "noted" (func $noted (param i32)))
    (import "a" "table" (table $table 1 2 funcref))
    (import "a" "memory" (memory $memory 1))
    (import "a" "loaded" (global $loaded i32))
    (data (i32.const 8) "twelve bytes")
    (func $small (call $noted (i32.const 1)))
    (func $large (call $noted (i32.const 1)) (call $noted (i32.const 2)) (call $noted (i32.const 3))))`);
  binaryen.setDebugInfo(true);
  const { functions, data } = functionsOf(module.emitBinary());
  assert.deepEqual(functions, [
    { name: "small", size: 6 },
    { name: "large", size: 14 },
  ]);
  assert.ok(data > 12 && data < 24, `${data}`);
});

test("Generic code belongs to the project's crate that uses it, and other code to its own", () => {
  assert.equal(crateOf("<chat_session::session::Session>::handle"), "chat_session");
  assert.equal(crateOf("<alloc::vec::Vec<chat_widget::ui::Ui> as core::ops::drop::Drop>::drop"), "chat_widget");
  assert.equal(crateOf("<alloc::vec::Vec<u8> as core::ops::drop::Drop>::drop"), "alloc");
  assert.equal(crateOf("<str>::trim_matches::<<char>::is_whitespace>"), "core");
  assert.equal(crateOf("__wbindgen_malloc"), "glue");
});
