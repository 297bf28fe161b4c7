// The docs name exactly the existing attributes, events, controls, tokens, parts and files.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { importSource, optionTable } from "../../scripts/options.mjs";
import { RUN_BY, read, snippet, snippets } from "../docs-snippets.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const inFolder = (folder) => readdirSync(join(root, folder)).map((file) => `${folder}/${file}`);
const all = (paths) => paths.map(read).join("\n");
const PAGES = ["README.md", ...inFolder("docs").filter((path) => path.endsWith(".md"))];
const docs = read("docs/frontend.md");
const { CONTROLS } = await importSource("www/controls.ts");
const OPTIONS = Object.keys(await optionTable());
const { EVENTS } = await importSource("www/event-names.ts");

/** Returns the names in the first column of the table under a heading. */
function tabled(heading) {
  const section = docs.split(`## ${heading}\n`)[1].split("\n## ")[0];
  const cells = section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => line.split("|")[1]);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name]) => name));
}

const sorted = (names) => [...new Set(names)].sort();

test("The events in the docs are those of the types", () => {
  const [, body] = read("www/options.ts").match(/export interface ChatWidgetEvents \{\n([^]*?)\n\}/);
  const typed = [...body.matchAll(/^ {2}(\w+)\??:/gm)].map(([, event]) => event);
  assert.deepEqual(sorted(tabled("Events")), sorted(typed));
  assert.deepEqual(sorted(EVENTS), sorted(typed));
});

/** Returns `names` without the others. */
const without = (names, ...others) => names.filter((name) => !others.includes(name));

test("The controls in the docs are those of the class and of the list that element and loader read", () => {
  const body = read("www/module.ts").split("export class ChatWidget {")[1];
  const methods = [...body.matchAll(/^ {2}(?:readonly |async |get )?([a-z]\w*)(?:<[^>]*>)?(?:\(| =)/gim)].map(
    ([, name]) => name,
  );
  const own = without(methods, "constructor");
  assert.deepEqual(sorted(tabled("Controls")), sorted(own));
  assert.deepEqual(sorted(CONTROLS), sorted(without(own, "on", "once", "ready", "state")));
});

test("Every attribute in the docs is one that the widget reads", () => {
  const kebab = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const known = OPTIONS.map((name) => `data-${kebab(name)}`);
  const written = all(PAGES).matchAll(/(?<![\w/-])data-[a-z]+(?:-[a-z]+)*/g);
  const others = ["data-chat-cta", "data-trunk"];
  for (const [name] of written) assert.ok([...known, ...others].includes(name), name);
});

test("docs/themes.md lists exactly the tokens", () => {
  const defined = all([...inFolder("themes"), "styles/tokens.css"]).matchAll(/^ *(--cw-[\w-]+):/gm);
  const names = (matches) => sorted([...matches].map(([, name]) => name));
  const written = read("docs/themes.md").matchAll(/`(--cw-[\w-]+)`/g);
  assert.deepEqual(names(written), sorted([...names(defined), "--cw-offset-x", "--cw-offset-y"]));
});

test("The policy in docs/csp.md is the one of the test site, except for unrelated directives", () => {
  const parse = (text) => new Map(text.split(/;\s*/).map((directive) => directive.split(/ (.*)/).slice(0, 2)));
  const site = parse(
    read("crates/connector/src/site.rs")
      .match(/POLICY: &str = "([^"]*)"/)[1]
      .replace(/\\\n\s*/g, ""),
  );
  for (const name of ["form-action", "base-uri", "frame-ancestors"]) site.delete(name);
  assert.deepEqual([...parse(read("docs/csp.md").match(/^Content-Security-Policy: (.*)$/m)[1])], [...site]);
});

test("Every part in the docs is in the interface", () => {
  const sources = readdirSync(`${root}/src/ui`)
    .map((file) => read(`src/ui/${file}`))
    .join("\n");
  const parts = [...docs.split("## Parts\n")[1].matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  for (const name of parts) {
    const stem = name.replace(/^message-(visitor|assistant|operator)$/, "message-");
    assert.match(sources, new RegExp(`part=${name}[" ]|"part", "${name}"|"?[ "]${stem}`), name);
  }
});

test("Every part of the interface is in the docs", () => {
  const named = [...docs.split("## Parts\n")[1].matchAll(/`([a-z-]+)`/g)].map(([, name]) => name);
  for (const [, name] of all(inFolder("src/ui")).matchAll(/[ "]part=([a-z]+(?:-[a-z]+)*)[ "]/g))
    assert.ok(named.includes(name), `add ${name} to ## Parts of docs/frontend.md`);
});

test("docs/troubleshooting.md quotes the console's messages exactly", () => {
  const rows = read("docs/troubleshooting.md")
    .split("\n")
    .filter((line) => line.startsWith("| `"));
  const phrases = rows.map((line) => line.match(/^\| `([^`]+)`/)[1]);
  const files = [...inFolder("www"), ...inFolder("www/loader")].filter((path) => path.endsWith(".ts"));
  const sources = all(files).replaceAll("\\'", "'");
  for (const phrase of phrases) assert.ok(sources.includes(phrase), phrase);
  const found = sources.matchAll(
    /(?:\[\s*false,\s+|wrong\s+\? |off\s+\? |console\.error\(\s*|new (?:Type)?Error\(\s*)([`"'])(.+?)\1(?=\s*[,);:\]])/g,
  );
  const texts = [...found].map(([, , text]) => text);
  assert.ok(texts.length > 18, `${texts.length}`);
  for (const text of texts)
    assert.ok(
      phrases.some((phrase) => text.includes(phrase)),
      text,
    );
});

test("The sizes in docs/site-owner.md are the build's budgets", () => {
  const page = read("docs/site-owner.md");
  const { budgets } = JSON.parse(read("size-budget.json"));
  const budget = (name) => budgets.find((entry) => entry.name.startsWith(name)).brotli / 1000;
  const documented = [...page.matchAll(/at most ([\d.]+) KB/g)].map(([, size]) => Number(size));
  assert.deepEqual(documented, [budget("the loader"), budget("everything needed"), budget("each language")]);
});

test("Every key of the browser's storage is in docs/privacy.md", () => {
  const page = read("docs/privacy.md");
  const keys = [
    ...read("crates/session/src/stored.rs").matchAll(/pub const (?!PREFIX|VERIFIED)\w+: &str = "([^"]+)"/g),
  ].map(([, name]) => `chat-widget:${name}`);
  const chosen = [...all(inFolder("src/ui")).matchAll(/&str = "(chat-widget:\w+)"/g)].map(([, key]) => key);
  const named = all(["src/driver.rs", "src/browser/channel.rs"]).matchAll(/\[[^[\]]+, "(:\w+)"\]\.concat\(\)/g);
  const ofChannel = [...named].map(([, name]) => `chat-widget:${name}`);
  assert.ok(page.includes(`\`${read("crates/session/src/stored.rs").match(/VERIFIED: &str = "([^"]+)"/)[1]}\``));
  assert.ok(keys.length > 7 && chosen.length > 1 && ofChannel.length > 2);
  for (const key of [...keys, ...chosen, ...ofChannel])
    assert.ok(page.includes(`\`${key}${key.endsWith(":") ? "…" : ""}\``), key);
});

test("Every snippet of the docs is run by an existing test that names its page", () => {
  for (const page of PAGES) {
    const run = RUN_BY[page] ?? {};
    assert.deepEqual([...snippets(page).keys()], Object.keys(run), page);
    for (const [name, by] of Object.entries(run)) {
      const source = read(by);
      const heading = name.replace(/: .*$/, "");
      const names = [`"${page}", "${name}"`];
      // These tests take the files of a page, of all its headings or of those that they name.
      if (by.startsWith("tests/npm/")) names.push("fixture.mjs");
      else if (by.startsWith("tests/frameworks/")) names.push(`shown("${heading}"`, `DOCS, "${name}"`);
      else if (!/docs-snippets\.mjs/.test(source)) names.push(basename(page));
      assert.ok(
        names.some((text) => source.includes(text)),
        `${by} does not run ${page}, ${name}`,
      );
    }
  }
  for (const page of Object.keys(RUN_BY)) assert.ok(PAGES.includes(page), page);
});

test("The README's commands and the diagram name existing parts", () => {
  const { name, scripts } = JSON.parse(read("package.json"));
  const commands = snippet("README.md", "Try it: sh").trim().split("\n");
  for (const command of commands) assert.ok(scripts[command.match(/^npm (\w+)/)[1]], command);
  assert.equal(snippet("docs/frameworks.md", "Use the npm package: sh").trim(), `npm install ${name}`);
  const folders = snippet("README.md", "How the pieces fit: text").match(/\b(?:crates\/\w+|src\/)/g);
  assert.deepEqual(
    sorted(folders).map((path) => existsSync(join(root, path))),
    sorted(folders).map(() => true),
  );
});

test("The settings in docs/rust.md are the example's", () => {
  const lines = (page, name) =>
    snippet(page, name)
      .trim()
      .split("\n")
      .filter((line) => line !== "");
  const has = (path, wanted) => {
    const text = read(path);
    for (const line of wanted) assert.ok(text.includes(line), `${path}: ${line}`);
  };
  has("examples/leptos/index.html", lines("docs/rust.md", "Develop with Trunk: html"));
  has("examples/leptos/Trunk.toml", lines("docs/rust.md", "Develop with Trunk: toml"));
  const [, ...profile] = lines("docs/rust.md", "Keep the module small: toml");
  const own = read("Cargo.toml").split("[profile.release-wasm]\n")[1].split("\n\n")[0].split("\n");
  assert.deepEqual(
    profile.filter((line) => !own.includes(line)),
    [],
  );
  const [section, widget, leptos] = lines("docs/rust.md", "Show the chat: toml");
  const version = read("Cargo.toml").match(/^version = "(\d+\.\d+)/m)[1];
  has("examples/leptos/Cargo.toml", [section, `\`${widget}\``]);
  assert.match(widget, new RegExp(`version = "${version}"`));
  assert.match(
    read("examples/leptos/Cargo.toml"),
    new RegExp(`^leptos = \\{ version = "${leptos.match(/version = "([\d.]+)"/)[1]}\\.`, "m"),
  );
});

test("The versions of frameworks in docs/frameworks.md are those of the tests", () => {
  const PACKAGES = {
    Next: ["next", "next"],
    Nuxt: ["nuxt", "nuxt"],
    SvelteKit: ["sveltekit", "@sveltejs/kit"],
    Astro: ["astro", "astro"],
    "React Router": ["react-router", "react-router"],
    Angular: ["angular", "@angular/core"],
  };
  const [, list] = read("docs/frameworks.md").match(/^The files are tested with (.*)\.$/m);
  const tested = Object.entries(PACKAGES).map(([name, [folder, dependency]]) => {
    const { dependencies } = JSON.parse(read(`tests/frameworks/${folder}/package.json`));
    return `${name} ${dependencies[dependency].split(".")[0]}`;
  });
  assert.deepEqual(list.split(/, | and /), tested);
});

test("Every test that docs/accessibility.md names exists", () => {
  const named = [...read("docs/accessibility.md").matchAll(/`(tests\/[^`]+)`/g)].map(([, path]) => path);
  assert.ok(named.length > 10);
  for (const path of named) assert.ok(existsSync(join(root, path)), path);
});

test("Every link of the docs has an existing target", () => {
  const anchors = (path) =>
    [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title
        .toLowerCase()
        .replace(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    );
  for (const page of PAGES) {
    const text = read(page).replaceAll(/^```[^]*?^```$/gm, "");
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [path, anchor] = link.split("#");
      const target = path === "" ? page : join(dirname(page), path);
      assert.ok(existsSync(join(root, target)), `${page}: ${link}`);
      if (anchor) assert.ok(anchors(target).includes(anchor), `${page}: ${link}`);
    }
  }
});
