// Judges the responses of a server that answers by itself: status, envelope, headers, and nothing that it must not tell.

import { folder } from "../../../scripts/servers.mjs";
import { root } from "../../../scripts/setup.mjs";
import { CANARIES } from "./program.mjs";

/** Maximum growth of memory by one attack. */
export const MEMORY_LIMIT = 64 * 1024 * 1024;
/** Maximum characters of an error's message. It may name a field, but not repeat a body. */
const MAX_MESSAGE_LENGTH = 500;

const STATUSES = [200, 204, 304, 400, 401, 403, 404, 405, 408, 409, 411, 413, 414, 415, 417, 429, 431, 501, 505];

/** Allowed headers of a response, and checks of their values. */
const RETURNED = {
  "content-type": (value) => /^(application\/json|text\/(plain|html|css|javascript)|image\/svg\+xml)(;|$)/.test(value),
  "content-length": (value) => /^\d+$/.test(value),
  "transfer-encoding": (value) => value === "chunked",
  date: () => true,
  connection: (value) => value === "close",
  allow: (value) => /^[A-Z, ]+$/.test(value),
  "retry-after": (value) => Number(value) >= 1 && Number(value) <= 3600,
  "x-request-id": (value) => /^req_[0-9a-f]{32}$/.test(value),
  "x-service-api-version": (value) => value === "1",
  "x-ratelimit-limit": (value) => /^\d+$/.test(value),
  "x-ratelimit-remaining": (value) => /^\d+$/.test(value),
  "x-ratelimit-reset": (value) => /^\d+$/.test(value),
  vary: (value) => /^(origin|accept-encoding)$/.test(value),
  "cache-control": (value) => /^no-(store|cache)$/.test(value),
  "x-content-type-options": (value) => value === "nosniff",
  "content-security-policy": (value) => value.startsWith("default-src 'none'; "),
  "referrer-policy": (value) => value === "no-referrer",
  "cross-origin-resource-policy": (value) => value === "same-origin",
  "x-frame-options": (value) => value === "DENY",
};
const NEEDED = ["cache-control", "x-content-type-options", "content-security-policy", "referrer-policy"];

/** Parts of the program and its machine that no response may show. */
const INSIDE = [
  folder,
  root.replace(/\/$/, ""),
  "/tmp/",
  ".rs:",
  ".cargo",
  "panicked",
  "backtrace",
  "root:x:0",
  "SELECT ",
  "INSERT ",
  "UPDATE ",
  "sqlite",
  "SQLITE",
  "sqlx",
  "constraint failed",
  "service.db",
  "service.key",
  "argon2",
];

const short = (value) => (value.length > 80 ? `${value.slice(0, 80)}…` : value);

/** Returns whether the HTTP library answered, before any application: without a body, and closing the connection. */
const isBare = ({ headers, body }) =>
  body.length === 0 && headers.every(([name]) => ["connection", "content-length", "date"].includes(name));

/** Returns the problems of a response in its envelope. */
function envelope({ status, headers, body }) {
  const of = (name) => headers.find(([one]) => one === name)?.[1];
  if (!/^application\/json/.test(of("content-type") ?? "")) {
    return status >= 400 ? [`the error is no envelope: ${status} ${of("content-type")} ${short(String(body))}`] : [];
  }
  let json;
  try {
    json = JSON.parse(String(body));
  } catch {
    return [`the body is not JSON: ${short(String(body))}`];
  }
  if (json.openapi) return [];
  const problems = [];
  if (json.ok !== status < 400) problems.push(`ok is ${json.ok} with the status ${status}`);
  if (json.requestId !== of("x-request-id")) problems.push("the request ids of head and body differ");
  if (status < 400) return problems;
  const { code, message } = json.error ?? {};
  if (!/^[A-Z_]+$/.test(code ?? "")) problems.push(`the error's code is ${code}`);
  if (!message || message.length > MAX_MESSAGE_LENGTH)
    problems.push(`the error's message has ${message?.length} characters`);
  return problems;
}

/** Returns the problems of one final response. */
function response(answer, attack, text) {
  const { status, headers, body } = answer;
  const problems = [];
  const allowed = attack.status === undefined ? STATUSES : [attack.status].flat();
  if (!allowed.includes(status)) problems.push(`the status is ${status} ${short(String(body))}`);
  if (isBare(answer)) {
    const closes = headers.some(([name, value]) => name === "connection" && value === "close");
    const isLeft = status >= 400 && !closes;
    return isLeft ? [...problems, `${status} without a body leaves the connection open`] : problems;
  }
  const names = headers.map(([name]) => name);
  for (const [name, value] of headers) {
    const check = attack.headers?.[name] ?? RETURNED[name];
    if (!check?.(value)) problems.push(`unexpected header: ${name}: ${short(value)}`);
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice && twice !== "set-cookie") problems.push(`duplicate header: ${twice}`);
  for (const name of NEEDED) if (!names.includes(name)) problems.push(`${status}: the header ${name} is missing`);
  if (!attack.isHead) problems.push(...(attack.isPlain ? [] : envelope(answer)));
  const head = JSON.stringify(headers);
  for (const canary of CANARIES) if (head.includes(canary)) problems.push(`the head repeats ${canary}`);
  for (const place of INSIDE) if (text.includes(place)) problems.push(`the response contains ${JSON.stringify(place)}`);
  return problems;
}

/** Returns the problems of an exchange. `secrets` may be in no response. */
export function judged(attack, result, secrets) {
  const problems = [];
  const text = result.raw.toString("latin1");
  for (const secret of secrets) if (text.includes(secret)) problems.push("the response contains a secret");
  if (result.timedOut && !attack.mayWait) problems.push(`no complete response within ${result.ms} ms`);
  const final = [];
  for (const answer of result.answers) {
    if (answer.junk) {
      if (!attack.old) problems.push(`the response is not HTTP: ${short(answer.junk.toString("latin1", 0, 80))}`);
    } else if (answer.status >= 200) final.push(answer);
    else if (answer.status !== 100) problems.push(`unexpected response: ${answer.line}`);
  }
  const most = attack.most ?? attack.whole ?? 1;
  if (final.length > most) problems.push(`${final.length} responses to one request`);
  if (attack.refused && final[0]?.status < 400) problems.push(`the request was accepted: ${final[0].status}`);
  if (attack.within && result.ms > attack.within) problems.push(`the response took ${result.ms} ms`);
  for (const answer of final) problems.push(...response(answer, attack, text));
  return [...problems, ...(attack.check?.(result) ?? [])];
}
