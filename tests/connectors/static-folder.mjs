// A folder of static pages with `site-connector jobs`, as a connector of the conformance suite.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { folder } from "../../scripts/servers.mjs";
import { command } from "./service.mjs";

/** Creates a site of one page, whose public address is the folder itself. */
export function startStaticFolder({ origin, token }) {
  const home = join(folder, "static-folder");
  const file = (path) => {
    const plain = join(home, path);
    return path.endsWith(".html") ? plain : join(plain, "index.html");
  };
  const write = (path, html) => {
    mkdirSync(dirname(file(path)), { recursive: true });
    writeFileSync(file(path), html);
  };
  write("/", "<!doctype html><html><head><title>Home</title></head><body>Home</body></html>");
  return {
    name: "static folder",
    address: "https://shop.example",
    async run({ KILL_AFTER_MS, ...given } = {}) {
      const args = ["jobs", "--origin", origin, "--site", home, "--site-origin", "https://shop.example", "--once"];
      const env = { ...process.env, CONNECTOR_TOKEN: token, ...given };
      const child = spawn(command, [...args, "--state", `${home}-state`], { env, stdio: "ignore" });
      if (KILL_AFTER_MS) setTimeout(() => child.kill("SIGKILL"), Number(KILL_AFTER_MS));
      const [code, signal] = await once(child, "close");
      return { code: signal ?? code };
    },
    async read(path) {
      if (!existsSync(file(path))) return { status: 404, html: "" };
      return { status: 200, html: readFileSync(file(path), "utf8") };
    },
    write,
  };
}
