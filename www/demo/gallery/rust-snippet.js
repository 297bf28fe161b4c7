// The code of a widget with some options in a Leptos application.

import { OPTIONS } from "./options.js";

/** The values of fields by their type. A type that is not listed is an enum. */
const WRITTEN = {
  "Option<String>": (value) => some(value),
  "Option<i32>": (value) => `Some(${value})`,
  "Vec<String>": (value) => list(value.map(owned)),
  "Vec<(String, String)>": (value) => pairs(stringsOf(value)),
  bool: String,
  u32: String,
  Offset: ({ x, y }) => `Offset { x: ${pixels(x)}, y: ${pixels(y)} }`,
  VisitorProfile: (value) => profile(value),
};

/** Returns the options as the JavaScript entry passes them on to Rust. */
function passedOn({ theme, greeting, container, consent, launcher, ...options }) {
  const { text = greeting, after } = greeting ?? {};
  return {
    ...options,
    greeting: text,
    greetingAfter: after === undefined ? undefined : Math.round(after * 1000),
    inline: container === undefined ? undefined : true,
    consent: consent && consent !== "required",
    launcher: launcher && launcher === "default",
  };
}

/** Returns a Rust component with these options. A comment names the options that `Settings` does not have. */
export function rustSnippet(options) {
  const { theme, tokens } = themeOf(options);
  const types = new Set(["ChatWidget", "Settings", ...(theme ? ["Theme"] : [])]);
  const values = passedOn({ ...options, themeTokens: tokens });
  const fields = OPTIONS.flatMap(({ rust }) => rust)
    .filter(({ option }) => option !== "proxy" && values[option] !== undefined)
    .map(({ field, option, type }) => {
      const write = WRITTEN[type] ?? ((word) => `${type}::${pascal(word)}`);
      if (type === "Offset" || !WRITTEN[type]) types.add(type);
      return `    settings.${field} = ${write(values[option])};`;
    });

  const imports = [
    ...(options.visitor ? ["use chat_widget::protocol::VisitorProfile;"] : []),
    `use chat_widget::{${[...types].sort().join(", ")}};`,
    "use leptos::prelude::*;",
  ];
  const settings = `    let ${fields.length > 0 ? "mut " : ""}settings = Settings::new(${text(options.proxy)});`;
  const view = `    view! { <ChatWidget settings${theme && " theme"}/> }`;
  const body = [settings, ...fields, ...(theme ? [`    let theme = ${theme};`] : []), view].join("\n");
  const component = `#[component]\nfn Chat() -> impl IntoView {\n${body}\n}`;
  return [imports.join("\n"), component, ...notes(options)].join("\n\n");
}

/** Returns the theme as an expression of Rust, empty for the default, and the tokens beside it, if there are any. */
function themeOf({ theme, themeTokens = {} }) {
  const { accent, ...others } = themeTokens;
  // Only a hexadecimal colour has a derived theme.
  const isDerived = theme === "custom" && accent?.startsWith("#");
  const tokens = isDerived ? others : themeTokens;
  return {
    theme: isDerived
      ? `Theme::Custom(${text(accent)}.parse().expect("a colour"))`
      : theme && theme !== "custom"
        ? `Theme::${pascal(theme)}`
        : "",
    tokens: Object.keys(tokens).length > 0 ? tokens : undefined,
  };
}

const text = (value) => `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
const owned = (value) => `${text(value)}.to_owned()`;
const some = (value) => `Some(${owned(value)})`;
const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Returns a length as an optional float. */
const pixels = (length) =>
  length === undefined ? "None" : `Some(${Number.isInteger(length) ? `${length}.0` : length})`;

function list(values) {
  const line = `vec![${values.join(", ")}]`;
  if (line.length < 70) return line;
  return `vec![\n${values.map((value) => `        ${value},`).join("\n")}\n    ]`;
}

const pairs = (entries) => list(entries.map(([name, value]) => `(${owned(name)}, ${owned(value)})`));

/** Returns the texts by name, and the forms of a plural by `name.category`. */
function stringsOf(strings) {
  return Object.entries(strings).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : Object.entries(value).map(([form, one]) => [`${name}.${form}`, one]),
  );
}

function profile(visitor) {
  const fields = Object.entries(visitor).map(([name, value]) => {
    const given = name === "visitorId" ? `Some(${text(value)}.into())` : some(value);
    return `        ${snake(name)}: ${given},`;
  });
  return `VisitorProfile {\n${fields.join("\n")}\n        ..VisitorProfile::default()\n    }`;
}

/** Returns the comments on options that are not fields of `Settings`. */
function notes({ launcher, ...options }) {
  const found = [];
  if (launcher?.startsWith("#")) found.push("// Open the window by a button of yours: ChatControls::open_for_visitor.");
  const missing = OPTIONS.filter(({ name, rust }) => rust.length === 0 && name !== "theme" && name in options);
  if (missing.length > 0) found.push(`// Not in Settings: ${missing.map(({ name }) => name).join(", ")}.`);
  return found;
}
