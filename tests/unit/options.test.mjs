// The option table parses any value of a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { importSource, optionTable, plainPattern } from "../../scripts/options.mjs";
import { snippet } from "../docs-snippets.mjs";

// The globals of a page that the options use.
globalThis.location = new URL("https://shop.example/pots/mugs.html?page=2");
const nothing = {
  querySelector(selector) {
    if (!/^[\w.#-]+$/.test(selector) || /[.#]$/.test(selector)) throw new SyntaxError("not a selector");
    return null;
  },
};
globalThis.document = { ...nothing, documentElement: { lang: "en" }, createDocumentFragment: () => nothing };
Object.defineProperty(globalThis, "navigator", { configurable: true, value: { language: "en-GB" } });

const TABLE = await optionTable();
const { default: check, parseAttributes } = await importSource("www/validate-options.ts");
const { parsePlain } = await importSource("www/parse-options.ts", { PLAIN: JSON.stringify(await plainPattern()) });
const { localeOf } = await importSource("www/locale.ts");

const PROXY = { proxy: "/connector" };
/** Returns the parsed attributes, and the warnings. */
function readTag(attributes) {
  const said = [];
  const { ...options } = parseAttributes({ ...PROXY, ...attributes }, "data-", (message) => said.push(message));
  return { options, said };
}
const readOne = (name, text) => readTag({ [name]: text });

test("the pattern of common values accepts only valid values, and parses them like the table", () => {
  const values = {
    proxy: ["/connector", "/a/b-c", "/x_y"],
    theme: ["teal", "light_rose", "custom", "violet", "light_violet", "Teal", "tael"],
    colorScheme: ["auto", "dark", "Dark"],
    locale: ["de", "en-US", "en_US", "x"],
    position: ["end", "start", "left"],
    operatorName: ["Anna", "{", ""],
    greeting: ["Hi", "Hi\n{}", ""],
    replyTime: ["soon"],
    suggestedQuestions: [["Do you ship?"], ["a", "b"], [], [""]],
    load: ["idle", "intent", "later"],
  };
  let plain = 0;
  for (const [name, some] of Object.entries(values)) {
    for (const value of some) {
      const options = { ...PROXY, [name]: value };
      const taken = parsePlain(options, false);
      if (!taken) continue;
      plain += 1;
      const { proxy, ...checked } = check(options);
      assert.ok(name === "proxy" || proxy === "https://shop.example/connector");
      if (name !== "proxy") assert.deepEqual(checked, { [name]: value });
      const text = typeof value === "string" ? value : JSON.stringify(value);
      assert.deepEqual(parsePlain({ ...PROXY, [name]: text }, true), taken, `${name}=${text} as an attribute`);
      assert.deepEqual(readTag({ [name]: text }).said, []);
    }
  }
  assert.ok(plain > 15, `${plain} of them`);
});

test("other capitalization and common synonyms are accepted without a warning", () => {
  for (const [name, expected, texts] of [
    ["theme", "teal", ["teal", "Teal", "TEAL", " teal "]],
    ["theme", "light_teal", ["light_teal", "light-teal", "Light Teal", "LIGHT_TEAL"]],
    ["colorScheme", "dark", ["Dark", "DARK"]],
    ["colorScheme", "auto", ["Auto", "system"]],
    ["position", "end", ["End", "right", "Right", "bottom-right", "bottom right", "bottom_right", "inline-end"]],
    ["position", "start", ["START", "left", "bottom-left"]],
    ["events", "off", ["none", "None", "false", "off", "no"]],
    ["events", "auto", ["true", "Auto"]],
    ["consent", "required", ["Required", "required"]],
    ["isolate", false, ["false", "False", "0", "no", "off"]],
    ["isolate", true, ["true", "", "1", "yes"]],
    ["preview", false, ["no"]],
    ["titleAlert", false, ["0"]],
    ["launcher", "none", ["none", "None", "false"]],
    ["launcher", "default", ["default", "Default", "true"]],
    ["launcher", ".ask-us", [".ask-us"]],
    ["locale", "en-US", ["en-US", "en_US", " en-US"]],
    ["contact", "mailto:help@shop.example", ["mailto:help@shop.example", " mailto:help@shop.example "]],
    ["load", "intent", ["Intent"]],
  ]) {
    for (const text of texts) {
      const { options, said } = readOne(name, text);
      assert.deepEqual([options[name], said], [expected, []], `${name}=${text}`);
    }
  }
});

test("right and left are sides of the screen, also in right-to-left languages", () => {
  const side = (position, locale) => readTag({ position, locale }).options.position;
  assert.deepEqual(
    [side("right", "ar"), side("left", "he-IL"), side("right", "en"), side("end", "ar")],
    ["start", "end", "end", "end"],
  );
});

test("an empty attribute counts as absent", () => {
  for (const name of [
    "theme",
    "position",
    "locale",
    "contact",
    "customerId",
    "greeting",
    "visitor",
    "zIndex",
    "events",
    "consent",
  ]) {
    const { options, said } = readOne(name, "");
    assert.deepEqual([options[name] || undefined, said], [undefined, []], name);
  }
});

test("an invalid attribute disables only that option, and the warning names the accepted values", () => {
  for (const [name, text, message] of [
    [
      "theme",
      "tael",
      'chat widget: data-theme="tael" is not a theme; expected one of teal, blue, emerald, violet, amber, rose, slate, light_teal, light_blue, light_amber, light_rose, custom; using teal',
    ],
    ["position", "top", 'chat widget: data-position="top" is not a position; expected one of end, start; using end'],
    [
      "events",
      "some",
      'chat widget: data-events="some" is not a mode of reporting; expected one of auto, manual, off; using auto',
    ],
    [
      "launcher",
      "##",
      'chat widget: data-launcher="##" is not a selector; expected default, none or a selector of the page\'s own buttons; using default',
    ],
    [
      "zIndex",
      "high",
      'chat widget: data-z-index="high" is not a layer; expected a whole number within ±2147483647; using 2147483000',
    ],
    [
      "offset",
      "{x: 40}",
      'chat widget: data-offset="{x: 40}" is not an object; expected an object such as {"x": 40, "y": 20}, in pixels; using 20',
    ],
    [
      "contact",
      "javascript:alert(1)",
      'chat widget: data-contact="javascript:alert(1)" is not an address to turn to; expected an address that begins with https://, mailto: or tel:; it is left out',
    ],
    [
      "visitor",
      '{"name": "Ann", "phone": 5}',
      "chat widget: data-visitor.phone=5 is not a string; expected a string; it is left out",
    ],
    [
      "isolate",
      "perhaps",
      'chat widget: data-isolate="perhaps" is not true or false; expected true or false; using true',
    ],
    [
      "container",
      "#nope",
      'chat widget: data-container="#nope" is not on this page; expected an element of the page or the selector of one; using a window that floats',
    ],
  ]) {
    const { options, said } = readTag({ [name]: text, replyTime: "soon" });
    assert.deepEqual(said, [message]);
    assert.equal(options.replyTime, "soon");
    if (name === "visitor") assert.deepEqual({ ...options.visitor }, { name: "Ann" });
    else assert.equal(options[name]?.x, undefined);
  }
});

test("the warning in docs/frontend.md is the one in the console", () => {
  const [shown, used] = snippet("docs/frontend.md", "Invalid options: text").trim().split(", …");
  const [said] = readOne("theme", "tael").said;
  assert.ok(said.startsWith(shown) && said.endsWith(used), said);
});

test("an empty consent attribute means that consent is required", () => {
  const { options, said } = readOne("consent", "requird");
  assert.equal(options.consent, "required");
  assert.match(
    said[0],
    /data-consent="requird" is not a state of consent; expected one of granted, required; using required/,
  );
});

test("invalid values from code are rejected with the expected type", () => {
  for (const [name, ...values] of [
    [
      "proxy",
      "",
      5,
      null,
      undefined,
      "//api.example/connector",
      "/\\api.example",
      "\\\\api.example",
      "javascript:alert(1)",
      "/connector?x",
      "/connector#x",
      "https://user:word@api.example/",
      "ftp://api.example",
    ],
    ["theme", "Teal", "pink", "", 5],
    [
      "themeTokens",
      "accent",
      [],
      { accents: "red" },
      { accent: "#12" },
      { accent: 5 },
      { accent: "red;color:blue" },
      { accent: "" },
    ],
    ["colorScheme", "Dark", true],
    ["locale", "not a locale", "e", "en-", "a".repeat(36), 5, "en\nx", "en-abcdefgh-abcdefgh-abcdefgh-abcdef"],
    ["strings", "Go", { send: 5 }, { newMessages: { one: 5 } }],
    ["suggestedQuestions", "Do you ship?", [5], [""], Array(21).fill("a"), ["a".repeat(4001)]],
    ["position", "right", "middle"],
    ["offset", 20, { x: -1 }, { x: "40" }, { y: Number.NaN }, { y: Infinity }, { x: 10_001 }, { z: 1 }],
    ["zIndex", "high", "5", 1.5, Number.NaN, 2_147_483_648, -2_147_483_648],
    ["launcher", "", 5],
    ["container", "", 5, {}],
    ["isolate", "false", 0],
    ["visitor", "Ann", [], { name: 5 }, { vip: "yes" }],
    ["customerId", 17, "a".repeat(201)],
    ["events", "none", false],
    ["consent", "no", false],
    ["operatorName", 5],
    [
      "greeting",
      5,
      {},
      { text: 5 },
      { text: "Hi", after: -1 },
      { text: "Hi", after: "8" },
      { text: "Hi", after: 86_401 },
    ],
    ["preview", "no"],
    ["titleAlert", 1],
    [
      "contact",
      "javascript:alert(1)",
      "http://shop.example",
      "/contact.html",
      "help@shop.example",
      "https:",
      "mailto:",
      "tel:",
      "https://a:b",
      5,
    ],
    ["replyTime", {}],
  ]) {
    for (const value of values) {
      const refused = {
        name: "TypeError",
        message: new RegExp(`^chat widget: the option ${name}[\\w.]* must be .+, not `),
      };
      assert.throws(
        () => check({ ...PROXY, [name]: value }),
        value == null && name !== "proxy" ? undefined : refused,
        `${name}: ${String(JSON.stringify(value))}`,
      );
    }
  }
});

test("documented values from code are accepted", () => {
  const { ...taken } = check({
    proxy: "https://api.example/connector/",
    theme: "custom",
    themeTokens: { accent: "#0a66c2", "--cw-radius-window": "8px", accentHover: "light-dark(#000, #fff)" },
    locale: "ar-u-nu-latn",
    strings: { send: "Go", newMessages: { one: "One", other: undefined } },
    offset: { x: 0, y: 20.5 },
    zIndex: -1,
    visitor: { name: "Ann", email: undefined },
    greeting: { text: "Hi", after: 0 },
    contact: "tel:+441234567",
    customerId: "",
    operatorName: undefined,
  });
  assert.equal(taken.proxy, "https://api.example/connector");
  assert.deepEqual(
    { ...taken.themeTokens },
    { accent: "#0a66c2", "radius-window": "8px", "accent-hover": "light-dark(#000, #fff)" },
  );
  assert.deepEqual(
    [taken.locale, { ...taken.offset }, taken.zIndex, { ...taken.visitor }],
    ["ar-u-nu-latn", { x: 0, y: 20.5 }, -1, { name: "Ann" }],
  );
  assert.deepEqual([{ ...taken.greeting }, taken.contact], [{ text: "Hi", after: 0 }, "tel:+441234567"]);
  assert.ok(Object.hasOwn(taken, "operatorName"), "an option that is taken back is named");
});

test("a proxy prefix resolves to the page's own origin", () => {
  const address = (proxy) => check({ proxy }).proxy;
  assert.equal(address("/connector/"), "https://shop.example/connector");
  assert.equal(address("connector"), "https://shop.example/pots/connector");
  assert.equal(address("../connector"), "https://shop.example/connector");
  assert.equal(address("HTTPS://API.example/c"), "https://api.example/c");
});

test("the locale is the first that is a language tag", () => {
  const of = (chosen, lang) => {
    globalThis.document.documentElement.lang = lang;
    return localeOf(chosen);
  };
  assert.deepEqual(
    [of("de", "fr"), of(undefined, "pt_BR"), of("not a locale", "fr"), of("", "english, please"), of(undefined, "")],
    ["de", "pt-BR", "fr", "en-GB", "en-GB"],
  );
  assert.equal(of("en-abcdefgh-abcdefgh-abcdefgh-abcdef", "fr"), "fr", "36 characters");
});

/** Returns numbers from 0 to 1 from a generator with a fixed seed (mulberry32). */
function numbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
    const said = [];
    // Without a proxy there is no chat.
    const { ...options } = parseAttributes({ ...given, proxy: "/connector" }, "", (message) => said.push(message));
    for (const message of said) assert.match(message, /^chat widget: [\w-]+[^]*; expected /);
    // The replacement is valid itself.
    const again = check(options);
    for (const name of names) assert.deepEqual(again[name], options[name], name);
    parsePlain(given, true);
  }
});
