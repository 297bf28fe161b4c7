// The descriptions of `<chat-widget>` for editors say what the option table, the types, the docs and the tokens say.

import assert from "node:assert/strict";
import { test } from "node:test";
import { manifests } from "../../scripts/manifests.mjs";
import { importSource, optionTable, tokenNames } from "../../scripts/options.mjs";
import { read } from "../docs-snippets.mjs";

const TABLE = await optionTable();
const { OPTIONS } = await importSource("www/option-names.ts");
const { attributeOf } = await importSource("www/attribute-name.ts");
const { EVENTS } = await importSource("www/event-names.ts");
const { elementControls } = await importSource("www/controls.ts");
const files = await manifests();
const {
  modules: [module],
} = files["custom-elements.json"];
const [element] = module.declarations;
const webTypes = files["web-types.json"].contributions.html.elements[0];
const [tag] = files["vscode.html-custom-data.json"].tags;

const names = (list) => list.map(({ name }) => name);
const attributes = ["inline", ...OPTIONS.map(attributeOf)];
const events = EVENTS.flatMap((name) => [`chat-widget:${name}`, `chat-widget-${name}`]);

test("all descriptions have the element's attributes, in the same order", () => {
  for (const described of [element, webTypes, tag]) assert.deepEqual(names(described.attributes), attributes);
});

test("the properties, controls and events are those of the element", () => {
  const fields = element.members.filter(({ kind }) => kind === "field");
  const methods = element.members.filter(({ kind }) => kind === "method");
  assert.deepEqual(names(fields), [...OPTIONS, "ready", "state"]);
  assert.deepEqual(names(methods), elementControls());
  assert.deepEqual(names(element.events), events);
  assert.deepEqual(names(webTypes.js.properties), OPTIONS);
  assert.deepEqual(names(webTypes.js.events), events);
  for (const { name, attribute } of fields.filter(({ attribute }) => attribute))
    assert.equal(element.attributes.find(({ fieldName }) => fieldName === name).name, attribute);
});

test("the custom properties are the tokens that a page can set, each with its default", () => {
  const fixed = read("build.rs")
    .match(/const CONSTANT: .* = \[(.*)\];/)[1]
    .match(/[\w-]+/g);
  assert.ok(fixed.includes("--cw-space-"));
  const tokens = tokenNames()
    .map((name) => `--cw-${name}`)
    .filter((name) => !fixed.some((start) => name.startsWith(start)));
  assert.deepEqual(names(element.cssProperties), tokens);
  assert.deepEqual(names(webTypes.css.properties), tokens);
  for (const { name, default: value } of element.cssProperties) assert.ok(value, name);
  const defaultOf = (name) => element.cssProperties.find((property) => property.name === name).default;
  assert.ok(read("themes/teal.css").includes(`--cw-accent: ${defaultOf("--cw-accent")};`));
  const styles = read("styles/tokens.css") + read("styles/launcher.css") + read("styles/window.css");
  for (const name of ["--cw-offset-x", "--cw-offset-y"])
    assert.ok(styles.includes(`var(${name}, ${defaultOf(name)})`), name);
});

test("the parts are those of docs/frontend.md", () => {
  const listed = read("docs/frontend.md")
    .split("## Parts\n")[1]
    .matchAll(/`([a-z]+(?:-[a-z]+)*)`/g);
  const parts = [...listed].map(([, name]) => name);
  assert.deepEqual(names(element.cssParts), parts);
  assert.deepEqual(names(webTypes.css.parts), parts);
});

test("a choice has the values and the default of the option table", () => {
  for (const name of OPTIONS) {
    const words = TABLE[name].expected.match(/^one of (.*)$/)?.[1].split(", ");
    if (!words) continue;
    const described = element.attributes.find(({ fieldName }) => fieldName === name);
    assert.equal(described.type.text, words.map((word) => `"${word}"`).join(" | "), name);
    assert.equal(described.default, `"${words[0]}"`, name);
    assert.equal(TABLE[name].default, words[0], name);
    assert.deepEqual(names(tag.attributes.find((attribute) => attribute.name === attributeOf(name)).values), words);
  }
});

test("the attribute of a boolean has two values, and that of a list or an object is a string of JSON", () => {
  for (const name of OPTIONS.filter((name) => TABLE[name].json)) {
    const isSwitch = TABLE[name].expected === "true or false";
    const { type } = element.attributes.find(({ fieldName }) => fieldName === name);
    const { values } = tag.attributes.find((attribute) => attribute.name === attributeOf(name));
    assert.equal(type.text, isSwitch ? "boolean" : "string", name);
    assert.deepEqual(values && names(values), isSwitch ? ["true", "false"] : undefined, name);
  }
});

test("every attribute, property, control and event has a description in one line", () => {
  const described = [...element.attributes, ...element.members, ...element.events, ...webTypes.attributes];
  for (const { name, description } of [...described, ...tag.attributes])
    assert.match(description ?? "", /^[A-Z`][^\n*]*\.$/, name);
});

test("package.json names the descriptions, and the manifest a module of the package", () => {
  const { customElements, "web-types": named, exports, name, version } = JSON.parse(read("package.json"));
  assert.equal(customElements, "./dist/custom-elements.json");
  assert.equal(named, "./dist/web-types.json");
  for (const file of Object.keys(files)) assert.equal(exports[`./${file}`], `./dist/${file}`);
  assert.equal(`./${module.path}`, exports["./element"].default);
  assert.deepEqual([files["web-types.json"].name, files["web-types.json"].version], [name, version]);
});
