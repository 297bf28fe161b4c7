// Requests that pages of other websites cause in an operator's browser: across sites, by forms, and through DNS rebinding.
// They are sent to every operation of the OpenAPI document, with the session of the owner.

import { Browser, all, operations } from "../operations.mjs";
import { ADMIN } from "../program.mjs";

const JSON_TYPE = { "Content-Type": "application/json" };
const MISSING = undefined;

const SITES = [
  MISSING,
  "none",
  "same-origin",
  "same-site",
  "cross-site",
  "",
  "SAME-ORIGIN",
  "same-origin, cross-site",
  ["cross-site", "same-origin"],
];
const OWN_SITES = [MISSING, "none", "same-origin"];
const origins = ({ port, host }) => [
  MISSING,
  `http://${host}`,
  "null",
  "",
  "https://evil.example",
  `http://evil.example:${port}`,
  `http://${host}.evil.example`,
  `http://${host}@evil.example`,
  `http://${host}/`,
  `http://localhost:${port}`,
  "http://127.0.0.1",
  `ftp://${host}`,
  [`http://${host}`, "https://evil.example"],
  ["https://evil.example", `http://${host}`],
];

/** Types that a form or a beacon can send, and others that are not JSON. */
const TYPES = [
  MISSING,
  "text/plain",
  "text/plain;charset=application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  ["text/plain", "application/json"],
];

/** Names that a hostile DNS server can give to this machine, or that no browser sends. */
const hosts = (port) => [
  "evil.example",
  `evil.example:${port}`,
  `127.0.0.1.evil.example:${port}`,
  `localhost.evil.example:${port}`,
  `evil-localhost:${port}`,
  `127.0.0.1:${port}@evil.example`,
  `2130706433:${port}`,
  `0x7f000001:${port}`,
  `127.1:${port}`,
  "",
  [`127.0.0.1:${port}`, "evil.example"],
];

const given = (headers) => Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== MISSING));

/** Returns what an attack could have changed: the sites, the operators and the log of changes. */
async function state(program) {
  const read = async (path) => (await program.admin("GET", path)).json?.data;
  return JSON.stringify([
    await read("/sites"),
    await read("/operators"),
    await read("/audit"),
    await read("/webhooks"),
  ]);
}

/** Sends requests of another website, each of which must be refused, and checks that nothing has changed. */
async function refused(program, requests, statuses) {
  const browser = new Browser(program);
  const before = await state(program);
  const problems = await all(requests, async ({ name, method, path, headers, body }) => {
    const { status, headers: got } = await browser.send(
      method,
      path,
      { Cookie: program.cookie, ...given(headers) },
      body,
    );
    const shared = Object.keys(got).filter((header) => header.startsWith("access-control-") || header === "set-cookie");
    return [
      ...(statuses.includes(status)
        ? []
        : [`${name} with ${JSON.stringify(given(headers))} was answered with ${status}`]),
      ...shared.map((header) => `${name} was answered with ${header}`),
    ];
  });
  browser.close();
  return (await state(program)) === before ? problems : [...problems, "something was changed"];
}

/** Returns the operations whose success ends the session that the attacks use. */
const endsSession = ({ method, path }) => method === "DELETE" && /\/sessions?$/.test(path);

export const sources = [
  {
    name: "every operation refuses every Sec-Fetch-Site and Origin of another website",
    run(program) {
      const own = [MISSING, `http://${program.host}`];
      const isOwn = (site, origin) => OWN_SITES.includes(site) && own.includes(origin);
      const pairs = SITES.flatMap((site) => origins(program).map((origin) => [site, origin])).filter(
        (pair) => !isOwn(...pair),
      );
      const requests = operations(program).flatMap((operation) =>
        pairs.map(([site, origin]) => ({
          ...operation,
          headers: { "Sec-Fetch-Site": site, Origin: origin, ...(operation.changes ? JSON_TYPE : {}) },
          body: operation.changes ? "{}" : undefined,
        })),
      );
      return refused(program, requests, [403]);
    },
  },
  {
    name: "every operation that changes something refuses the content types of forms",
    run(program) {
      const requests = operations(program)
        .filter(({ changes }) => changes)
        .flatMap((operation) => TYPES.map((type) => ({ ...operation, headers: { "Content-Type": type }, body: "{}" })));
      return refused(program, requests, [400, 415]);
    },
  },
  {
    name: "every operation refuses every host but its own (DNS rebinding)",
    run(program) {
      const requests = operations(program).flatMap((operation) =>
        hosts(program.port).map((host) => ({
          ...operation,
          headers: { Host: host, ...(operation.changes ? JSON_TYPE : {}) },
          body: operation.changes ? "{}" : undefined,
        })),
      );
      return refused(program, requests, [400, 403]);
    },
  },
  {
    name: "the console itself is not refused",
    async run(program) {
      const browser = new Browser(program);
      const own = [
        {},
        { "Sec-Fetch-Site": "same-origin", Origin: `http://${program.host}` },
        { "Sec-Fetch-Site": "none" },
      ];
      const usable = operations(program).filter(
        (operation) => !endsSession(operation) && !operation.path.endsWith("/stream"),
      );
      const requests = usable.flatMap((operation) => own.map((headers) => ({ ...operation, headers })));
      const problems = await all(requests, async ({ name, method, path, changes, headers }) => {
        const all = { Cookie: program.cookie, ...(changes ? JSON_TYPE : {}), ...headers };
        const { status, json } = await browser.send(method, path, all, changes ? "{}" : undefined);
        const isServed =
          [200, 400, 404, 409, 429].includes(status) || (status === 401 && json?.error.code !== "SIGNED_OUT");
        return isServed
          ? []
          : [`${name} with ${JSON.stringify(headers)} was answered with ${status} ${JSON.stringify(json)}`];
      });
      browser.close();
      return problems;
    },
  },
  {
    name: "nobody without a session reads or changes anything",
    async run(program) {
      const open = /(\/session|\/setup|\/setup\/check|\/password\/forgot)$/;
      const browser = new Browser(program);
      const cookies = [
        {},
        { Cookie: `session=${"A".repeat(43)}` },
        { Cookie: `session=${program.session.slice(0, -1)}` },
      ];
      const requests = operations(program)
        .filter(({ path }) => !open.test(path))
        .flatMap((operation) => cookies.map((cookie) => ({ ...operation, cookie })));
      const problems = await all(requests, async ({ name, method, path, changes, cookie }) => {
        const all = { ...(changes ? JSON_TYPE : {}), ...cookie };
        const { status } = await browser.send(method, path, all, changes ? "{}" : undefined);
        return status === 401 ? [] : [`${name} without a session was answered with ${status}`];
      });
      browser.close();
      return problems;
    },
  },
  {
    name: "pages of other websites cannot use the proxy paths, nor read the connector API",
    async run(program) {
      const browser = new Browser(program);
      const paths = [
        `/connector/${program.site}/chat/config`,
        "/api/connector/v1/chat/config",
        `${ADMIN}/sites`,
        "/console/",
        "/livez",
      ];
      const requests = paths.flatMap((path) =>
        ["GET", "OPTIONS", "POST"].flatMap((method) =>
          ["https://evil.example", "null", "https://shop.example.evil.example", "http://shop.example"].map(
            (origin) => ({ path, method, origin }),
          ),
        ),
      );
      const problems = await all(requests, async ({ path, method, origin }) => {
        const headers = { Origin: origin, "Access-Control-Request-Method": "POST", Cookie: program.cookie };
        const response = await browser.send(method, path, headers);
        const shared = Object.keys(response.headers).filter((name) => name.startsWith("access-control-"));
        return shared.length === 0 ? [] : [`${method} ${path} from ${origin} was answered with ${shared}`];
      });
      browser.close();
      return problems;
    },
  },
];
