// A tenant that uses the service as much as it can, in a thread of its own: the attacks of `npm run bench:fair`.

import { Agent, request } from "node:http";
import { parentPort, workerData } from "node:worker_threads";

/** Requests at a time of a flood. */
const FLOOD = 32;
/** Readers of one agent. */
const READERS = 8;

const { name, url, token, site, cookie } = workerData;
const agent = new Agent({ keepAlive: true });
let sent = 0;
let stopped = false;
parentPort.once("message", () => (stopped = true));

/** Sends a request, and resolves when its response was read; a broken connection counts as well. */
function send(method, path, { body, headers }) {
  sent += 1;
  return new Promise((resolve) => {
    const text = body === undefined ? "" : JSON.stringify(body);
    const sending = request(new URL(path, url), {
      agent,
      method,
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text), ...headers },
    });
    sending.once("response", (response) => response.resume().once("close", resolve)).once("error", resolve);
    sending.end(text);
  });
}

const connector = (method, path, body, headers) =>
  send(method, `/api/connector/v1${path}`, { body, headers: { Authorization: `Bearer ${token}`, ...headers } });
const admin = (method, path, body) =>
  send(method, `/api/admin/v1${path}`, {
    body,
    headers: { Cookie: cookie, Origin: url, "Sec-Fetch-Site": "same-origin" },
  });

const READS = [
  () => admin("GET", "/conversations?view=all&q=nobody%20wrote%20this"),
  () => admin("GET", "/conversations?view=all&q=a&limit=200"),
  () => admin("GET", "/report?from=2026-01-01&to=2026-12-31"),
  () => admin("POST", `/sites/${site}/privacy/search`, { email: "nobody@shop.example" }),
];
const unique = () => crypto.randomUUID();
const event = () => ({ eventType: "page_view", visitorId: unique(), eventData: { text: "x".repeat(15_000) } });

/** The attacks, by the name that `npm run bench:fair` gives them: how many at a time, and one request. */
const ATTACKS = {
  addresses: [
    FLOOD,
    () => {
      const address = `2001:db8:${(sent & 0xffff).toString(16)}:${((sent >> 16) & 0xffff).toString(16)}::1`;
      return connector("GET", "/chat/presence", undefined, { "X-Forwarded-For": address });
    },
  ],
  events: [
    READERS,
    () => connector("POST", "/events", { events: Array.from({ length: 15 }, event) }, { "Idempotency-Key": unique() }),
  ],
  readers: [READERS, (number) => READS[number % READS.length]()],
  logins: [FLOOD, () => admin("POST", "/session", { email: `${unique()}@shop.example`, password: unique() })],
  pushes: [READERS, () => connector("POST", "/chat/messages", { message: "Can I talk to a real person?" })],
};

const [count, attack] = ATTACKS[name];
await Promise.all(
  Array.from({ length: count }, async (_, number) => {
    while (!stopped) await attack(number);
  }),
);
agent.destroy();
parentPort.postMessage(sent);
