// A web server for a built documentation site, below a path of its own and under the demo's policy for framed pages.

import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const BASE = "/some/where/";
const TYPES = {
  ".css": "text/css",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".json": "application/json",
  ".mjs": "text/javascript",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

const POLICY = readFileSync(join(root, "crates/connector/src/site.rs"), "utf8")
  .match(/FRAMED_POLICY: &str = "([^"]*)"/)[1]
  .replace(/\\\n\s*/g, "");

/** Serves a folder. Returns the address of its first page's folder, the requests for missing files, and `stop()`. */
export async function serve(folder) {
  const missing = [];
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://site");
    const path = pathname.startsWith(BASE) ? normalize(pathname.slice(BASE.length)) : "..";
    const body = path.startsWith("..") ? null : await readFile(join(folder, path)).catch(() => null);
    if (!body) missing.push(pathname);
    response.writeHead(body ? 200 : 404, {
      "content-type": TYPES[extname(path)] ?? "application/octet-stream",
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
    });
    response.end(body ?? "");
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${server.address().port}${BASE}`, missing, stop };
}
