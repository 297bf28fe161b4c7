// The files of docs/frameworks.md in an application of each framework: built and served by the framework's own commands, in
// front of the service in test mode, and opened in Chromium, where a visitor asks a question.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { stopAll } from "../../scripts/servers.mjs";
import { ask, isInView, openChat, part } from "../e2e/chat.mjs";
import { files, read, snippet } from "../docs-snippets.mjs";
import { begin, serve as serveFolder, visit } from "../npm/fixture.mjs";
import { command } from "../server/fixture.mjs";
import { application } from "./application.mjs";

const DOCS = "docs/frameworks.md";
const QUESTION = "How long does delivery take?";
/** The colours of themes. */
const TEAL = "rgb(9, 116, 119)";
const EMERALD = "rgb(5, 120, 68)";
const options = { timeout: 600_000 };

after(stopAll);

/** Returns the files that the docs show below a heading, in a folder of the application. */
const shown = (heading, { into = "", only } = {}) =>
  files(DOCS, (name) => name.startsWith(`${heading}: `))
    .filter(([path]) => only === undefined || path === only)
    .map(([path, text]) => [join(into, path), text]);

/** Makes an application whose files have the address of the demo's service in place of the docs' service. */
async function made(name, files) {
  const { demo } = await begin();
  return application(
    name,
    files.map(([path, text]) => [path, text.replaceAll("https://service.example", demo.sandbox)]),
  );
}

/** Returns the environment of the server of an application: the secrets of the site. */
const secrets = async () => ({ SITE_TOKEN: (await begin()).demo.token });

/** Returns the environment of an application that forwards to the demo's proxy. The docs' default is another address. */
const forwards = async () => ({ CHAT_PROXY: (await begin()).demo.site });

/**
 * Opens a site as a visitor, who asks a question and sees the answer. The widget has the theme of the docs, and neither the page
 * nor the server that rendered it reports an error. `element` is whether the HTML of the server has the element.
 */
async function chat({ site, errors = () => "" }, { theme = EMERALD, element = true } = {}) {
  const response = await fetch(site);
  const html = await response.text();
  assert.equal(response.status, 200, html);
  assert.equal(/<chat-widget[ >]/.test(html), element, html);
  const { page, server, wrong } = await visit(site);
  try {
    await openChat(page);
    assert.equal(await part(page, "header").evaluate((header) => getComputedStyle(header).backgroundColor), theme);
    await ask(page, QUESTION);
    await isInView(part(page, "message-assistant").last());
  } finally {
    assert.deepEqual(wrong, [], errors());
  }
  assert.equal((await server.messages())[0], `visitor: ${QUESTION}`);
  assert.doesNotMatch(errors(), /error|hydrat/i);
  return page;
}

/**
 * Asserts that the server of an application is a proxy: it serves the five paths alone, with the headers of every response,
 * and passes `site-connector check`.
 */
async function assertProxy(site) {
  const config = await fetch(`${site}connector/chat/config`);
  assert.equal((await config.json()).data.config.enabled, true);
  const names = ["Cache-Control", "X-Content-Type-Options", "Content-Security-Policy"];
  const values = names.map((name) => config.headers.get(name));
  assert.deepEqual(values.slice(0, 2), ["no-store", "nosniff"]);
  assert.match(values[2], /^default-src 'none'/);
  assert.equal((await fetch(`${site}connector/site/status`)).status, 404);
  const form = { method: "POST", headers: { "Content-Type": "text/plain" }, body: '{"events":[]}' };
  // Some frameworks refuse such forms of other sites themselves.
  assert.ok([403, 415].includes((await fetch(`${site}connector/events`, form)).status));
  // The command fails if a check does, and names the first one.
  const { stdout } = await promisify(execFile)(command, ["check", `${site}connector`]);
  assert.match(stdout, /^All \d+ checks hold\.$/m);
}

/** Opens a site whose own server is the proxy, as a visitor. */
async function chatWithProxy(server, expected) {
  const page = await chat(server, expected);
  await assertProxy(server.site);
  return page;
}

const vite = (port) => ["vite", "dev", "--host", "127.0.0.1", "--port", `${port}`];

const next = (mode) => (port) => ["next", mode, "--hostname", "127.0.0.1", "--port", `${port}`];

test("Next forwards to a proxy by a rewrite", options, async () => {
  const { run, serve } = await made("next", shown("Next"));
  // The build fixes the address.
  await run(["next", "build"], await forwards());
  await chat(await serve(next("start")));
});

test("Next serves the proxy from a route handler, also in its development server", options, async () => {
  const route = snippet("docs/server.md", "Serve the proxy from a function: js 2");
  const pages = shown("Next").filter(([path]) => path !== "next.config.ts");
  const { run, serve } = await made("next", [...pages, ["app/connector/[...path]/route.js", route]]);
  await run(["next", "build"]);
  await chatWithProxy(await serve(next("start"), await secrets()));
  await chatWithProxy(await serve(next("dev"), await secrets()));
});

test("Vue in Vite shows the chat in a build, and forwards to a proxy in its development server", options, async () => {
  const [[, config]] = shown("Vite", { only: "vite.config.js" });
  const { folder, run, serve } = await made("vue", [
    ["documented.config.js", config],
    ...shown("Vue", { only: "Help.vue" }),
  ]);
  await run(["vite", "build"]);
  const built = join(folder, "dist");
  const page = readFileSync(join(built, "index.html"), "utf8");
  await chat({ site: await serveFolder(built, page) }, { element: false });
  await chat(await serve(vite, await forwards()), { element: false });
});

test("Nuxt serves the proxy, also in its development server", options, async () => {
  const help = shown("Vue", { into: "app/components", only: "Help.vue" });
  const { run, serve } = await made("nuxt", [...shown("Nuxt"), ...help]);
  await run(["nuxi", "build"]);
  await chatWithProxy(await serve(() => ["node", ".output/server/index.mjs"], await secrets()));
  const dev = (port) => ["nuxi", "dev", "--host", "127.0.0.1", "--port", `${port}`, "--no-fork"];
  await chatWithProxy(await serve(dev, await secrets()));
});

test("SvelteKit serves the proxy, also in its development server", options, async () => {
  const { run, serve } = await made("sveltekit", shown("SvelteKit"));
  await run(["vite", "build"]);
  await chatWithProxy(await serve(() => ["node", "build/index.js"], await secrets()));
  await chatWithProxy(await serve(vite, await secrets()));
});

test("Astro serves the proxy, and the chat stays open from page to page", options, async () => {
  const { folder, dist, run, serve } = await made("astro", shown("Astro"));
  cpSync(dist, join(folder, "public/chat-widget"), { recursive: true });
  assert.ok(
    read("tests/frameworks/astro/src/layouts/Layout.astro").includes(snippet(DOCS, "Astro: astro").trim()),
    "the layout has the tag of the docs",
  );
  const goesOn = async (server) => {
    const page = await chatWithProxy(server, { theme: TEAL, element: false });
    await page.getByRole("link", { name: "Workshops" }).click();
    await page.getByRole("heading", { name: "Workshops" }).waitFor();
    await part(page, "message-visitor").getByText(QUESTION).waitFor();
  };
  await run(["astro", "build"]);
  await goesOn(await serve(() => ["node", "dist/server/entry.mjs"], await secrets()));
  const dev = (port) => ["astro", "dev", "--host", "127.0.0.1", "--port", `${port}`];
  await goesOn(await serve(dev, await secrets()));
});

test("React Router serves the proxy, also in its development server", options, async () => {
  const help = shown("React", { into: "app" });
  const { run, serve } = await made("react-router", [...shown("React Router"), ...help]);
  await run(["react-router", "build"]);
  await chatWithProxy(await serve(() => ["react-router-serve", "build/server/index.js"], await secrets()));
  const dev = (port) => ["react-router", "dev", "--host", "127.0.0.1", "--port", `${port}`];
  await chatWithProxy(await serve(dev, await secrets()));
});

test("Angular shows the chat in a build, and forwards to a proxy in its development server", options, async () => {
  const settings = JSON.parse(read("tests/frameworks/angular/angular.json"));
  for (const [target, { options }] of Object.entries(JSON.parse(snippet(DOCS, "Angular: json"))))
    Object.assign(settings.projects.shop.architect[target].options, options);
  const { demo } = await begin();
  // The docs' file has an address, and no variable.
  const forwarding = ([path, text]) => [path, text.replaceAll("http://127.0.0.1:8080", demo.site)];
  const { folder, run, serve } = await made("angular", [
    ...shown("Angular").map(forwarding),
    ["angular.json", JSON.stringify(settings)],
  ]);
  await run(["ng", "build"]);
  const built = join(folder, "dist/shop/browser");
  const page = readFileSync(join(built, "index.html"), "utf8");
  await chat({ site: await serveFolder(built, page) }, { element: false });
  const dev = (port) => ["ng", "serve", "--host", "127.0.0.1", "--port", `${port}`];
  await chat(await serve(dev), { element: false });
});
