// The demo's shop as a site would serve it: compressed, cached by the browser, with the demo's proxy. One page for each chat.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { brotliCompressSync } from "node:zlib";
import { root } from "../setup.mjs";
import { TYPES, forward } from "../static-site.mjs";

const TAG = /<script async src="\/chat-widget\/chat-widget\.js"[^>]*><\/script>/;
const tagOf = (load) =>
  `<script async src="/chat-widget/chat-widget.js" data-proxy="/connector" data-locale="en-US" data-load="${load}"></script>`;

/** The chats by the names of their pages: none, by hand in Preact, Deep Chat, and ours in three ways. */
export const VARIANTS = {
  none: "",
  hand: '<script async src="/by-hand.js"></script>',
  "deep-chat": '<script async src="/deep-chat.js"></script>',
  idle: tagOf("idle"),
  intent: tagOf("intent"),
  eager: tagOf("eager"),
};

/** Serves the shop. `files` are further compressed files by their paths. Returns the server and its address. */
export async function serve(files, demo) {
  const shop = readFileSync(join(root, "www/demo/index.html"), "utf8");
  if (!TAG.test(shop)) throw new Error("the shop's page has no script tag of the widget");
  for (const [name, tag] of Object.entries(VARIANTS))
    files.set(`/${name}.html`, brotliCompressSync(shop.replace(TAG, tag)));
  const find = (path) => {
    const folder = path.startsWith("/chat-widget/")
      ? ["dist", path.slice("/chat-widget/".length)]
      : ["www/demo", path.slice(1)];
    return brotliCompressSync(readFileSync(join(root, ...folder)));
  };
  const server = createServer((incoming, answer) => {
    const { pathname } = new URL(incoming.url, "http://shop");
    if (pathname.startsWith("/connector/")) return forward(incoming, answer, demo.site);
    try {
      if (!files.has(pathname)) files.set(pathname, find(pathname));
      const cached = pathname.endsWith(".html") ? "no-cache" : "max-age=31536000, immutable";
      answer
        .writeHead(200, { "Content-Type": TYPES[extname(pathname)], "Content-Encoding": "br", "Cache-Control": cached })
        .end(files.get(pathname));
    } catch {
      answer.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, site: `http://127.0.0.1:${server.address().port}` };
}
