// A site of static files, whose server forwards `/connector` to the proxy.

import { existsSync, readFileSync, statSync } from "node:fs";
import { createServer, request as send } from "node:http";
import { extname, join, normalize } from "node:path";

const KINDS = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};

/** Forwards a request to the proxy, with its body and its headers, and returns the response to the page. */
function forward(request, response, proxy) {
  const { method, headers, url } = request;
  const forwarded = send(proxy + url, { method, headers: { ...headers, host: new URL(proxy).host } }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  forwarded.once("error", () => (response.headersSent ? response.destroy() : response.writeHead(502).end()));
  request.pipe(forwarded);
}

/** Serves a folder with the HTML `page` at `/`. Resolves with the address. */
export async function forwarding(folder, page, proxy) {
  const site = createServer((request, response) => {
    if (request.url.startsWith("/connector/")) return forward(request, response, proxy);
    const { pathname } = new URL(request.url, "http://site");
    const file = join(folder, normalize(pathname));
    if (pathname === "/") response.writeHead(200, { "Content-Type": "text/html" }).end(page);
    else if (existsSync(file) && statSync(file).isFile())
      response.writeHead(200, { "Content-Type": KINDS[extname(file)] ?? "text/plain" }).end(readFileSync(file));
    else response.writeHead(404).end();
  });
  await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
  return `http://127.0.0.1:${site.address().port}/`;
}
