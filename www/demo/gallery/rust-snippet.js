// The code of a widget with some options in a Leptos application.

/** The fields of `Settings` that take an option's text unchanged. */
const TEXTS = { locale: "locale", customerId: "customer_id", operatorName: "operator_name", replyTime: "reply_time" };
/** The fields that are enums. */
const WORDS = { colorScheme: "color_scheme", position: "position", events: "events" };
const FLAGS = ["isolate", "preview"];

/** Returns a Rust component with these options. Tokens, and options that `Settings` does not have, are in comments. */
export function rustSnippet(options) {
  const fields = [];
  const field = (name, value) => fields.push(`        ${name}: ${value},`);
  for (const [option, name] of Object.entries(TEXTS)) if (options[option]) field(name, some(options[option]));
  for (const [option, name] of Object.entries(WORDS)) if (options[option]) field(name, text(options[option]));
  for (const name of FLAGS) if (name in options) field(name, options[name]);
  const { strings, suggestedQuestions, greeting, visitor, container, consent, launcher, theme, proxy } = options;
  if (strings) field("strings", list(stringsOf(strings).map(([name, value]) => `(${owned(name)}, ${owned(value)})`)));
  if (suggestedQuestions) field("suggested_questions", list(suggestedQuestions.map(owned)));
  if (greeting) field("greeting", some(greeting.text ?? greeting));
  if (greeting?.after !== undefined) field("greeting_after_ms", Math.round(greeting.after * 1000));
  if (visitor) field("visitor", profile(visitor));
  if (container) field("inline", true);
  if (consent === "required") field("consent", false);
  if (launcher) field("launcher", false);

  const imports = [
    `use chat_widget::{ChatWidget, Settings${theme && theme !== "custom" ? ", Theme" : ""}};`,
    ...(visitor ? ["use chat_widget::protocol::VisitorProfile;"] : []),
    "use leptos::prelude::*;",
  ];
  const made = `Settings::new(${text(proxy)})`;
  const settings = fields.length === 0 ? made : `Settings {\n${fields.join("\n")}\n        ..${made}\n    }`;
  const attribute = theme && theme !== "custom" ? ` theme=Theme::${pascal(theme)}` : "";
  const body = `    let settings = ${settings};\n    view! { <ChatWidget settings${attribute}/> }`;
  const component = `#[component]\nfn Chat() -> impl IntoView {\n${body}\n}`;
  return [imports.join("\n"), component, ...notes(options)].join("\n\n");
}

const text = (value) => `"${value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n")}"`;
const owned = (value) => `${text(value)}.to_owned()`;
const some = (value) => `Some(${owned(value)})`;
const pascal = (name) => name.replace(/(?:^|_)(\w)/g, (_, letter) => letter.toUpperCase());
const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function list(values) {
  const line = `vec![${values.join(", ")}]`;
  if (line.length < 70) return line;
  return `vec![\n${values.map((value) => `            ${value},`).join("\n")}\n        ]`;
}

/** Returns the texts by name, and the forms of a plural by `name.category`. */
function stringsOf(strings) {
  return Object.entries(strings).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value]] : Object.entries(value).map(([form, one]) => [`${name}.${form}`, one]),
  );
}

function profile(visitor) {
  const fields = Object.entries(visitor).map(([name, value]) => {
    const given = name === "visitorId" ? `Some(${text(value)}.into())` : some(value);
    return `            ${snake(name)}: ${given},`;
  });
  return `VisitorProfile {\n${fields.join("\n")}\n            ..VisitorProfile::default()\n        }`;
}

/** Returns the comments on options that are not fields of `Settings`. */
function notes({ offset, zIndex, themeTokens, launcher, contact, titleAlert, load }) {
  const tokens = Object.entries(themeTokens ?? {}).map(([name, value]) => [name, value]);
  for (const [side, length] of Object.entries(offset ?? {})) tokens.push([`offset-${side}`, `${length}px`]);
  if (zIndex !== undefined) tokens.push(["z-root", zIndex]);
  const found = [];
  if (tokens.length > 0) {
    const rules = tokens.map(([name, value]) => `//   --cw-${name}: ${value};`).join("\n");
    found.push(`// In your style sheet:\n// chat-widget {\n${rules}\n// }`);
  }
  if (launcher?.startsWith("#")) found.push("// Open the window by a button of yours: ChatControls::open_for_visitor.");
  const missing = Object.entries({ titleAlert, load, contact })
    .filter(([, value]) => value !== undefined)
    .map(([name]) => name);
  if (missing.length > 0) found.push(`// Not in Settings: ${missing.join(", ")}.`);
  return found;
}
