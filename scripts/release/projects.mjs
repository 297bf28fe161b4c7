// The kinds of pages that a release is used in. Each function makes a page in a folder from the files of the release alone, and
// tools from the registries of npm and Rust. It returns the address of a `site` that runs, or the files of a static one.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answers, freePort, start } from "../servers.mjs";
import { Advice, debianTool, lockedVersion, root, setupBuild } from "../setup.mjs";
import { unpackCrates } from "../package.mjs";

const NAME = "@site-connector/chat-widget";
/** The name of the application in Leptos, which no crate of the workspace has. */
const SHOP = "release-shop";
/** Packages of npm besides those in package-lock.json. */
const NEXT = "next@16.4.6";
/** Matches what npm prints when it cannot reach its registry. */
const UNREACHABLE = /\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED)\b/;

const html = (body) =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><link rel="icon" href="data:,"><title>Shop</title><body>${body}`;

/** Runs a tool, and returns its output. It must not see the settings of the program that called this one. */
function tool(program, args, cwd, env = {}) {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: "utf8",
    maxBuffer: 1 << 26,
    env: { ...process.env, ...env },
  });
  if (error) throw new Advice(`${program} is missing`);
  if (status === 0) return stdout;
  const output = `${stdout}${stderr}`;
  if (program === "npm" && UNREACHABLE.test(output)) throw new Advice("npm cannot reach its registry");
  throw new Error(`${program} ${args.join(" ")} failed: ${output.slice(-4000)}`);
}

/** Makes a folder with a project of npm: the tarball of the release and other packages. */
function npmProject(folder, tarball, packages) {
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "shop", private: true, type: "module" }));
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
  tool("npm", ["install", ...quiet, tarball, ...packages], folder);
}

/** Returns a package with the version that the project has. */
function pinned(name) {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  return `${name}@${packages[`node_modules/${name}`].version}`;
}

export const PROJECTS = {
  /** A page of static files, with the script tag of the archive. */
  zip({ folder, file }) {
    debianTool("unzip");
    const site = join(folder, "zip");
    tool("unzip", ["-q", file(/^chat-widget-[\d.]+\.zip$/), "-d", site], folder);
    return { html: { folder: site, page: html(readFileSync(join(site, "chat-widget/snippet.html"), "utf8")) } };
  },

  /** A build of Vite. */
  vite({ folder, file }) {
    const home = join(folder, "vite");
    npmProject(home, file(/\.tgz$/), [pinned("vite")]);
    writeFileSync(join(home, "index.html"), html('<script type="module" src="/main.js"></script>'));
    const program = `import { ChatWidget } from "${NAME}";\nawait ChatWidget.mount({ proxy: "/connector" });\n`;
    writeFileSync(join(home, "main.js"), program);
    tool("npx", ["--no-install", "vite", "build", "--target", "es2022", "--logLevel", "warn"], home);
    return { html: { folder: join(home, "dist"), page: readFileSync(join(home, "dist/index.html"), "utf8") } };
  },

  /** A production server of Next, which forwards to the proxy by a rewrite. */
  async next({ folder, file, proxy }) {
    const home = join(folder, "next");
    npmProject(home, file(/\.tgz$/), [NEXT, pinned("react"), pinned("react-dom")]);
    const write = (path, lines) => writeFileSync(join(home, path), `${lines.join("\n")}\n`);
    mkdirSync(join(home, "app"));
    write("next.config.mjs", [
      "export default {",
      `  rewrites: async () => [{ source: "/connector/:path*", destination: "${proxy}/connector/:path*" }],`,
      "};",
    ]);
    write("app/icon.svg", ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>']);
    write("app/layout.js", [
      "export default function Layout({ children }) {",
      '  return <html lang="en"><body>{children}</body></html>;',
      "}",
    ]);
    write("app/page.js", [
      `import { ChatWidget } from "${NAME}/react";`,
      "export default function Page() {",
      '  return <main><h1>Shop</h1><ChatWidget proxy="/connector" /></main>;',
      "}",
    ]);
    const env = { NEXT_TELEMETRY_DISABLED: "1", NODE_ENV: "production" };
    const next = join(home, "node_modules/.bin/next");
    tool(next, ["build"], home, env);
    const site = `http://127.0.0.1:${await freePort()}`;
    const server = start(next, ["start", home, "--hostname", "127.0.0.1", "--port", new URL(site).port], env);
    await answers(site, server);
    return { site };
  },

  /** An application in Leptos, which depends on the packages of the crates. */
  leptos({ folder, file }) {
    setupBuild();
    const home = join(folder, "leptos");
    const crates = ["chat-markup", "chat-protocol", "chat-session", "chat-widget"];
    const paths = crates.map((name) => file(new RegExp(`^${name}-[\\d.]+\\.crate$`)));
    unpackCrates(paths, home, [SHOP]);
    mkdirSync(join(home, SHOP, "src"), { recursive: true });
    const write = (path, lines) => writeFileSync(join(home, SHOP, path), `${lines.join("\n")}\n`);
    write("Cargo.toml", [
      "[package]",
      `name = "${SHOP}"`,
      'version = "1.0.0"',
      'edition = "2024"',
      "[dependencies]",
      `chat-widget = { version = "*", default-features = false }`,
      'leptos = { version = "0.8", features = ["csr"] }',
    ]);
    write("src/main.rs", [
      "use chat_widget::{ChatWidget, Settings};",
      "use leptos::prelude::*;",
      "fn main() {",
      '    mount_to_body(|| view! { <ChatWidget settings=Settings::new("/connector")/> });',
      "}",
    ]);
    // The sources come from the folder. The output of other crates of the same names must not get in the way.
    const output = join(root, "target", SHOP);
    const flags = ["--quiet", "--offline", "--target", "wasm32-unknown-unknown", "--target-dir", output, "-p", SHOP];
    // Some dependencies are not the project's own: it has smaller ones in their place.
    tool("cargo", ["fetch", "--quiet", "--target", "wasm32-unknown-unknown"], home);
    tool("cargo", ["build", ...flags], home);
    // The program that writes the glue must be of the version of the module.
    const glue = readFileSync(join(home, "Cargo.lock"), "utf8").match(/name = "wasm-bindgen"\nversion = "([^"]+)"/)[1];
    if (glue !== lockedVersion("wasm-bindgen")) throw new Error(`the packages lock wasm-bindgen ${glue}`);
    const module = join(output, "wasm32-unknown-unknown/debug", `${SHOP}.wasm`);
    const site = join(home, "site");
    tool("wasm-bindgen", ["--target", "web", "--no-typescript", "--out-dir", site, module], home);
    writeFileSync(join(site, "start.mjs"), `import start from "./${SHOP}.js";\nawait start();\n`);
    return { html: { folder: site, page: html('<script type="module" src="/start.mjs"></script>') } };
  },
};
