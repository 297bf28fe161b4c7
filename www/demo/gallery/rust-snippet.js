// The code of a widget with some options in a Leptos application.

/** The fields of `Settings` that take an option's text unchanged. */
const TEXTS = { locale: "locale", customerId: "customer_id", operatorName: "operator_name", replyTime: "reply_time" };
/** The fields that are enums, each with its type. */
const ENUMS = { colorScheme: "ColorScheme", position: "Position", events: "EventMode" };
const FLAGS = ["isolate", "preview"];

/** Returns a Rust component with these options. A comment names the options that `Settings` does not have. */
export function rustSnippet(options) {
  const fields = [];
  const field = (name, value) => fields.push(`    settings.${name} = ${value};`);
  const types = new Set(["ChatWidget", "Settings"]);
  for (const [option, name] of Object.entries(TEXTS)) if (options[option]) field(name, some(options[option]));
  for (const [option, type] of Object.entries(ENUMS)) {
    if (!options[option]) continue;
    types.add(type);
    field(snake(option), `${type}::${pascal(options[option])}`);
  }
  for (const name of FLAGS) if (name in options) field(name, options[name]);
  const { strings, suggestedQuestions, greeting, visitor, container, consent, launcher, offset, zIndex } = options;
  if (strings) field("strings", pairs(stringsOf(strings)));
  if (suggestedQuestions) field("suggested_questions", list(suggestedQuestions.map(owned)));
  if (greeting) field("greeting", some(greeting.text ?? greeting));
  if (greeting?.after !== undefined) field("greeting_after_ms", Math.round(greeting.after * 1000));
  if (visitor) field("visitor", profile(visitor));
  if (container) field("inline", true);
  if (consent === "required") field("consent", false);
  if (launcher) field("launcher", false);
  if (offset) {
    types.add("Offset");
    field("offset", `Offset { x: ${pixels(offset.x)}, y: ${pixels(offset.y)} }`);
  }
  if (zIndex !== undefined) field("z_index", `Some(${zIndex})`);
  const { theme, tokens } = themeOf(options);
  if (theme) types.add("Theme");
  if (tokens.length > 0) field("theme_tokens", pairs(tokens));

  const imports = [
    ...(visitor ? ["use chat_widget::protocol::VisitorProfile;"] : []),
    `use chat_widget::{${[...types].sort().join(", ")}};`,
    "use leptos::prelude::*;",
  ];
  const settings = `    let ${fields.length > 0 ? "mut " : ""}settings = Settings::new(${text(options.proxy)});`;
  const view = `    view! { <ChatWidget settings${theme && " theme"}/> }`;
  const body = [settings, ...fields, ...(theme ? [`    let theme = ${theme};`] : []), view].join("\n");
  const component = `#[component]\nfn Chat() -> impl IntoView {\n${body}\n}`;
  return [imports.join("\n"), component, ...notes(options)].join("\n\n");
}

/** Returns the theme as an expression of Rust, empty for the default, and the tokens beside it. */
function themeOf({ theme, themeTokens = {} }) {
  const { accent, ...others } = themeTokens;
  // Only a hexadecimal colour has a derived theme.
  if (theme === "custom" && accent?.startsWith("#"))
    return {
      theme: `Theme::Custom(${text(accent)}.parse().expect("a colour"))`,
      tokens: Object.entries(others),
    };
  return { theme: theme && theme !== "custom" ? `Theme::${pascal(theme)}` : "", tokens: Object.entries(themeTokens) };
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
function notes({ launcher, contact, titleAlert, load }) {
  const found = [];
  if (launcher?.startsWith("#")) found.push("// Open the window by a button of yours: ChatControls::open_for_visitor.");
  const missing = Object.entries({ titleAlert, load, contact })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (missing.length > 0) found.push(`// Not in Settings: ${missing.join(", ")}.`);
  return found;
}
