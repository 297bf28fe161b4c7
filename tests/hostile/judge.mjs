// Judges the requests that reached the service and the responses that reached a visitor, by allow lists.

import { folder } from "../../scripts/servers.mjs";
import { root } from "../../scripts/setup.mjs";
import { token } from "./proxies.mjs";

const CALL =
  /^(GET \/api\/connector\/v1\/(chat\/config|chat\/messages|chat\/presence)|POST \/api\/connector\/v1\/(chat\/messages|events))(\?[^ ]*)? HTTP\/1\.[01]$/;

/** Allowed headers of a request to the service, and checks of their values. */
const FORWARDED = {
  host: (value, { host }) => value === host,
  authorization: (value) => value === `Bearer ${token}`,
  accept: (value) => value === "application/json",
  "accept-encoding": (value) => value === "identity",
  "accept-language": () => true,
  "content-type": (value) => /^application\/json(;|$)/i.test(value),
  "content-length": (value) => /^\d+$/.test(value),
  "transfer-encoding": (value) => value === "chunked",
  "idempotency-key": () => true,
  "visitor-token": () => true,
  connection: (value) => /^(keep-alive|close)$/i.test(value),
  // Node's `fetch` adds it to every request; the visitor's own value never passes.
  "sec-fetch-mode": (value) => value === "cors",
  // A server may send its own name, but not that of the visitor's browser.
  "user-agent": (value) => /^(Go-http-client\/\d\.\d|curl\/[\d.]+|site-connector\/[\d.]+)?$/.test(value),
};
const ONE_OF = ["content-length", "transfer-encoding"];
const NEEDED = ["host", "authorization", "accept", "accept-encoding"];

/** Allowed headers of a response to a visitor, and checks of their values. */
const RETURNED = {
  "content-type": (value) => /^(application\/json|text\/plain)(;|$)/i.test(value),
  "content-length": null,
  "transfer-encoding": null,
  date: null,
  connection: null,
  "keep-alive": null,
  "retry-after": null,
  "x-request-id": null,
  "x-service-api-version": null,
  "x-ratelimit-limit": null,
  "x-ratelimit-remaining": null,
  "x-ratelimit-reset": null,
  "cache-control": (value) => value === "no-store",
  "x-content-type-options": (value) => value === "nosniff",
  "content-security-policy": (value) => value.startsWith("default-src 'none'"),
  // Headers of the server itself.
  server: (value) => /^(nginx\/[\d.]+|Caddy)$/.test(value),
  "x-powered-by": (value) => value === "Express",
  "referrer-policy": (value) => value === "no-referrer",
  "cross-origin-resource-policy": (value) => value === "same-origin",
  allow: null,
  // nginx redirects from a folder's name to the folder.
  location: (value) => /^http:\/\/shop\.example:\d+\/connector\/$/.test(value),
};
/** Headers of the service that are returned unchanged, also twice. */
const LISTED = /^(retry-after|x-request-id|x-service-api-version|x-ratelimit-.*)$/;
const SECURITY_HEADERS = ["cache-control", "x-content-type-options", "content-security-policy"];

const PLACES = [
  folder,
  root.replace(/\/$/, ""),
  "/tmp/",
  "/srv/",
  ".php",
  ".mjs",
  "node_modules",
  "node:internal",
  "\n    at ",
  "&nbsp; &nbsp;at ",
  "Stack trace",
  "Traceback",
];

/** Maximum bytes of a response to a visitor: 1 MiB, heads, and the framing of chunks. */
const ANSWER_LIMIT = 1024 * 1024 + 64 * 1024;
/** Maximum bytes that a service can write before it is disconnected, including the buffers of both systems. */
const SENT_LIMIT = 24 * 1024 * 1024;
/** Maximum memory of a proxy for one attack. */
export const MEMORY_LIMIT = 64 * 1024 * 1024;

const short = (value) => (value.length > 60 ? `${value.slice(0, 60)}…` : value);

/** Returns the problems of the requests at the service. */
export function arrivals(attack, requests, host) {
  const problems = [];
  const complete = requests.filter((one) => one.complete);
  for (const { line, headers, body, value } of requests) {
    if (!CALL.test(line)) problems.push(`${JSON.stringify(short(line))} reached the service`);
    for (const [name, value] of headers) {
      if (!Object.hasOwn(FORWARDED, name) || !FORWARDED[name](value, { host }))
        problems.push(`unexpected header at the service: ${name}: ${short(value)}`);
    }
    const names = headers.map(([name]) => name);
    const twice = names.filter((name, at) => names.indexOf(name) !== at);
    if (twice.length > 0) problems.push(`duplicate header at the service: ${twice[0]}`);
    if (ONE_OF.every((name) => names.includes(name)))
      problems.push("the service got both Content-Length and Transfer-Encoding");
    for (const name of NEEDED) if (!names.includes(name)) problems.push(`missing header at the service: ${name}`);
    if (`${line}${JSON.stringify(headers)}${body}`.includes(attack.secret ?? "\0none"))
      problems.push("a visitor's secret reached the service");
    if (line.includes(token)) problems.push("the token is in the address");
    for (const [name, wanted] of Object.entries(attack.goesOn ?? {}))
      if (value(name) !== wanted) problems.push(`unexpected header at the service: ${name}: ${value(name)}`);
  }
  if ((attack.refused || attack.never) && complete.length > 0) problems.push("the request reached the service");
  if (attack.arrives !== undefined) {
    for (const { body } of complete)
      if (String(body) !== attack.arrives)
        problems.push(`a body of ${body.length} bytes arrived: ${short(String(body))}`);
    if (attack.status === 200 && complete.length !== 1) problems.push(`the request arrived ${complete.length} times`);
  }
  // A server may repeat a GET, but never a POST.
  const posted = complete.filter(({ line }) => line.startsWith("POST"));
  if (posted.length > (attack.whole ?? 1)) problems.push(`${posted.length} requests arrived`);
  return problems;
}

/** Returns the problems of the responses to the visitor. */
export function answered(attack, result, requests) {
  const problems = [];
  const { answer, raw } = result;
  const fail = (problem) => problems.push(problem);
  const text = raw.toString("latin1");
  if (text.includes(token)) fail("the response contains the token");
  for (const place of PLACES)
    if (text.includes(place) && !attack.bytes?.includes?.(place))
      fail(`the response contains ${JSON.stringify(place)}`);
  if (attack.answer && attack.secret && text.includes(attack.secret)) fail("the response contains a private file");
  if (result.timedOut && !attack.mayWait) fail(`no complete response within ${result.ms} ms`);
  for (const one of result.answers) {
    if (one.junk) {
      if (!attack.old) fail(`the response is not HTTP: ${JSON.stringify(short(one.junk.toString("latin1", 0, 80)))}`);
      continue;
    }
    if (one.status < 200 && attack.interim) {
      for (const name of ["link", "set-cookie"])
        if (one.headers.some(([text]) => text === name)) fail(`the response ${one.line} has the header ${name}`);
      continue;
    }
    if (one.status < 200 && !(one.status === 100 && attack.bytes?.includes?.("Expect: 100")))
      fail(`unexpected response: ${one.line}`);
    header(one, fail, requests.length > 0 && (!attack.most || one === answer));
  }
  const final = result.answers.filter(({ status }) => status >= 200);
  if (final.length > (attack.most ?? attack.whole ?? 1)) fail(`${final.length} responses were returned`);
  if (attack.status && ![attack.status].flat().includes(answer?.status))
    fail(`expected status ${attack.status}, got ${answer?.status ?? "no response"}`);
  if (attack.refused && answer?.status < 400) fail(`unexpected status ${answer.status}`);
  if (attack.passes === false && answer?.status < 400) fail(`unexpected status ${answer.status}`);
  if (attack.broken && answer?.status < 400 && answer.complete)
    fail("an incomplete response was returned as a complete one");
  if (attack.bounded && result.received > ANSWER_LIMIT) fail(`${result.received} bytes were returned`);
  if (attack.length && answer?.body.length !== attack.length)
    fail(`a body of ${answer?.body.length} bytes was returned`);
  if (attack.within && result.ms > attack.within) fail(`the response took ${result.ms} ms`);
  if (attack.atLeast && result.ms < attack.atLeast) fail(`the response took only ${result.ms} ms`);
  for (const [name, wanted] of Object.entries(attack.comesBack ?? {})) {
    const value = answer?.headers?.find(([one]) => one === name.toLowerCase())?.[1];
    if (value !== wanted) fail(`the header ${name} was returned as ${value}`);
  }
  return [...problems, ...(attack.check?.(result) ?? [])];
}

/** Returns the problems of the head of a response. */
function header({ status, headers, body }, fail, isCall) {
  const html = /^text\/html/i.test(headers.find(([name]) => name === "content-type")?.[1] ?? "");
  // A server's own error page is HTML without data of the service or of the visitor.
  const own = status >= 300 && html && !/<script/i.test(String(body)) && body.length < 2000;
  for (const [name, value] of headers) {
    if (own && name === "content-type") continue;
    if (!Object.hasOwn(RETURNED, name)) fail(`unexpected header: ${name}: ${short(value)}`);
    else if (RETURNED[name] && !RETURNED[name](value)) fail(`unexpected header: ${name}: ${short(value)}`);
  }
  const names = headers.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice && !LISTED.test(twice)) fail(`duplicate header: ${twice}`);
  if (status >= 200 && status < 300 && isCall) {
    for (const name of SECURITY_HEADERS) if (!headers.some(([one]) => one === name)) fail(`${name} is missing`);
  }
}

/** Returns the problems of the amount that the service could send. */
export const sent = (attack, bytes) =>
  attack.bounded && bytes > SENT_LIMIT ? [`the service sent ${bytes} bytes`] : [];
