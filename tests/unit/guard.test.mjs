// The guard between the page and the WebAssembly module.

import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL("../../www/guard.ts", import.meta.url))],
  format: "esm",
  write: false,
});
const { guard } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

test("Events that come while a call of the module waits come again after it, in their order", async () => {
  const channel = new EventTarget();
  const calls = [];
  let isWaiting = false;
  const { handle } = guard(
    {
      handle(event) {
        calls.push(`${event.data} begins`);
        if (event.data === "first") {
          isWaiting = true;
          for (const data of ["second", "third"]) channel.dispatchEvent(new MessageEvent("message", { data }));
          isWaiting = false;
        }
        calls.push(`${event.data} ends`);
      },
    },
    (error) => assert.fail(error),
    () => isWaiting,
  );
  channel.addEventListener("message", (event) => handle(event));
  channel.dispatchEvent(new MessageEvent("message", { data: "first" }));
  await new Promise(setImmediate);
  const inOrder = ["first", "second", "third"].flatMap((data) => [`${data} begins`, `${data} ends`]);
  assert.deepEqual(calls, inOrder);
});

test("A module that broke is reported once, after its outermost call, and is not entered again", () => {
  const reports = [];
  let entered = 0;
  const guarded = guard(
    {
      outer: () => guarded.inner(),
      inner() {
        entered += 1;
        throw new Error("broken");
      },
    },
    (error) => reports.push(error.message),
    () => false,
  );
  assert.deepEqual(guarded.outer(), []);
  assert.deepEqual(guarded.inner(), []);
  assert.deepEqual([reports, entered], [["broken"], 1]);
});
