// docs/contract.md names every path, member, value, error and limit of the protocol's types.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { snippet } from "../docs-snippets.mjs";

const root = new URL("../../", import.meta.url);
const page = readFileSync(new URL("docs/contract.md", root), "utf8");
/** Returns a source of the protocol without its tests. */
const source = (name) =>
  readFileSync(new URL(`crates/protocol/src/${name}.rs`, root), "utf8").split("#[cfg(test)]\nmod tests")[0];
/** Everything in the page that is marked as code, such as a member. */
const named = new Set([...page.matchAll(/`([^`\n]+)`/g)].map(([, code]) => code));
/** Members are also named as parts of a path: `lead.score`. */
const members = new Set([...named].flatMap((code) => [code, ...code.split(".")]));

for (const name of [
  "activation",
  "completion",
  "config",
  "content",
  "event",
  "job",
  "message",
  "overlay",
  "presence",
  "send",
  "site",
  "visitor",
]) {
  test(`the page names every member that ${name}.rs writes`, () => {
    const written = [...source(name).matchAll(/impl From<&\w+> for Value \{[\s\S]*?\n\}/g)]
      .map(([code]) => code)
      .join();
    const wire = [...written.matchAll(/\(\s*"(\w+)"(?:\.(?:into|to_owned)\(\))?,/g)].map(([, member]) => member);
    const list = [...source(name).matchAll(/const NAMES[^=]*= \[([^\]]*)\]/g)].flatMap(([, names]) =>
      [...names.matchAll(/"(\w+)"/g)].map(([, member]) => member),
    );
    assert.ok(wire.length + list.length > 0, "the test finds members");
    assert.deepEqual(
      [...wire, ...list].filter((member) => !members.has(member)),
      [],
    );
  });
}

test("the page has every endpoint with its method", () => {
  const endpoints = source("endpoint");
  const paths = [...endpoints.matchAll(/\/\/\/ `(GET|POST) (\/[^`]+)`/g)];
  assert.equal(paths.length, 11);
  for (const [, method, path] of paths)
    assert.match(page, new RegExp(`^### ${method} ${path.replace(/[{}]/g, "\\$&")}$`, "m"));
});

test("the page has every value that the protocol knows", () => {
  const values = { send: "AiStatus", message: "Role", job: "JobType", content: "ContentKind", envelope: "ErrorCode" };
  for (const [file, type] of Object.entries(values)) {
    const names = new RegExp(`impl ${type} \\{[\\s\\S]*?\\n    pub fn as_str[\\s\\S]*?\\n    \\}`).exec(
      source(file),
    )[0];
    const known = [...names.matchAll(/=> "(\w+)"/g)].map(([, value]) => value);
    assert.ok(known.length >= 3, type);
    for (const value of known) assert.ok(named.has(value), `${type} ${value}`);
  }
});

test("the page has the limits of the protocol", () => {
  const limits = source("limits");
  const range = (name) => new RegExp(`${name}: RangeInclusive<usize> = (\\d+)\\.\\.=(\\d+)`).exec(limits).slice(1);
  const number = (name) => new RegExp(`${name}: usize = (\\d+)`).exec(limits)[1];
  const rows = page.split("## Limits")[1];
  for (const name of ["MESSAGE_LENGTH", "EVENTS", "KEY_LENGTH", "CONTENT_ITEMS"]) {
    const [min, max] = range(name);
    assert.ok(rows.includes(`${min} to ${max}`), name);
  }
  assert.ok(rows.includes(`${number("LANGUAGE_TAG_LENGTH")} characters`));
  assert.ok(page.includes(`at most ${number("SUPPORTED_LOCALES")} (`));
});

test("the page has the values of our service", () => {
  const service = (path) => readFileSync(new URL(`crates/service/src/${path}.rs`, root), "utf8");
  assert.match(service("idempotency"), /KEY_LIFETIME_MS: i64 = 24 \* 60 \* 60 \* 1000/);
  assert.match(page, /remembers a key for 24 hours/);
  assert.match(service("publishing"), /LEASE: Duration = Duration::from_mins\(1\)/);
  assert.match(page, /ours: one minute after the claim/);
  assert.match(service("publishing"), /MAX_ATTEMPTS: i64 = 8;/);
  assert.match(page, /\(ours: 8\)/);
  const limit = /fn body_limit[\s\S]*?\n {4}\}/.exec(service("connector_api/call"))[0];
  assert.deepEqual(
    [...limit.matchAll(/=> ([\d* ]+\d),/g)].map(([, size]) => size),
    ["256 * 1024", "8 * 1024 * 1024", "64 * 1024"],
  );
  assert.match(page, /64 KiB; 256 KiB for events and results of jobs; 8 MiB for a content sync/);
});

test("the examples of the page are envelopes as the protocol writes them", () => {
  const success = JSON.parse(snippet("docs/contract.md", "Read a response: json"));
  const failure = JSON.parse(snippet("docs/contract.md", "Read a response: json 2"));
  const envelope = source("envelope");
  const members = (code) => [...code.matchAll(/\("(\w+)"\.into\(\),/g)].map(([, name]) => name);
  const write = (name) => new RegExp(`pub fn ${name}\\([\\s\\S]*?\\n\\}`).exec(envelope)[0];
  assert.deepEqual(Object.keys(success), members(write("success")));
  assert.deepEqual(
    [...Object.keys(failure.error), ...Object.keys(failure)],
    members(write("failure")),
    "an error, and its envelope",
  );
  assert.deepEqual([success.ok, failure.ok], [true, false]);
  assert.ok(envelope.includes(`=> "${failure.error.code}"`), failure.error.code);
  const tracking = /impl From<&Tracking> for Value \{[\s\S]*?\n\}/.exec(source("event"))[0];
  assert.deepEqual(
    Object.keys(success.data),
    [...tracking.matchAll(/\("(\w+)",/g)].map(([, name]) => name),
  );
});

test("the diagram has the path that our service and our proxy use", () => {
  const [, path] = /(\/api\/\S+)/.exec(snippet("docs/contract.md", "Call the API: text"));
  for (const file of ["crates/connector/src/connection.rs", "crates/service/src/lib.rs"])
    assert.match(readFileSync(new URL(file, root), "utf8"), new RegExp(`API_BASE: &str = "${path}"`), file);
});
