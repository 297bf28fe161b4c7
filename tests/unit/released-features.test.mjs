// The released command is compiled without the test mode of the service: no feature that it has leads there.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { root } from "../../scripts/setup.mjs";

const metadata = ["metadata", "--locked", "--no-deps", "--format-version", "1"];
const { packages } = JSON.parse(execFileSync("cargo", metadata, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 }));
const named = (name) => packages.find((one) => one.name === name);

/** Returns the features of a package that some of them switch on, with themselves, and those of its dependencies. */
function reached(name, features) {
  const { features: known } = named(name);
  const all = new Set();
  const add = (feature) => {
    if (all.has(feature)) return;
    all.add(feature);
    for (const next of known[feature] ?? []) add(next);
  };
  for (const feature of features) add(feature);
  return [...all];
}

test("The features of the released command do not reach the test mode, and those of the demo do", () => {
  const testMode = "chat-service/test-mode";
  assert.ok(!reached("chat-connector", ["default", "command"]).includes(testMode));
  assert.ok(reached("chat-connector", ["demo"]).includes(testMode));
  assert.ok(!reached("chat-service", ["default"]).includes("test-mode"));
  const service = named("chat-connector").dependencies.find(({ name, kind }) => name === "chat-service" && !kind);
  assert.deepEqual(service.features, []);
});
