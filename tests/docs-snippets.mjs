// The snippets of the docs and the test that runs each. `tests/unit/docs.test.mjs` fails for one without a test.

import { readFileSync } from "node:fs";

const E2E = "tests/e2e/docs.test.mjs";
const PRIVACY = "tests/e2e/docs-privacy.test.mjs";
const SERVER = "tests/e2e/docs-server.test.mjs";
const VISITOR_TOKEN = "tests/e2e/visitor-token.test.mjs";
const GUEST = "tests/e2e/guest.test.mjs";
const HOSTILE = "tests/hostile/proxies.mjs";
const UNIT = "tests/unit/docs.test.mjs";
const CONTRACT = "tests/unit/contract-docs.test.mjs";
const AUDIT = "crates/connector/tests/it/audit.rs";
const CRATE = "src/lib.rs";
const CONNECTOR = "crates/connector/src/lib.rs";
const WEBHOOKS = "crates/service/src/notify/notify_tests/docs.rs";
const NODE = "tests/server/docs.test.mjs";
const SITES = "tests/server/docs-sites.test.mjs";
const SELF_HOST = "tests/e2e/self-host.test.mjs";
const BUILDERS = "tests/e2e/website-builders.test.mjs";
const BUNDLERS = "tests/npm/bundlers.test.mjs";
const CLIENT = "tests/npm/client.test.mjs";
const FRAMEWORKS = "tests/frameworks/frameworks.test.mjs";

/** The test of each snippet, by page, heading and language. */
export const RUN_BY = {
  "README.md": {
    "Try it: sh": UNIT,
    "Put it on a page: html": E2E,
    "Put it on a page: ts": E2E,
    "Put it on a page: rust": CRATE,
    "Put it on a page: rust 2": CRATE,
    "How the pieces fit: text": UNIT,
  },
  "docs/audit.md": { "Audit a site: sh": AUDIT, "Use it in CI: yaml": AUDIT },
  "docs/contract.md": {
    "Call the API: text": CONTRACT,
    "Read a response: json": CONTRACT,
    "Read a response: json 2": CONTRACT,
  },
  "docs/csp.md": { "Content Security Policy and Trusted Types: http": E2E },
  "docs/frameworks.md": {
    "Use the npm package: sh": UNIT,
    "Vite: js": BUNDLERS,
    "Vite: ts": BUNDLERS,
    "esbuild: ts": BUNDLERS,
    "React: tsx": BUNDLERS,
    "React on a server: tsx": BUNDLERS,
    "Vue: ts": BUNDLERS,
    "Vue: vue": BUNDLERS,
    "Next: tsx": FRAMEWORKS,
    "Next: tsx 2": FRAMEWORKS,
    "Next: ts": FRAMEWORKS,
    "Nuxt: vue": FRAMEWORKS,
    "Nuxt: ts": FRAMEWORKS,
    "Nuxt: ts 2": FRAMEWORKS,
    "SvelteKit: svelte": FRAMEWORKS,
    "SvelteKit: ts": FRAMEWORKS,
    "Astro: astro": FRAMEWORKS,
    "Astro: ts": FRAMEWORKS,
    "React Router: ts": FRAMEWORKS,
    "React Router: ts 2": FRAMEWORKS,
    "Angular: ts": FRAMEWORKS,
    "Angular: json": FRAMEWORKS,
    "Angular: json 2": FRAMEWORKS,
    "Turbo and htmx: html": "tests/e2e/swaps.test.mjs",
    "Use the element without a framework: ts": BUNDLERS,
    "Use the element without a framework: html": BUNDLERS,
    "Build your own window: ts": CLIENT,
  },
  "docs/frontend.md": {
    "Add the chat to a page: html": E2E,
    "Add the chat to a page: html 2": E2E,
    "Add the chat to a page: ts": E2E,
    "Invalid options: text": "tests/unit/options.test.mjs",
    "Prove who is signed in: html": VISITOR_TOKEN,
    "Prove who is signed in: js": VISITOR_TOKEN,
    "Report visitor events: html": E2E,
    "Avoid page conflicts: js": GUEST,
    "Avoid page conflicts: html": GUEST,
    "Avoid page conflicts: js 2": GUEST,
    "Avoid page conflicts: js 3": GUEST,
  },
  "docs/javascript-sites.md": {
    "Publish your first article: js": SITES,
    "Choose a journal: js": SITES,
    "Choose a journal: js 2": SITES,
    "Show page heads: js": SITES,
    "Show page heads: js 2": SITES,
    "Show page heads: js 3": SITES,
    "Show page heads: js 4": SITES,
    "Show page heads: js 5": SITES,
    "Keep articles in a Git folder: js": SITES,
    "Sync your pages: js": SITES,
  },
  "docs/privacy.md": { "Ask for consent: html": PRIVACY, "What a visitor can do: js": PRIVACY },
  "docs/rust.md": {
    "Show the chat: toml": UNIT,
    "Show the chat: rust": CRATE,
    "Change the settings: rust": CRATE,
    "Prove who is signed in: rust": CRATE,
    "Control the chat: rust": CRATE,
    "Listen to events: rust": CRATE,
    "Draw a window of your own: rust": CRATE,
    "Draw a window of your own: rust 2": CRATE,
    "Keep the module small: toml": UNIT,
    "Develop with Trunk: toml": UNIT,
    "Develop with Trunk: html": UNIT,
  },
  "docs/server.md": {
    "Get the site token: sh": SELF_HOST,
    "Set up the proxy: rust,no_run": CONNECTOR,
    "Set up the proxy: sh": SERVER,
    "Set up the proxy: js": SERVER,
    "Set up the proxy: sh 2": SERVER,
    "Compare the recipes: nginx": HOSTILE,
    "Configure `site-connector proxy`: toml": "crates/connector/tests/it/proxy_server/command.rs",
    "Serve the proxy in Node: js": NODE,
    "Serve the proxy in Node: js 2": NODE,
    "Serve the proxy in Node: js 3": NODE,
    "Serve the proxy from a function: js": NODE,
    "Serve the proxy from a function: js 2": NODE,
    "Serve the proxy from a function: js 3": NODE,
    "Call the API from JavaScript: js": NODE,
    "Call the API from JavaScript: js 2": NODE,
    "Prove who a signed-in visitor is: js": NODE,
    "Prove who a signed-in visitor is: rust,no_run": CONNECTOR,
    "Prove who a signed-in visitor is: php": "tests/server/visitor-token.test.mjs",
    "Use the commands: sh": "crates/connector/tests/it/commands.rs",
    "Use the client: rust": CONNECTOR,
    "Run jobs: rust": CONNECTOR,
  },
  "docs/site-owner.md": {
    "For site owners: html": E2E,
    "Change the look and the texts: html": E2E,
    "Use your own buttons: html": E2E,
    "Update the chat: html": E2E,
  },
  "docs/themes.md": { "Derive a theme from your brand's colour: html": E2E, "Set your own colours: css": E2E },
  "docs/troubleshooting.md": { "Troubleshooting: js": E2E },
  "docs/self-host.md": {
    "From an empty machine to an answered message: sh": SELF_HOST,
    "Put it behind a reverse proxy: toml": SELF_HOST,
    "Serve TLS without a reverse proxy: toml": SELF_HOST,
    "Run it under systemd: sh": SELF_HOST,
    "Back up and restore: sh": SELF_HOST,
    "Upgrade: sh": SELF_HOST,
    "Move to PostgreSQL, and to two nodes: sh": SELF_HOST,
  },
  "docs/webhooks.md": {
    "Create a webhook: http": WEBHOOKS,
    "Verify a request: js": WEBHOOKS,
    "Verify a request: rust": WEBHOOKS,
    "Events: json": WEBHOOKS,
  },
  "docs/website-builders.md": {
    "Copy the line: html": BUILDERS,
    "Google Tag Manager: html": BUILDERS,
    "Allow the chat in a Content Security Policy: http": BUILDERS,
  },
  "docs/wordpress.md": {
    "Keep the token on your server: php": "tests/e2e/wordpress.test.mjs",
    "Prove who is signed in: php": "tests/server/visitor-token.test.mjs",
  },
};

/** Returns the text of a file of the project. */
export const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

/** Returns the snippets of a page by their names: heading and language, numbered from the second of a kind. */
export const snippets = (page) => snippetsOf(read(page));

function snippetsOf(markdown) {
  const found = new Map();
  let heading;
  for (const [, title, indent, language, text] of markdown.matchAll(/^#+ (.*)$|^( *)```(\S+)\n([^]*?)^ *```$/gm)) {
    if (title !== undefined) {
      heading = title;
      continue;
    }
    const kind = `${heading}: ${language}`;
    let name = kind;
    for (let number = 2; found.has(name); number += 1) name = `${kind} ${number}`;
    found.set(name, text.replaceAll(new RegExp(`^${indent}`, "gm"), ""));
  }
  return found;
}

/** Matches the first line of a snippet that is a whole file: a comment with its path. */
const FILE = /^(?:\/\/|<!--) (\S+)(?: -->)?\n/;

/** Returns the files among the snippets of a page whose name passes a test, each as path and text. */
export const files = (page, test) =>
  [...snippets(page)]
    .filter(([name, text]) => test(name) && FILE.test(text))
    .map(([, text]) => [text.match(FILE)[1], text.replace(FILE, "")]);

/** Returns a snippet of a page. */
export const snippet = (page, name) => snippetOf(read(page), name, page);

/** Returns a snippet of Markdown. */
export function snippetOf(markdown, name, page = "the page") {
  const found = snippetsOf(markdown);
  if (!found.has(name)) throw new Error(`${page} has no snippet "${name}", but: ${[...found.keys()].join("; ")}`);
  return found.get(name);
}
