// Options with random values of any type.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PROXY, TABLE, check, parseAttributes, parsePlain } from "./option-parsers.mjs";
import { numbers } from "./random.mjs";

const THROWS = {
  get name() {
    throw new Error("mine");
  },
  toString() {
    throw new Error("mine");
  },
};
const CYCLIC = {};
CYCLIC.self = CYCLIC;
const ODD = [
  undefined,
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  NaN,
  Infinity,
  2 ** 53,
  10n,
  "",
  " ",
  "\0",
  "\ud800",
  "{",
  "[]",
  "{}",
  '"',
  "null",
  "true",
  "teal",
  "en_US",
  "#x",
  "a".repeat(5000),
  "https://",
  "javascript:1",
  Symbol("s"),
  () => 1,
  [],
  [[]],
  [undefined],
  {},
  { x: 1 },
  { text: {} },
  { __proto__: null },
  new Date(NaN),
  new Map(),
  THROWS,
  CYCLIC,
  new Proxy(
    {},
    {
      ownKeys() {
        throw new Error("mine");
      },
    },
  ),
];

test("an invalid value of any type gives a TypeError from code and a warning from an attribute, and throws nothing else", () => {
  const next = numbers(7);
  const pick = (list) => list[Math.floor(next() * list.length)];
  const letters = "abcXYZ019 _-#.:/\\{}[]\"',\n\0é😀";
  const text = () => Array.from({ length: Math.floor(next() * 12) }, () => pick([...letters])).join("");
  const value = (depth = 0) => {
    if (depth > 2 || next() < 0.5) return next() < 0.6 ? pick(ODD) : text();
    const members = Array.from({ length: Math.floor(next() * 4) }, () => [
      pick(["x", "y", "text", "after", "name", "email", "accent", "send", text()]),
      value(depth + 1),
    ]);
    return next() < 0.5 ? Object.fromEntries(members) : members.map(([, one]) => one);
  };
  const names = Object.keys(TABLE);
  for (let times = 0; times < 20_000; times += 1) {
    const given = { ...PROXY, [pick(names)]: value(), [pick(names)]: value() };
    try {
      check(given);
    } catch (error) {
      assert.ok(error instanceof TypeError && error.message.startsWith("chat widget: the option "), error.stack);
    }
    const warnings = [];
    // Without a proxy there is no chat.
    const { ...options } = parseAttributes({ ...given, proxy: "/connector" }, "", (message) => warnings.push(message));
    for (const message of warnings) assert.match(message, /^chat widget: [\w-]+[^]*; expected /);
    // The replacement is valid itself.
    const again = check(options);
    for (const name of names) assert.deepEqual(again[name], options[name], name);
    parsePlain(given, true);
  }
});
