// A shop's web server: its pages, the widget's files, and the proxy `site-connector proxy` behind it.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { extname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { TAG } from "../chat.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");
const PAGES = join(root, "www/demo");
const WIDGET = process.env.WIDGET_DIR ?? join(root, "dist");
const TYPES = {
  ".css": "text/css",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Starts the proxy for a service. Returns its `address` and `stop()`. */
async function startProxy(service, token) {
  // The shop's web server is the hop, which tells the addresses of visitors.
  const flags = [
    "--log",
    "error",
    "proxy",
    "--origin",
    service,
    "--listen",
    "127.0.0.1:0",
    "--trusted-hop",
    "127.0.0.1",
  ];
  const env = { ...process.env, CONNECTOR_TOKEN: token };
  const proxy = spawn(COMMAND, flags, { env, stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => proxy.kill());
  const [line] = await once(createInterface(proxy.stdout), "line");
  const stop = async () => {
    proxy.kill();
    await once(proxy, "exit");
  };
  return { address: new URL(line.replace(/^\S+\s+/, "")), stop };
}

/** Forwards a request to the proxy, as a web server does. */
function forward(incoming, outgoing, { hostname, port }) {
  const { method, url: path, headers } = incoming;
  const sent = request({ hostname, port, method, path, headers }, (response) => {
    outgoing.writeHead(response.statusCode, response.headers);
    response.pipe(outgoing);
  });
  sent.on("error", () => outgoing.destroy());
  outgoing.on("close", () => sent.destroy());
  incoming.pipe(sent);
}

/** Returns the shop's page for a signed-in customer, whose name it tells the widget. */
function pageFor(name) {
  const tag = `<script async src="/chat-widget/chat-widget.js" data-proxy="/connector" data-load="eager" data-locale="en-US" data-visitor='${JSON.stringify({ name })}'></script>`;
  return readFileSync(join(PAGES, "index.html"), "utf8").replace(TAG, tag);
}

/** Starts the shop for a service with this token. Returns its `address` and `stop()`. */
export async function startShop(service, token) {
  const proxy = await startProxy(service, token);
  const server = createServer((incoming, outgoing) => {
    const { pathname, searchParams } = new URL(incoming.url, "http://shop.example");
    if (pathname.startsWith("/connector/")) return forward(incoming, outgoing, proxy.address);
    if (pathname === "/") {
      outgoing.setHeader("Content-Type", "text/html; charset=utf-8");
      return outgoing.end(pageFor(searchParams.get("customer")));
    }
    const [, inWidget] = /^\/chat-widget\/(.+)$/.exec(pathname) ?? [];
    const file = inWidget ? join(WIDGET, inWidget) : join(PAGES, pathname);
    if (!existsSync(file)) return outgoing.writeHead(404).end();
    outgoing.setHeader("Content-Type", TYPES[extname(file)] ?? "application/octet-stream");
    createReadStream(file).pipe(outgoing);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    address: `http://127.0.0.1:${server.address().port}`,
    async stop() {
      server.close();
      server.closeAllConnections();
      await proxy.stop();
    },
  };
}
