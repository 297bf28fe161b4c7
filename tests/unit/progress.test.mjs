// The announcement that the window is still loading.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));
const LANGUAGES = readdirSync(`${root}/src/text/locales`).map((file) => basename(file, ".json"));
const { outputFiles } = await build({
  entryPoints: [`${root}/www/progress.ts`],
  define: { LANGUAGES: JSON.stringify(LANGUAGES.join(" ")) },
  bundle: true,
  format: "esm",
  write: false,
});
const { default: progress } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

/** The members of an element that a live region needs. */
class Region {
  attributes = {};
  style = {};
  textContent = "";
  setAttribute(name, value) {
    this.attributes[name] = value;
  }
  remove() {
    this.parent.children = this.parent.children.filter((child) => child !== this);
  }
}

function makeHost() {
  const shadowRoot = {
    children: [],
    append: (region) => shadowRoot.children.push(Object.assign(region, { parent: shadowRoot })),
  };
  return { shadowRoot };
}

/** Starts a wait on a page in a language, with a mocked clock. */
function wait(t, { lang = "en", options = {} } = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  globalThis.document = { documentElement: { lang }, createElement: () => new Region() };
  const host = makeHost();
  const arrived = withResolvers();
  globalThis.navigator ??= { language: "en" };
  progress(host, options.locale, arrived.promise);
  return { host, arrived, regions: () => host.shadowRoot.children };
}

function withResolvers() {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
}

const nextTask = () => new Promise((resolve) => setImmediate(resolve));

test("the live region exists, empty and visually hidden, before the first announcement", (t) => {
  const { regions } = wait(t);
  const [region] = regions();
  assert.equal(region.attributes.role, "status");
  assert.match(region.style.cssText, /clip-path/);
  t.mock.timers.tick(999);
  assert.equal(region.textContent, "");
  t.mock.timers.tick(1);
  assert.equal(region.textContent, "The chat is opening, one moment.");
});

for (const [name, settle] of Object.entries({ arrives: "resolve", "does not arrive": "reject" })) {
  test(`the live region is removed without a timer when the module ${name}`, async (t) => {
    const { arrived, regions } = wait(t);
    const [region] = regions();
    arrived[settle](new Error("no module"));
    await nextTask();
    assert.deepEqual(regions(), []);
    t.mock.timers.tick(10_000);
    assert.equal(region.textContent, "");
  });
}

test("repeated clicks during one wait are announced once, and the next wait again", async (t) => {
  const { host, arrived, regions } = wait(t);
  progress(host, {}, arrived.promise);
  assert.equal(regions().length, 1);
  arrived.resolve();
  await nextTask();
  progress(host, {}, new Promise(() => {}));
  assert.equal(regions().length, 1);
});

test("each language has its own text and direction", (t) => {
  const words = LANGUAGES.map((lang) => {
    const { regions } = wait(t, { lang });
    t.mock.timers.tick(1000);
    t.mock.timers.reset();
    const [region] = regions();
    assert.equal(region.lang, lang);
    assert.equal(region.dir, ["ar", "he"].includes(lang) ? "rtl" : "ltr");
    assert.match(region.textContent, /\S.*\S/);
    return region.textContent;
  });
  assert.equal(new Set(["The chat is opening, one moment.", ...words]).size, 20);
});

test("the option locale takes precedence over the page's language", (t) => {
  const { regions } = wait(t, { lang: "de", options: { locale: "fr-CA" } });
  t.mock.timers.tick(1000);
  assert.equal(regions()[0].textContent, "Le chat s’ouvre, un instant.");
});
