// PHP in several versions, and WordPress, for the tests of the connectors in PHP. They come from npm.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { debianTool, run, say, toolsHome } from "./setup.mjs";

/** Returns the script that runs PHP, compiled to WebAssembly, in the version that the variable `PHP` names. */
export function phpOfVersion() {
  const home = join(toolsHome, "php-wasm-3.1.56");
  const script = join(home, "node_modules/@php-wasm/cli/main.js");
  if (!existsSync(script)) {
    say("installing PHP for WebAssembly into the tools cache");
    mkdirSync(home, { recursive: true });
    run("npm", [
      "install",
      "--prefix",
      home,
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      "@php-wasm/cli@3.1.56",
    ]);
  }
  return script;
}

/** The npm package that ships WordPress, each version as a ZIP archive. */
const WORDPRESS_BUILDS = "@wp-playground/wordpress-builds@0.9.19";

/**
 * Unpacks WordPress into the tools cache unless it is there, and returns its folder. Versions: 6.4, 6.5, nightly. The archives
 * have no styles, scripts and pictures: the package keeps them beside the archives, for a browser to fetch one by one.
 */
export function wordpressSources(version) {
  const home = join(toolsHome, "wordpress-builds-0.9.19");
  const statics = "package/public/wp-";
  if (!existsSync(home)) {
    say("unpacking WordPress from npm into the tools cache");
    const fresh = `${home}-${process.pid}`;
    mkdirSync(fresh, { recursive: true });
    run("npm", ["pack", "--silent", "--pack-destination", fresh, WORDPRESS_BUILDS], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    const [archive] = readdirSync(fresh).filter((name) => name.endsWith(".tgz"));
    const wanted = ["6.4", "6.5", "nightly"].map((version) => `${statics}${version}`);
    run("tar", ["xzf", join(fresh, archive), "-C", fresh, "package/src/wordpress", ...wanted]);
    rmSync(join(fresh, archive));
    renameSync(fresh, home);
  }
  const folder = join(home, version);
  if (!existsSync(folder)) {
    debianTool("unzip");
    const fresh = `${folder}-${process.pid}`;
    run("unzip", ["-q", join(home, "package/src/wordpress", `wp-${version}.zip`), "-d", fresh]);
    for (const part of ["wp-admin", "wp-includes", "wp-content/themes"])
      cpSync(join(home, `${statics}${version}`, part), join(fresh, part), { recursive: true, force: false });
    renameSync(fresh, folder);
  }
  return folder;
}
