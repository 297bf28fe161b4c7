// The playground's address holds every option, and its code has the chosen ones.

import assert from "node:assert/strict";
import { test } from "node:test";
import { transformSync } from "esbuild";
import { chosenIn, NAMES, optionsOf, parametersOf } from "../../www/demo/gallery/choices.js";
import { OPTIONS } from "../../www/demo/gallery/options.js";
import { SNIPPETS } from "../../www/demo/gallery/snippets.js";
import { read } from "../docs-snippets.mjs";

const AWKWARD = `Ask "the" potter's </script> <b>&amp; Co</b> \\n {x}`;
/** A text of each kind of field that is not its default, and the value of the option. */
const SAMPLES = {
  text: [AWKWARD, AWKWARD],
  number: ["60.5", 60.5],
  flag: ["false", false],
  lines: [`Do you ship?\n${AWKWARD}`, ["Do you ship?", AWKWARD]],
  pairs: ["write=Ask\nnewMessages.one=One new reply", { write: "Ask", newMessages: { one: "One new reply" } }],
};

/** Returns a text for each field of an option by its name, and the value of the option. */
function sampleOf({ name, kind, values, fields = [] }) {
  // A custom theme has an accent.
  if (name === "themeTokens")
    return [
      { themeTokens: "radius-window=8px", "themeTokens.accent": "#0a6b4a" },
      { accent: "#0a6b4a", "radius-window": "8px" },
    ];
  if (kind === "choice") return [{ [name]: values.at(-1)[0] }, values.at(-1)[0]];
  if (kind !== "fields") return [{ [name]: SAMPLES[kind][0] }, SAMPLES[kind][1]];
  return [
    Object.fromEntries(fields.map((field) => [`${name}.${field.name}`, SAMPLES[field.kind][0]])),
    Object.fromEntries(fields.map((field) => [field.name, SAMPLES[field.kind][1]])),
  ];
}

const samples = OPTIONS.map((option) => [option.name, ...sampleOf(option)]);
/** A value other than the default for every field, and the options that they make. */
const EVERYTHING = Object.assign({}, ...samples.map(([, texts]) => texts));
const OF_EVERYTHING = Object.fromEntries(samples.map(([name, , value]) => [name, value]));

const chosen = chosenIn(new URLSearchParams(EVERYTHING));
const codeOf = (name, options) => SNIPPETS.find((snippet) => snippet.name === name).code(options);

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

test("The component of Leptos has every option of Settings, and names the others", () => {
  const code = codeOf("leptos", { ...OF_EVERYTHING, proxy: "/chat", locale: "de-AT", zIndex: 7 });
  for (const line of [
    "use chat_widget::{ChatWidget, ColorScheme, EventMode, Offset, Position, Settings, Theme};",
    'let mut settings = Settings::new("/chat");',
    'settings.locale = Some("de-AT".to_owned());',
    "settings.color_scheme = ColorScheme::Dark;",
    "settings.position = Position::Start;",
    "settings.events = EventMode::Off;",
    "settings.isolate = false;",
    "settings.preview = false;",
    "settings.greeting_after_ms = 60500;",
    "settings.inline = true;",
    "settings.consent = false;",
    "settings.launcher = false;",
    "settings.offset = Offset { x: Some(60.5), y: Some(60.5) };",
    "settings.z_index = Some(7);",
    'settings.theme_tokens = vec![("radius-window".to_owned(), "8px".to_owned())];',
    '("newMessages.one".to_owned(), "One new reply".to_owned())',
    `visitor_id: Some("Ask \\"the\\" potter's </script> <b>&amp; Co</b> \\\\n {x}".into()),`,
    'let theme = Theme::Custom("#0a6b4a".parse().expect("a colour"));',
    "<ChatWidget settings theme/>",
    "// Open the window by a button of yours: ChatControls::open_for_visitor.",
    "// Not in Settings: titleAlert, load.",
    `settings.reply_time = Some("Ask \\"the\\" potter's </script> <b>&amp; Co</b> \\\\n {x}".to_owned());`,
  ]) {
    assert.ok(code.includes(line), `${line}\n\n${code}`);
  }
  const written = [...code.matchAll(/^ {4}settings\.(\w+) = /gm)].map(([, name]) => name);
  // `strings` in another language need the last two, which the JavaScript entry sets by the locale.
  const fields = OPTIONS.flatMap(({ rust }) => rust).map(({ field }) => field);
  assert.deepEqual([...written, "proxy", "language", "direction"].sort(), fields.sort());
});

test("The code is that of the console's settings", () => {
  for (const { options, ...expected } of JSON.parse(read("crates/console/src/ui/settings/widget/snippets.json")))
    for (const name of ["script", "leptos"]) assert.deepEqual(codeOf(name, options).split("\n"), expected[name]);
});

test("The component of Leptos has the theme of a preset, and the defaults without a line", () => {
  assert.match(codeOf("leptos", { proxy: "/chat", theme: "light_rose" }), /let theme = Theme::LightRose;/);
  assert.doesNotMatch(codeOf("leptos", { proxy: "/chat" }), /mut|theme|Theme/);
});
