// A shop's web server: its pages, the widget's files, and the proxy `site-connector proxy` behind it.

import { once } from "node:events";
import { createReadStream, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { firstLine, start } from "../../../scripts/servers.mjs";
import { forward, TYPES } from "../../../scripts/static-site.mjs";
import { TAG } from "../chat.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND = process.env.SITE_CONNECTOR ?? join(root, "target/debug/site-connector");
const PAGES = join(root, "www/demo");
const WIDGET = process.env.WIDGET_DIR ?? join(root, "dist");

/** Starts the proxy for a service. Returns its `address` and `stop()`. */
async function startProxy(service, token) {
  // The shop's web server is the hop, which tells the addresses of visitors.
  const flags = ["--origin", service, "--listen", "127.0.0.1:0", "--trusted-hop", "127.0.0.1"];
  const proxy = start(COMMAND, ["--log", "error", "proxy", ...flags], { CONNECTOR_TOKEN: token });
  const line = await firstLine(proxy);
  const stop = () => (proxy.child.kill(), proxy.ended);
  return { address: new URL(line.replace(/^\S+\s+/, "")).origin, stop };
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
