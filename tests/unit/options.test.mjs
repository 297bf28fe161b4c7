// Options as attributes: accepted spellings, and warnings for invalid values.

import assert from "node:assert/strict";
import { test } from "node:test";
import { snippet } from "../docs-snippets.mjs";
import { PROXY, check, parsePlain, readOne, readTag } from "./option-parsers.mjs";

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
      assert.deepEqual(readTag({ [name]: text }).warnings, []);
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
      const { options, warnings } = readOne(name, text);
      assert.deepEqual([options[name], warnings], [expected, []], `${name}=${text}`);
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
    const { options, warnings } = readOne(name, "");
    assert.deepEqual([options[name] || undefined, warnings], [undefined, []], name);
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
    const { options, warnings } = readTag({ [name]: text, replyTime: "soon" });
    assert.deepEqual(warnings, [message]);
    assert.equal(options.replyTime, "soon");
    if (name === "visitor") assert.deepEqual({ ...options.visitor }, { name: "Ann" });
    else assert.equal(options[name]?.x, undefined);
  }
});

test("the warning in docs/frontend.md is the one in the console", () => {
  const [shown, used] = snippet("docs/frontend.md", "Invalid options: text").trim().split(", …");
  const [warning] = readOne("theme", "tael").warnings;
  assert.ok(warning.startsWith(shown) && warning.endsWith(used), warning);
});

test("an invalid consent attribute means that consent is required", () => {
  const { options, warnings } = readOne("consent", "requird");
  assert.equal(options.consent, "required");
  assert.match(
    warnings[0],
    /data-consent="requird" is not a state of consent; expected one of granted, required; using required/,
  );
});
