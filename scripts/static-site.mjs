// A site of static files, whose server forwards `/connector/` to a proxy.

import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { extname, join, normalize } from "node:path";

/** The content types of files, by their extensions. */
export const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
};

/** Forwards a request to the proxy, with its body and its headers, and returns the response to the page. */
export function forward(request, response, proxy) {
  const { method, headers, url } = request;
  const forwarded = send(proxy + url, { method, headers: { ...headers, host: new URL(proxy).host } });
  forwarded.on("response", (answer) => answer.pipe(response.writeHead(answer.statusCode, answer.headers)));
  forwarded.on("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  // A page that closes its connection ends the request to the proxy.
  response.on("close", () => forwarded.destroy());
  request.pipe(forwarded);
}

/** Serves a folder, with the HTML `page` at `/` and a proxy at `/connector/`. Returns the server and its address. */
export async function serveSite(folder, page, proxy) {
  const server = createServer((request, response) => {
    if (request.url.startsWith("/connector/")) return forward(request, response, proxy);
    const { pathname } = new URL(request.url, "http://site");
    const file = join(folder, normalize(pathname));
    if (pathname === "/") response.writeHead(200, { "Content-Type": "text/html" }).end(page);
    else if (existsSync(file) && statSync(file).isFile())
      response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "text/plain" }).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { server, site: `http://127.0.0.1:${server.address().port}` };
}
