// The code that puts a widget with some options onto a page: a script tag, an element, and components of frameworks.

import { OPTIONS } from "./options.js";
import { rustSnippet } from "./rust-snippet.js";

/** The kinds of code. Each has a label, and a function from options to code. */
export const SNIPPETS = [
  { name: "script", label: "Script tag", code: scriptTag },
  { name: "element", label: "Element", code: htmlElement },
  { name: "react", label: "React", code: react },
  { name: "vue", label: "Vue", code: vue },
  { name: "leptos", label: "Leptos", code: rustSnippet },
];

/** Returns an option's name in kebab-case. */
export const attributeOf = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Returns an option's value as the text of an attribute. A greeting that looks like JSON is written as JSON. */
export function attributeText(name, value) {
  if (name === "greeting" && typeof value === "string" && /^\s*\{/.test(value)) return JSON.stringify({ text: value });
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns an attribute in HTML, with JSON between single quotes so that it stays readable. */
function htmlAttribute(name, option, value) {
  const text = attributeText(option, value).replaceAll("&", "&amp;").replaceAll("\n", "&#10;");
  const isText = typeof value === "string" && !text.startsWith("{");
  return isText ? `${name}="${text.replaceAll('"', "&quot;")}"` : `${name}='${text.replaceAll("'", "&#39;")}'`;
}

/** Returns the elements of the page that the options name. */
function elementsFor({ launcher, container }) {
  const elements = [];
  if (launcher === "#ask") elements.push('<button id="ask" type="button">Ask us</button>');
  if (container)
    elements.push("<!-- The window is as large as this element. -->", `<div id="${container.slice(1)}"></div>`);
  return elements;
}

function scriptTag(options) {
  const attributes = Object.entries(options).map(([name, value]) =>
    htmlAttribute(`data-${attributeOf(name)}`, name, value),
  );
  const start = '<script async src="/chat-widget/chat-widget.js"';
  const tag =
    attributes.length === 1
      ? `${start} ${attributes[0]}></script>`
      : `${[start, ...attributes].join("\n  ")}></script>`;
  return [...elementsFor(options), tag].join("\n");
}

/** Returns the options of a component or an element, which is inline in place of the option `container`. */
function withoutPlace(chosen) {
  const names = OPTIONS.filter(({ onElement }) => onElement).map(({ name }) => name);
  const options = Object.fromEntries(Object.entries(chosen).filter(([name]) => names.includes(name)));
  return { isInline: chosen.container !== undefined, options };
}

function htmlElement(chosen) {
  const { isInline, options } = withoutPlace(chosen);
  const attributes = Object.entries(options).map(([name, value]) => htmlAttribute(attributeOf(name), name, value));
  if (isInline) attributes.splice(1, 0, "inline");
  const start = "<chat-widget";
  const tag =
    attributes.length === 1
      ? `${start} ${attributes[0]}></chat-widget>`
      : `${[start, ...attributes].join("\n  ")}></chat-widget>`;
  const script = '<script type="module" src="/chat-widget/element.mjs"></script>';
  return [script, ...elementsFor({ launcher: options.launcher }), tag].join("\n");
}

/** Returns a value in JavaScript that is safe inside `<script>`. Lines after the first are indented by `indent`. */
function literal(value, indent) {
  const name = (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key));
  const written = (value, depth) => {
    if (typeof value !== "object") return JSON.stringify(value).replaceAll("</", "<\\/");
    const isArray = Array.isArray(value);
    const parts = isArray
      ? value.map((one) => written(one, depth + 1))
      : Object.entries(value).map(([key, one]) => `${name(key)}: ${written(one, depth + 1)}`);
    const [open, close, room] = isArray ? ["[", "]", ""] : ["{", "}", " "];
    const line = `${open}${room}${parts.join(", ")}${room}${close}`;
    if (line.length < 70 && !line.includes("\n")) return line;
    const inner = indent + "  ".repeat(depth + 1);
    return `${open}\n${parts.map((part) => `${inner}${part},`).join("\n")}\n${indent}${"  ".repeat(depth)}${close}`;
  };
  return written(value, 0);
}

function react(chosen) {
  const { isInline, options } = withoutPlace(chosen);
  const props = Object.entries(options).map(([name, value]) => {
    // An attribute of JSX has no escapes but HTML's.
    const isPlain = typeof value === "string" && !/["&\\\n]/.test(value);
    return isPlain ? `${name}="${value}"` : `${name}={${literal(value, "      ")}}`;
  });
  if (isInline) props.splice(1, 0, "inline");
  const tag =
    props.length === 1
      ? `<ChatWidget ${props[0]} />`
      : `(\n    <ChatWidget\n      ${props.join("\n      ")}\n    />\n  )`;
  return `import { ChatWidget } from "@site-connector/chat-widget/react";

export function Chat() {
  return ${tag};
}`;
}

function vue(chosen) {
  const { isInline, options } = withoutPlace(chosen);
  return `<script setup>
import { ChatWidget } from "@site-connector/chat-widget/vue";

const options = ${literal(options, "")};
</script>

<template>
  <ChatWidget v-bind="options"${isInline ? " inline" : ""} />
</template>`;
}
