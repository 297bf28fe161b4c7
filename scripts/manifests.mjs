// The descriptions of `<chat-widget>` for editors and tools: a Custom Elements Manifest, web-types for JetBrains' editors, and
// HTML data for VS Code. All three are made from the option table, the types, the docs' list of parts and the tokens.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { choicesOf, describe, typeOf } from "./option-files.mjs";
import { importSource, optionTable, tokenNames } from "./options.mjs";
import { root } from "./setup.mjs";
import { isConstant } from "./styles.mjs";

const TAG = "chat-widget";
const CLASS = "ChatWidgetElement";
const ABOUT = "A chat widget: floating above the page, or with the attribute `inline` where the element stands.";
const INLINE = "Whether the widget fills the place of the element instead of floating above the page.";

const read = (path) => readFileSync(join(root, path), "utf8");

/** Returns the text of a doc comment in one line. */
const oneLine = (comment) => comment.replace(/\s*\n\s*\*?\s*/g, " ").trim();

/** A doc comment, up to its end. */
const DOC = "/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*";

/** Returns the events by their names, with the type and the doc comment of each. */
function eventDetails() {
  const [, body] = read("www/options.ts").match(/export interface ChatWidgetEvents \{\n([^]*?)\n\}/);
  const found = body.matchAll(new RegExp(`${DOC}(\\w+)\\??: (.*);$`, "gm"));
  return new Map([...found].map(([, doc, event, type]) => [event, { type, description: oneLine(doc) }]));
}

/** Returns a control of the class `ChatWidget`, as the element has it: its promise waits for the widget. */
function method(name, source) {
  const [, doc, given, result] = source.match(
    new RegExp(`${DOC}(?:async )?${name}\\(([^)]*)\\): (?:Promise<)?(\\w+)>? \\{$`, "m"),
  );
  const parameters = [...given.matchAll(/(\w+)(\?)?: ((?:[^,<]|<[^>]*>)+)(?:, )?/g)]
    // The script tag alone passes a prefix.
    .filter(([, parameter]) => parameter !== "prefix")
    .map(([, name, optional, type]) => ({ name, type: { text: type }, ...(optional && { optional: true }) }));
  return {
    kind: "method",
    name,
    description: oneLine(doc),
    ...(parameters.length > 0 && { parameters }),
    return: { type: { text: `Promise<${result}>` } },
  };
}

/** Returns the default values of the tokens, in the default theme. */
function tokenDefaults(theme) {
  const values = new Map();
  for (const path of ["styles/tokens.css", `themes/${theme}.css`]) {
    for (const [, name, value] of read(path).matchAll(/^ *--cw-([\w-]+):([^;]+);/gm))
      values.set(name, value.trim().replace(/\s+/g, " "));
  }
  return values;
}

/** Returns the options as the element has them. */
async function options() {
  const { OPTIONS } = await importSource("www/option-names.ts");
  const { attributeOf } = await importSource("www/attribute-name.ts");
  const table = await optionTable();
  return OPTIONS.map((name) => {
    const row = table[name];
    const choices = choicesOf(row);
    const isSwitch = row.kind === "switch";
    const type = choices && !isSwitch ? choices.map((word) => JSON.stringify(word)).join(" | ") : typeOf([name, row]);
    return {
      name,
      attribute: attributeOf(name),
      description: describe(row),
      type,
      // The attributes of lists and objects hold JSON.
      attributeType: row.json && !isSwitch ? "string" : type,
      choices,
      // Other defaults, such as the page's language, are part of the description.
      default: isSwitch ? row.default : choices && JSON.stringify(choices[0]),
    };
  });
}

/** Returns everything that the descriptions tell about the element. */
export async function describeElement() {
  const { EVENTS } = await importSource("www/event-names.ts");
  const { elementControls } = await importSource("www/controls.ts");
  const details = eventDetails();
  const parts = read("docs/frontend.md").split("## Parts\n")[1].split("\n## ")[0];
  const all = await options();
  const defaults = tokenDefaults(JSON.parse(all.find(({ name }) => name === "theme").default));
  const source = read("www/module.ts");
  return {
    options: all,
    // Templates of some frameworks allow no colon in the name of an event.
    events: EVENTS.flatMap((name) => [`${TAG}:${name}`, `${TAG}-${name}`].map((type) => ({ name, type }))).map(
      ({ name, type }) => ({
        name: type,
        description: details.get(name).description,
        type: `CustomEvent<${details.get(name).type}>`,
      }),
    ),
    methods: elementControls().map((name) => method(name, source)),
    parts: [...parts.matchAll(/`([a-z-]+)`/g)].map(([, name]) => name),
    tokens: tokenNames()
      .map((name) => ({
        name: `--cw-${name}`,
        default: defaults.get(name) ?? (name.startsWith("offset-") ? "20px" : undefined),
      }))
      .filter(({ name }) => !isConstant(name)),
  };
}

/** Returns the Custom Elements Manifest. */
function manifest({ options, events, methods, parts, tokens }) {
  const field = ({ name, attribute, description, type, default: value }) => ({
    kind: "field",
    name,
    description,
    type: { text: `${type} | undefined` },
    ...(value && { default: value }),
    attribute,
  });
  return {
    schemaVersion: "2.1.0",
    modules: [
      {
        kind: "javascript-module",
        path: "dist/npm/element.mjs",
        declarations: [
          {
            kind: "class",
            name: CLASS,
            description: ABOUT,
            customElement: true,
            tagName: TAG,
            superclass: { name: "HTMLElement" },
            attributes: [
              { name: "inline", description: INLINE, type: { text: "boolean" } },
              ...options.map(({ name, attribute, description, attributeType, default: value }) => ({
                name: attribute,
                description,
                type: { text: attributeType },
                ...(value && { default: value }),
                fieldName: name,
              })),
            ],
            members: [
              ...options.map(field),
              {
                kind: "field",
                name: "ready",
                description: "Fulfilled with the widget when it is on the page.",
                type: { text: "Promise<ChatWidget>" },
                readonly: true,
              },
              {
                kind: "field",
                name: "state",
                description: "A snapshot of the widget; `undefined` while there is none.",
                type: { text: "ChatWidgetState | undefined" },
                readonly: true,
              },
              ...methods,
            ],
            events: events.map(({ name, description, type }) => ({ name, description, type: { text: type } })),
            cssParts: parts.map((name) => ({ name })),
            cssProperties: tokens,
          },
        ],
        exports: [
          { kind: "js", name: CLASS, declaration: { name: CLASS } },
          { kind: "custom-element-definition", name: TAG, declaration: { name: CLASS } },
        ],
      },
    ],
  };
}

/** Returns the web-types of the package. */
function webTypes({ options, events, parts, tokens }, { name, version }) {
  return {
    $schema: "https://json.schemastore.org/web-types",
    name,
    version,
    "description-markup": "markdown",
    "js-types-syntax": "typescript",
    contributions: {
      html: {
        elements: [
          {
            name: TAG,
            description: ABOUT,
            attributes: [
              { name: "inline", description: INLINE, value: { type: "boolean", kind: "no-value" } },
              ...options.map(({ name, attribute, description, attributeType, default: value }) => ({
                name: attribute,
                description,
                value: { type: attributeType, kind: "plain" },
                ...(value && { default: value }),
                ...(name === "proxy" && { required: true }),
              })),
            ],
            js: {
              properties: options.map(({ name, description, type }) => ({ name, description, type })),
              events: events.map(({ name, description, type }) => ({ name, description, type })),
            },
            css: {
              parts: parts.map((name) => ({ name })),
              properties: tokens.map(({ name }) => ({ name })),
            },
          },
        ],
      },
    },
  };
}

/** Returns the custom data of VS Code for HTML. */
const vscodeData = ({ options }) => ({
  version: 1.1,
  tags: [
    {
      name: TAG,
      description: ABOUT,
      attributes: [
        { name: "inline", description: INLINE, valueSet: "v" },
        ...options.map(({ attribute, description, choices }) => ({
          name: attribute,
          description,
          ...(choices && { values: choices.map((name) => ({ name })) }),
        })),
      ],
    },
  ],
});

/** Returns the descriptions by the names of their files. */
export async function manifests() {
  const element = await describeElement();
  return {
    "custom-elements.json": manifest(element),
    "web-types.json": webTypes(element, JSON.parse(read("package.json"))),
    "vscode.html-custom-data.json": vscodeData(element),
  };
}

/** Writes the descriptions into a folder. */
export async function writeManifests(folder) {
  for (const [file, value] of Object.entries(await manifests()))
    writeFileSync(join(folder, file), `${JSON.stringify(value, null, 2)}\n`);
}
