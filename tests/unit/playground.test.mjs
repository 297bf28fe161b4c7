// The options of the playground are those of the docs and the types, and its code has the chosen ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { importSource } from "../../scripts/options.mjs";
import { chosenIn, NAMES, optionsOf, parametersOf } from "../../www/demo/gallery/choices.js";
import { OPTIONS } from "../../www/demo/gallery/options.js";
import { SNIPPETS } from "../../www/demo/gallery/snippets.js";
import { read } from "../docs-snippets.mjs";

const AWKWARD = `Ask "the" potter's </script> <b>&amp; Co</b> \\n {x}`;
const { OPTIONS: ELEMENT_OPTIONS } = await importSource("www/option-names.ts");
/** A value other than the default for every field. */
const EVERYTHING = {
  theme: "custom",
  themeTokens: "radius-window=8px",
  "themeTokens.accent": "#0a6b4a",
  colorScheme: "auto",
  position: "start",
  "offset.x": "40",
  "offset.y": "60.5",
  zIndex: "7",
  launcher: "none",
  container: "#chat",
  isolate: "false",
  locale: "de-AT",
  suggestedQuestions: `Do you ship?\n${AWKWARD}`,
  "greeting.text": AWKWARD,
  "greeting.after": "2.5",
  operatorName: "Maren",
  replyTime: AWKWARD,
  strings: "write=Ask\nnewMessages.one=One new reply",
  preview: "false",
  titleAlert: "false",
  load: "eager",
  contact: "tel:+441234567",
  events: "off",
  consent: "required",
  "visitor.name": "Anna",
  "visitor.email": "anna@example.com",
  "visitor.phone": "1",
  "visitor.company": AWKWARD,
  "visitor.wechat": "2",
  "visitor.whatsapp": "3",
  "visitor.country": "AT",
  "visitor.visitorId": "v1",
  customerId: "customer-17",
  proxy: "/chat",
};
const OF_EVERYTHING = {
  proxy: "/chat",
  theme: "custom",
  themeTokens: { accent: "#0a6b4a", "radius-window": "8px" },
  colorScheme: "auto",
  position: "start",
  offset: { x: 40, y: 60.5 },
  zIndex: 7,
  launcher: "none",
  container: "#chat",
  isolate: false,
  locale: "de-AT",
  suggestedQuestions: ["Do you ship?", AWKWARD],
  greeting: { text: AWKWARD, after: 2.5 },
  operatorName: "Maren",
  replyTime: AWKWARD,
  strings: { write: "Ask", newMessages: { one: "One new reply" } },
  preview: false,
  titleAlert: false,
  load: "eager",
  contact: "tel:+441234567",
  events: "off",
  consent: "required",
  visitor: {
    name: "Anna",
    email: "anna@example.com",
    phone: "1",
    company: AWKWARD,
    wechat: "2",
    whatsapp: "3",
    country: "AT",
    visitorId: "v1",
  },
  customerId: "customer-17",
};

const chosen = chosenIn(new URLSearchParams(EVERYTHING));
const codeOf = (name, options) => SNIPPETS.find((snippet) => snippet.name === name).code(options);

test("The playground has the options of the docs, and those of the element", () => {
  const names = OPTIONS.map(({ name }) => name);
  const section = read("docs/frontend.md").split("## Options\n")[1].split("\n## ")[0];
  const documented = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
  assert.deepEqual([...names].sort(), [...documented, "load"].sort());
  assert.deepEqual(names.filter((name) => !["container", "load"].includes(name)).sort(), [...ELEMENT_OPTIONS].sort());
});

test("The values that can be chosen are those of the types", () => {
  const types = read("www/options.ts");
  for (const { name, kind, values } of OPTIONS) {
    const type = types.match(new RegExp(`^ {2}${name}\\??: (.*);$`, "m"))?.[1] ?? "";
    if (kind !== "choice" || name === "theme" || !type.startsWith('"')) continue;
    const typed = [...type.matchAll(/"(\w+)"/g)].map(([, value]) => value);
    for (const value of typed)
      assert.ok(
        values.some(([one]) => one === value),
        `${name}: ${value}`,
      );
  }
});

test("The URL holds every field, and reproduces the options", () => {
  assert.deepEqual(Object.keys(EVERYTHING).sort(), [...NAMES].sort());
  assert.deepEqual(optionsOf(chosen), OF_EVERYTHING);
  assert.deepEqual(chosenIn(parametersOf(chosen)), chosen);
});

test("Defaults, empty fields and invalid values are omitted from the options", () => {
  const useless = {
    theme: "teal",
    locale: "",
    zIndex: "x",
    isolate: "true",
    position: "middle",
    strings: "write",
    nothing: "1",
  };
  assert.deepEqual(optionsOf(chosenIn(new URLSearchParams(useless))), { proxy: "/connector" });
  for (const { name, code } of SNIPPETS) assert.match(code({ proxy: "/connector" }), /"\/connector"/, name);
});

/** Parses the attributes of a tag as HTML. */
function attributesIn(html, tag) {
  const [, inside] = html.match(new RegExp(`<${tag}((?:\\s+[\\w-]+(?:="[^"]*"|='[^']*')?)*)>`));
  const decode = (text) =>
    text.replace(/&(amp|quot|#39|#10);/g, (_, name) => ({ amp: "&", quot: '"', "#39": "'", "#10": "\n" })[name]);
  const all = inside.matchAll(/([\w-]+)(?:="([^"]*)"|='([^']*)')?/g);
  return Object.fromEntries([...all].map(([, name, double, single]) => [name, decode(double ?? single ?? "")]));
}

const textOf = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

test("The script tag has every option as an attribute", () => {
  const { async: _, src, ...attributes } = attributesIn(codeOf("script", OF_EVERYTHING), "script");
  assert.equal(src, "/chat-widget/chat-widget.js");
  const expected = Object.entries(OF_EVERYTHING).map(([name, value]) => [`data-${kebab(name)}`, textOf(value)]);
  assert.deepEqual(attributes, Object.fromEntries(expected));
});

test("The element has every supported option as an attribute", () => {
  const { inline, ...attributes } = attributesIn(codeOf("element", OF_EVERYTHING), "chat-widget");
  assert.equal(inline, "");
  const { container: _, load: __, ...options } = OF_EVERYTHING;
  assert.deepEqual(
    attributes,
    Object.fromEntries(Object.entries(options).map(([name, value]) => [kebab(name), textOf(value)])),
  );
});

test("The component of React has every option as a prop", () => {
  const { code } = transformSync(codeOf("react", OF_EVERYTHING), { loader: "tsx", jsxFactory: "h" });
  const body = code.replace(/^import.*$/m, "").replace("export ", "");
  const h = (_, props) => props;
  const { inline, ...props } = new Function("h", "ChatWidget", `${body}; return Chat();`)(h, "ChatWidget");
  const { container: _, load: __, ...options } = OF_EVERYTHING;
  assert.equal(inline, true);
  assert.deepEqual(props, options);
});

test("The component of Vue has every option as a prop", () => {
  const code = codeOf("vue", OF_EVERYTHING);
  assert.equal(code.match(/<\/script>/g).length, 1);
  const [, script] = code.match(/<script setup>([^]*?)<\/script>/);
  const { container: _, load: __, ...options } = OF_EVERYTHING;
  assert.deepEqual(new Function(`${script.replace(/^import.*$/m, "")}; return options;`)(), options);
  assert.match(code, /<ChatWidget v-bind="options" inline \/>/);
});

/** Fields of `Settings` without an option of the same meaning: `strings` in another language needs them. */
const RUST_ONLY = ["language", "direction"];

test("The component of Leptos has every option of Settings, and names the others", () => {
  const code = codeOf("leptos", OF_EVERYTHING);
  for (const line of [
    "use chat_widget::{ChatWidget, ColorScheme, EventMode, Offset, Position, Settings, Theme};",
    'let mut settings = Settings::new("/chat");',
    'settings.locale = Some("de-AT".to_owned());',
    "settings.color_scheme = ColorScheme::Auto;",
    "settings.position = Position::Start;",
    "settings.events = EventMode::Off;",
    "settings.isolate = false;",
    "settings.preview = false;",
    "settings.greeting_after_ms = 2500;",
    "settings.inline = true;",
    "settings.consent = false;",
    "settings.launcher = false;",
    "settings.offset = Offset { x: Some(40.0), y: Some(60.5) };",
    "settings.z_index = Some(7);",
    'settings.theme_tokens = vec![("radius-window".to_owned(), "8px".to_owned())];',
    '("newMessages.one".to_owned(), "One new reply".to_owned())',
    'visitor_id: Some("v1".into()),',
    'let theme = Theme::Custom("#0a6b4a".parse().expect("a colour"));',
    "<ChatWidget settings theme/>",
    "// Not in Settings: titleAlert, load, contact.",
    `settings.reply_time = Some("Ask \\"the\\" potter's </script> <b>&amp; Co</b> \\\\n {x}".to_owned());`,
  ]) {
    assert.ok(code.includes(line), `${line}\n\n${code}`);
  }
  const struct = read("src/settings.rs").match(/^pub struct Settings \{\n([^]*?)\n\}/m)[1];
  const fields = [...struct.matchAll(/^ {4}pub (\w+):/gm)].map(([, name]) => name);
  const written = [...code.matchAll(/^ {4}settings\.(\w+) = /gm)].map(([, name]) => name);
  assert.deepEqual([...written, "proxy", ...RUST_ONLY].sort(), fields.sort());
});

test("The component of Leptos has the theme of a preset, and the defaults without a line", () => {
  assert.match(codeOf("leptos", { proxy: "/chat", theme: "light_rose" }), /let theme = Theme::LightRose;/);
  assert.doesNotMatch(codeOf("leptos", { proxy: "/chat" }), /mut|theme|Theme/);
});
