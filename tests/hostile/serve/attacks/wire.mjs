// The hostile visitor of the proxies, aimed at a server that answers by itself: at the proxy paths of a site, at the
// connector API with its token, and at the admin API with its owner's session.

import { bodies } from "../../attacks/bodies.mjs";
import { framing } from "../../attacks/framing.mjs";
import { headersUp } from "../../attacks/headers-up.mjs";
import { methods } from "../../attacks/methods.mjs";
import { paths } from "../../attacks/paths.mjs";
import { get } from "../../client.mjs";
import { ADMIN, API } from "../program.mjs";

/** The targets: how each names the paths of the lists, and what it adds to a head. */
export const TARGETS = {
  "/connector": { path: ({ site }, path) => `/connector/${site}${path}` },
  "connector API": {
    path: (_, path) => `${API}${path}`,
    head: ({ token }) => `Authorization: Bearer ${token}`,
    unless: /^authorization:/im,
  },
  "admin API": {
    path({ site }, path) {
      if (path.startsWith("/events")) return `${ADMIN}/sites/${site}/answers${path.slice("/events".length)}`;
      if (path.startsWith("/chat/messages")) return `${ADMIN}/sites${path.slice("/chat/messages".length)}`;
      return `${ADMIN}${path.replace("/chat/", "/sites/")}`;
    },
    head: ({ cookie }) => `Cookie: ${cookie}`,
    unless: /^cookie:/im,
  },
};

/** Returns an attack's bytes with their paths, host and credentials replaced by those of a target. */
function aimed(bytes, program, { path, head, unless = /$^/ }) {
  const own = `Host: 127.0.0.1:${program.port}\r\n`;
  const text = bytes
    .toString("latin1")
    .replace(/(?<!\/api)\/connector(\/[^ \r\n]*)/g, (_, rest) => path(program, rest))
    .replaceAll(
      "Host: shop.example\r\n",
      head && !unless.test(bytes.toString("latin1")) ? `${own}${head(program)}\r\n` : own,
    );
  return Buffer.from(text, "latin1");
}

/** Attacks that need a hostile service, or that test what a proxy forwards, have nothing to test here. */
const applies = (attack) => !attack.run && !attack.answer;

/** Bounds of requests that are unclear: the connection ends, so that nothing behind them is taken for a request. */
const UNCLEAR =
  /^(two Content-Lengths|Content-Length: |Content-Length and|Transfer-Encoding: |a space before|a chunk )/;
/** Clear, although they look odd: the server may go on. */
const CLEAR = /^(Transfer-Encoding: "(CHUNKED|chunked, chunked)"|Content-Length: "(\+2|2\\t2| )")/;

/** The sizes that a target accepts differ from those of the five calls. */
const SIZED = /events of 256 KiB|200 KiB|64 KiB/;

function judgedHere(attack, group, target) {
  const { refused, never, status, check, arrives: _, ...rest } = attack;
  const here = { ...rest, isHead: attack.bytes?.subarray?.(0, 5).toString() === "HEAD " };
  // The lists name the statuses of a benign service, which has no rules for bodies.
  if (status === 413 && target !== "admin API") here.status = 413;
  if ((refused || never) && !(target === "admin API" && SIZED.test(attack.name)) && group !== "methods")
    here.refused = true;
  if (group === "framing" && UNCLEAR.test(attack.name))
    Object.assign(here, { whole: 2, most: 1, mayWait: true, timeoutMs: 250 });
  if (group === "framing" && UNCLEAR.test(attack.name) && !CLEAR.test(attack.name)) here.check = closed;
  // The root leads to the console.
  if (/^GET (\/|\/#\/.*)$/.test(attack.name))
    Object.assign(here, { status: 307, headers: { location: (value) => value === "/console/" } });
  if (check && /4 MiB followed/.test(attack.name)) here.check = check;
  return here;
}

/** Returns the problem of a connection that is kept after a request whose end is unclear. */
const closed = (result) =>
  result.closed || result.answers.length === 0 ? [] : ["the connection is kept after a request whose end is unclear"];

const GROUPS = { paths, methods, framing, headers: headersUp, bodies };

/** Returns all attacks of the lists on a target. */
export function wire(name, program) {
  const target = TARGETS[name];
  return Object.entries(GROUPS).flatMap(([group, attacks]) =>
    attacks.filter(applies).map((attack) => {
      const bytes =
        typeof attack.bytes === "function" ? attack.bytes({ elsewhere: "http://evil.example" }) : attack.bytes;
      const given = bytes === "post" || bytes === undefined ? get("/connector/chat/presence") : bytes;
      return {
        ...judgedHere(attack, group, name),
        name: `${group}: ${attack.name}`,
        bytes: aimed(given, program, target),
      };
    }),
  );
}
