// Options from code: accepted values, and errors for invalid ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { PROXY, check, localeOf } from "./option-parsers.mjs";

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
    ["visitorToken", 5, {}, true, "a token", "tök"],
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

test("an invalid text is named, and so is an invalid plural form", () => {
  const refusal = (strings, message) => assert.throws(() => check({ ...PROXY, locale: "de", strings }), { message });
  refusal(
    { write: 3 },
    "chat widget: the option strings.write must be a string, or the forms of a plural as an object, not 3",
  );
  refusal({ tooLong: { one: 3 } }, "chat widget: the option strings.tooLong.one must be a string, not 3");
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
  assert.ok(Object.hasOwn(taken, "operatorName"), "a reset option is present");
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

test("a visitor token is a text or a function, and an invalid one is not shown", () => {
  const token = async () => "a.b.c";
  for (const given of ["a.b.c", "not-even-a-token", token]) {
    assert.equal(check({ ...PROXY, visitorToken: given }).visitorToken, given);
    assert.equal(check({ visitorToken: given }, "data-").visitorToken, given);
  }
  const secret = { token: "eyJhbGciOi" };
  assert.throws(
    () => check({ ...PROXY, visitorToken: secret }),
    ({ message }) => /visitorToken must be a string/.test(message) && !/eyJhbGciOi/.test(message),
  );
});
