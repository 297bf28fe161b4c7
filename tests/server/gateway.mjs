// The connector API at an address of its own, whose calls go through one of our libraries. So the conformance suite, which
// knows the API alone, tests what the library sends to the service and what it returns.

import { once } from "node:events";
import { createServer } from "node:http";
import { ServerConnectorClient } from "../../dist/server/index.mjs";

const API_BASE = "/api/connector/v1";
/** Headers of a connection, which are not passed on. */
const HOP_BY_HOP = /^(connection|content-length|host|keep-alive|transfer-encoding)$/;

/**
 * Starts the API. `through` gets each request that has the site token, and returns the response, or nothing for a request that
 * the library cannot express. Those requests, and requests without the token, go to the service at `origin`.
 */
export async function startGateway({ origin, token, through }) {
  const server = createServer(async (request, response) => {
    try {
      const parts = await request.toArray();
      const given = {
        method: request.method,
        path: request.url.replace(API_BASE, ""),
        headers: new Headers(Object.entries(request.headers).filter(([name]) => !HOP_BY_HOP.test(name))),
        body: parts.length > 0 ? Buffer.concat(parts) : undefined,
      };
      const hasToken = request.headers.authorization === `Bearer ${token}` && request.url.startsWith(API_BASE);
      const answer = (hasToken && (await through(given))) || (await send(origin + request.url, given));
      const headers = [...answer.headers].filter(([name]) => !HOP_BY_HOP.test(name));
      response.writeHead(answer.status, Object.fromEntries(headers));
      response.end(Buffer.from(await answer.arrayBuffer()));
    } catch (error) {
      response.writeHead(500).end(String(error.stack));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const stop = () => (server.closeAllConnections(), server.close());
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}

const send = (url, { method, headers, body }) => fetch(url, { method, headers, body });

/** The calls of a visitor's browser. */
const OF_BROWSERS = /^(GET \/chat\/(config|messages|presence)|POST \/(chat\/messages|events))(\?|$)/;

/** Passes the calls of browsers to a proxy at `base`, as a browser sends them: without the token. Counts them in `calls`. */
export function throughProxy(base, calls) {
  return ({ method, path, headers, body }) => {
    const [, call] = OF_BROWSERS.exec(`${method} ${path}`) ?? [];
    if (!call) return undefined;
    calls.add(call);
    const ofPage = new Headers(headers);
    ofPage.delete("authorization");
    return send(base + path, { method, headers: ofPage, body });
  };
}

/** Returns an object in JSON, or undefined. */
function objectIn(body) {
  try {
    const value = JSON.parse(body);
    return value && typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Returns whether an object has these members and no others. */
const hasOnly = (object, ...names) => Object.keys(object).every((name) => names.includes(name));

/** Returns the method of the client for a request with its arguments, or nothing if no method sends such a request. */
function expressed({ method, path, body }) {
  const { pathname, searchParams } = new URL(path, "http://service");
  const query = Object.fromEntries(searchParams);
  const data = objectIn(body) ?? (body ? undefined : {});
  if (!data || (searchParams.size > 0 && (method === "POST" || searchParams.size > Object.keys(query).length))) return;
  const [, job] = /^\/site\/jobs\/([^/]+)\/complete$/.exec(pathname) ?? [];
  switch (`${method} ${job ? "/site/jobs/{id}/complete" : pathname}`) {
    case "GET /site/status":
      return hasOnly(query) && ["getSiteStatus"];
    case "GET /chat/config":
      return hasOnly(query, "locale") && ["getChatConfig", query.locale];
    case "GET /chat/messages":
      return hasOnly(query, "conversationId", "after") && ["listMessages", query];
    case "GET /chat/presence":
      return hasOnly(query, "conversationId") && ["getPresence", query.conversationId];
    case "GET /seo/overlays":
      return hasOnly(query, "path", "locale") && ["listSeoOverlays", query];
    case "POST /chat/messages":
      return ["sendMessage", data];
    case "POST /events": {
      const isBatch = Array.isArray(data.events) && data.events.length > 0 && data.events.length <= 50;
      return isBatch && hasOnly(data, "events") && ["trackBatch", data.events];
    }
    case "POST /content/sync":
      return ["syncContent", data];
    case "POST /site/jobs/next":
      return hasOnly(data) && ["claimNextJob"];
    case "POST /site/jobs/{id}/complete":
      return ["completeJob", decodeURIComponent(job), data];
  }
}

/**
 * Passes calls to `ServerConnectorClient`, and returns the data or the error of its result in an envelope. The key is that of
 * the request: `client.test.mjs` tests the client's own. Adds the names of the methods to `calls`.
 */
export function throughClient({ origin, token, calls }) {
  return async (request) => {
    const [name, ...args] = expressed(request) || [];
    if (!name) return undefined;
    calls.add(name);
    const key = request.headers.get("idempotency-key");
    let received;
    const sendOnce = async (url, init) => {
      if (key) init.headers.set("Idempotency-Key", key);
      received = await fetch(url, init);
      return received;
    };
    const options = { origin, token, siteId: "site", backOff: { attempts: 1 }, fetch: sendOnce };
    const result = await new ServerConnectorClient(options)[name](...args).then(
      (data) => ({ ok: true, data }),
      ({ code, message }) => ({ ok: false, error: { code, message } }),
    );
    const { status, headers } = received;
    const requestId = headers.get("X-Request-Id");
    return Response.json({ ...result, requestId }, { status, headers });
  };
}
