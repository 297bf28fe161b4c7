// A shop in front of the demo's with an origin of its own, so that its visitor is new. It edits the shop's pages for a test and
// collects their errors.

import { once } from "node:events";
import { createServer, request as ask } from "node:http";

/** A page with the shop in a frame as narrow as a small phone, because browser windows have a larger minimum width. */
const NARROW = '<!doctype html><title>Narrow</title><iframe src="/" width="320" height="600" title="Shop"></iframe>';

/** The first script of each page, a file of the shop because of its policy. */
function reportErrors() {
  window.notes = { shows: [], sent: [] };
  const tell = (complaint) =>
    window.notes.sent.push(fetch("/notes", { method: "POST", body: complaint, keepalive: true }).catch(() => {}));
  addEventListener("pageshow", ({ persisted }) => window.notes.shows.push(persisted));
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) =>
    tell(`policy: ${effectiveDirective} ${blockedURI} ${sample}`),
  );
  // Load errors do not bubble, so they are captured.
  addEventListener("error", ({ message, target }) => tell(`error: ${message ?? target.src ?? target.href}`), true);
  addEventListener("unhandledrejection", ({ reason }) => tell(`unhandled rejection: ${reason}`));
  for (const level of ["error", "warn"]) {
    const say = console[level];
    console[level] = (...words) => {
      tell(`console ${level}: ${words.map((word) => (word?.stack && `${word} ${word.stack}`) || word).join(" ")}`);
      say.apply(console, words);
    };
  }
}

async function bodyOf(stream) {
  const pieces = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/**
 * Opens a shop like the one at `site`. `tag` are attributes of the widget's script tag, `first` a function that runs in
 * each page before anything else, `narrow` whether it stands in the frame of `/narrow.html`, `held` the path of a file
 * that is held until `release()`. Returns its `origin`, the `complaints` about its pages so far, `requested` for the first
 * request of that file, and `close()`.
 */
export async function openShop(site, { tag = {}, first = () => {}, narrow = false, held }) {
  const complaints = [];
  const gate = {};
  const released = new Promise((resolve) => (gate.release = resolve));
  gate.requested = new Promise((resolve) => (gate.reach = resolve));
  const attributes = Object.entries(tag).map(([name, value]) => `data-${name}='${value}' `);
  const own = {
    "/notes.js": ["text/javascript", `(${reportErrors})();\n(${first})();`],
    "/narrow.html": ["text/html", NARROW],
  };
  const changed = (page) =>
    page
      .replace("<head>", '<head><script src="/notes.js"></script>')
      // The first of two attributes with the same name counts.
      .replace("data-proxy=", (found) => attributes.join("") + found);
  const policyOf = (policy) =>
    `${narrow ? policy.replace("frame-ancestors 'none'", "frame-ancestors 'self'") : policy}; report-uri /reports`;

  async function forward(response, answer) {
    const { statusCode, headers } = response;
    if (!headers["content-type"]?.startsWith("text/html")) {
      answer.writeHead(statusCode, headers);
      return response.pipe(answer);
    }
    const { "content-length": _, "content-security-policy": policy, ...others } = headers;
    answer.writeHead(statusCode, { ...others, "content-security-policy": policyOf(policy) });
    answer.end(changed(await bodyOf(response)));
  }

  async function serve(request, answer) {
    const { method, url, headers } = request;
    if (own[url]) {
      const [kind, body] = own[url];
      return answer.setHeader("Content-Type", kind).end(body);
    }
    if (url === "/notes" || url === "/reports") {
      complaints.push(await bodyOf(request));
      return answer.writeHead(204).end();
    }
    if (url === held) {
      gate.reach();
      await released;
    }
    const forwarded = ask(new URL(url, site), { method, headers: { ...headers, "accept-encoding": "identity" } });
    // When one side closes its connection, the other one is closed as well.
    forwarded.on("response", (response) => forward(response, answer).catch(() => answer.destroy()));
    forwarded.on("error", () => answer.destroy());
    answer.on("close", () => forwarded.destroy());
    request.pipe(forwarded);
  }

  const server = createServer((request, answer) => serve(request, answer).catch(() => answer.destroy()));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    complaints,
    requested: gate.requested,
    release: gate.release,
    close,
  };
}
