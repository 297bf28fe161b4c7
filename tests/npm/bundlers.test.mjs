// The packed package in pages of bundlers and frameworks, each tried with a chat in a browser.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { build as esbuild } from "esbuild";
import { build as vite, createServer } from "vite";
import { compileScript, parse } from "vue/compiler-sfc";
import webpack from "webpack";
import { ask, part } from "../e2e/chat.mjs";
import { project, proxied, root, serve, visit } from "./fixture.mjs";

const QUESTION = "How long does delivery take?";
const EMERALD = "rgb(5, 120, 68)";
const options = { timeout: 180_000 };
const { folder, write } = project("bundlers");

const html = (script, body = "") =>
  '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,"><title>Shop</title>' +
  `<body><div id="root">${body}</div><script type="module" src="/${script}"></script>`;

// The page of the docs, with its widget as a global.
for (const page of ["page", "page-esbuild"]) {
  write(`${page}.held.ts`, `import { widget } from "./${page}.ts";\nObject.assign(window, { widget });\n`);
}

/** Bundles with esbuild, as the docs say. */
const bundle = (entry, outdir, more = {}) =>
  esbuild({
    entryPoints: { main: join(folder, entry) },
    absWorkingDir: folder,
    outdir: join(folder, outdir),
    bundle: true,
    format: "esm",
    splitting: true,
    loader: { ".wasm": "file" },
    publicPath: "/",
    jsx: "automatic",
    logLevel: "warning",
    resolveExtensions: [".tsx", ".ts", ".mjs", ".js"],
    ...more,
  });

/** Opens a page, and asserts that a question gets a reply and the theme is the requested one. */
async function chat(address, open = (page) => part(page, "launcher").click()) {
  const visited = await visit(address);
  const { page, server, wrong } = visited;
  try {
    await open(page);
    await part(page, "input").waitFor();
    assert.equal(await part(page, "header").evaluate((header) => getComputedStyle(header).backgroundColor), EMERALD);
    await ask(page, QUESTION);
  } finally {
    assert.deepEqual(wrong, []);
  }
  assert.equal((await server.messages())[0], `visitor: ${QUESTION}`);
  return visited;
}

/** Uses the files that load on demand. */
async function goesOn({ page, wrong }) {
  await page.waitForFunction(() => window.widget);
  await page.evaluate(() => window.widget.setLocale("de"));
  await part(page, "message-visitor").getByText("Zugestellt").waitFor();
  const { checks } = await page.evaluate(() => window.widget.diagnose());
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  );
  assert.deepEqual(wrong, []);
}

test("A Vite build includes the widget, its languages and its themes without configuration", options, async () => {
  write("index.html", html("page.held.ts"));
  await vite({ root: folder, configFile: false, logLevel: "warn", build: { outDir: "vite", target: "es2022" } });
  await goesOn(await chat(await serve(join(folder, "vite"), readFileSync(join(folder, "vite/index.html")))));
});

test("Vite's development server serves the widget, and forwards to the proxy, as the docs say", options, async (t) => {
  write("index.html", html("page.held.ts"));
  process.env.CHAT_PROXY = await proxied();
  const site = await createServer({
    root: folder,
    configFile: join(folder, "vite.config.js"),
    logLevel: "warn",
    server: { port: 0, host: "127.0.0.1" },
    cacheDir: join(folder, ".vite"),
  });
  t.after(() => site.close());
  await site.listen();
  await goesOn(await chat(`http://127.0.0.1:${site.httpServer.address().port}/`));
});

test("A webpack build includes the widget, its languages and its themes without configuration", options, async () => {
  // Its loaders for TypeScript are separate packages.
  await bundle("page.held.ts", "plain", { external: ["@site-connector/*"], splitting: false });
  const compiler = webpack({
    mode: "production",
    context: folder,
    entry: "./plain/main.js",
    output: { path: join(folder, "webpack"), filename: "main.js", publicPath: "/" },
    resolve: { modules: [join(folder, "node_modules")] },
  });
  const stats = await promisify(compiler.run.bind(compiler))();
  assert.ok(!stats.hasErrors() && stats.toJson().errors.length === 0, stats.toString());
  await goesOn(await chat(await serve(join(folder, "webpack"), html("main.js"))));
});

test("An esbuild build includes the widget, given the URL of the WebAssembly module", options, async () => {
  await bundle("page-esbuild.held.ts", "esbuild");
  await goesOn(await chat(await serve(join(folder, "esbuild"), html("main.js"))));
});

/** The HTML of the docs for this tag. */
const written = (tag) =>
  readFileSync(join(root, "docs/frameworks.md"), "utf8").match(
    new RegExp(`^\`\`\`html\\n(<${tag} [^]*?)\`\`\`$`, "m"),
  )[1];

test(
  "The element works without a framework, and keeps a handler that was added before it was defined",
  options,
  async () => {
    await bundle("element.ts", "element", { plugins: [wasmBeside("element")] });
    await chat(await serve(join(folder, "element"), html("main.js", written("chat-widget"))), async () => {});
  },
);

test("The script tag works from a copy of the package's dist/", options, async () => {
  cpSync(join(folder, "node_modules/@site-connector/chat-widget/dist"), join(folder, "copied/chat-widget"), {
    recursive: true,
  });
  const page = `<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Shop</title><body>${written("script")}`;
  const { page: opened, wrong } = await visit(await serve(join(folder, "copied"), page));
  await part(opened, "launcher").click();
  await ask(opened, QUESTION);
  assert.deepEqual(wrong, []);
});

/** Returns the HTML that a program renders in Node. */
async function rendered(program) {
  write("render.tsx", program);
  await bundle("render.tsx", "server", { packages: "external", platform: "node", splitting: false });
  return execFileSync("node", [join(folder, "server/main.js")], { cwd: folder, encoding: "utf8" }).trim();
}

const help = (page) => page.locator("#help").click();

test("A server-rendered React page hydrates in strict mode, and its button opens the chat", options, async () => {
  const body = await rendered(
    'import { renderToString } from "react-dom/server";\nimport { StrictMode } from "react";\nimport { Help } from "./Help.tsx";\n' +
      "console.log(renderToString(<StrictMode><Help /></StrictMode>));\n",
  );
  assert.match(body, /<chat-widget [^>]*theme="emerald"[^>]*><\/chat-widget>/);
  assert.match(body, / suggested-questions="\[&quot;Do you ship\?&quot;\]"/);
  await bundle("hydrate.tsx", "react", {
    plugins: [wasmBeside("react")],
    define: { "process.env.NODE_ENV": '"development"' },
  });
  const { page } = await chat(await serve(join(folder, "react"), html("main.js", body)), help);
  assert.equal(await page.locator("chat-widget").count(), 1);
});

test("A server-rendered element starts when React has hydrated it", options, async () => {
  const body = await rendered(
    'import { renderToString } from "react-dom/server";\nimport { Help } from "./Help.tsx";\n' +
      "console.log(renderToString(<Help />));\n",
  );
  write(
    "hydrate-late.tsx",
    'import { hydrateRoot } from "react-dom/client";\nimport { Help } from "./Help.tsx";\n' +
      'const root = document.getElementById("root")!;\n' +
      "Object.assign(window, { hydrate: () => hydrateRoot(root, <Help />, { onRecoverableError: console.error }) });\n",
  );
  await bundle("hydrate-late.tsx", "react-late", {
    plugins: [wasmBeside("react-late")],
    define: { "process.env.NODE_ENV": '"development"' },
  });
  const { page, wrong } = await visit(await serve(join(folder, "react-late"), html("main.js", body)));
  await page.waitForFunction(() => window.hydrate && customElements.get("chat-widget"));
  const isStarted = () => document.querySelector("chat-widget").hasAttribute("proxy");
  assert.equal(await page.evaluate(isStarted), false);
  await page.evaluate(() => window.hydrate());
  await part(page, "launcher").click();
  await ask(page, QUESTION);
  assert.deepEqual(wrong, []);
});

test("The React component passes class, style, id, aria and data attributes to the element", options, async () => {
  const body = await rendered(
    'import { renderToString } from "react-dom/server";\nimport { ChatWidget } from "@site-connector/chat-widget/react";\n' +
      'console.log(renderToString(<ChatWidget proxy="/connector" className="chat" style={{ color: "red" }} id="help" ' +
      'aria-label="Help" data-test-id="chat" onOpen={() => {}} />));\n',
  );
  const attributes = [...body.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, name, value]) => `${name}=${value}`);
  assert.deepEqual(attributes.sort(), [
    "aria-label=Help",
    "class=chat",
    "data-test-id=chat",
    "id=help",
    "style=color:red",
  ]);
});

test("A server-rendered Vue page hydrates, and its button opens the chat", options, async () => {
  const body = await rendered(
    'import { createSSRApp } from "vue";\nimport { renderToString } from "vue/server-renderer";\nimport { Help } from "./Help.vue.ts";\n' +
      "console.log(await renderToString(createSSRApp(Help)));\n",
  );
  assert.match(body, /<chat-widget [^>]*theme="emerald"[^>]*><\/chat-widget>/);
  write(
    "hydrate-vue.ts",
    'import { createSSRApp } from "vue";\nimport { Help } from "./Help.vue.ts";\ncreateSSRApp(Help).mount("#root");\n',
  );
  await bundle("hydrate-vue.ts", "vue", { plugins: [wasmBeside("vue")] });
  const { page } = await chat(await serve(join(folder, "vue"), html("main.js", body)), help);
  assert.equal(await page.locator("chat-widget").count(), 1);
});

/** Compiles single-file components, as the plugins of Vue for bundlers do. */
const singleFiles = {
  name: "single-file components",
  setup: (build) =>
    build.onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { descriptor } = parse(readFileSync(path, "utf8"), { filename: path });
      const { content } = compileScript(descriptor, { id: "help", inlineTemplate: true });
      return { contents: content, loader: "ts" };
    }),
};

test("A single-file component of Vue shows the chat, and its button opens it", options, async () => {
  write(
    "single.ts",
    'import { createApp } from "vue";\nimport Help from "./Help.vue";\ncreateApp(Help).mount("#root");\n',
  );
  await bundle("single.ts", "single", { plugins: [wasmBeside("single"), singleFiles] });
  const { page } = await chat(await serve(join(folder, "single"), html("main.js")), help);
  assert.equal(await page.locator("chat-widget").count(), 1);
});

const LIVE = {
  React: `import { createElement, StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ChatWidget } from "@site-connector/chat-widget/react";
const root = createRoot(document.getElementById("root"));
window.show = (props) => root.render(createElement(StrictMode, null, props && createElement(ChatWidget, props)));`,
  Vue: `import { createApp, h, shallowRef } from "vue";
import { ChatWidget } from "@site-connector/chat-widget/vue";
const shown = shallowRef();
createApp(() => shown.value && h(ChatWidget, shown.value)).mount("#root");
window.show = (props) => (shown.value = props);`,
};

for (const [name, program] of Object.entries(LIVE)) {
  test(
    `Changing props of ${name} updates the widget, removing one resets it, and unmounting destroys the widget`,
    options,
    async () => {
      write("live.ts", program);
      const out = `live-${name}`;
      await bundle("live.ts", out, { plugins: [wasmBeside(out)], define: { "process.env.NODE_ENV": '"development"' } });
      const { page, wrong } = await visit(await serve(join(folder, out), html("main.js")));
      const show = (props) =>
        page.evaluate((props) => {
          window.emitted ??= [];
          window.show(
            props && {
              ...props,
              onReady: () => window.emitted.push("ready"),
              onMessage: ({ content }) => window.emitted.push(content),
            },
          );
        }, props);
      const inline = { proxy: "/connector", inline: true };
      await show({ ...inline, theme: "emerald", visitor: { name: "Ann" }, suggestedQuestions: [QUESTION] });
      await part(page, "suggestion").getByText(QUESTION).waitFor();
      const header = () => part(page, "header").evaluate((header) => getComputedStyle(header).backgroundColor);
      assert.equal(await header(), EMERALD);
      await part(page, "suggestion").click();
      await part(page, "message-assistant").nth(1).waitFor();
      await page.waitForFunction(() => window.emitted.length === 3);
      assert.deepEqual((await page.evaluate(() => window.emitted)).slice(0, 2), ["ready", QUESTION]);
      await show({ ...inline, theme: "rose", locale: "de" });
      await part(page, "message-visitor").getByText("Zugestellt").waitFor();
      const rose = await header();
      assert.notEqual(rose, EMERALD);
      await show(inline);
      await part(page, "message-visitor").getByText("Delivered").waitFor();
      assert.ok(![rose, EMERALD].includes(await header()), "teal");
      await show(undefined);
      await page.locator("chat-widget").waitFor({ state: "detached" });
      await show(inline);
      await part(page, "message-visitor").getByText(QUESTION).waitFor();
      assert.deepEqual(wrong, []);
    },
  );
}

/** Puts the WebAssembly module at its URL in the bundle, beside `/main.js`. */
function wasmBeside(out) {
  return {
    name: "the module beside the bundle",
    setup: (build) =>
      build.onEnd(() =>
        writeFileSync(
          join(folder, out, "chat-widget.wasm"),
          readFileSync(join(folder, "node_modules/@site-connector/chat-widget/dist/npm/chat-widget.wasm")),
        ),
      ),
  };
}
