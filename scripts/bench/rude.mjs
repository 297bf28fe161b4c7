// A tenant that uses the service as much as it can, in a thread of its own: the attacks of `npm run bench:fair`.

import { createECDH, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, request } from "node:http";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";

/** Requests at a time of a flood. */
const FLOOD = 32;
/** Readers of one agent. */
const READERS = 8;
/** The addresses of a flood that have called before the measurement begins: twice as many as a service has places. */
const ADDRESSES = 200_000;

const { name, url, token, site, cookie, email } = workerData;
const agent = new Agent({ keepAlive: true });
// An attacker has a machine of its own: here, it gets the time of the processors that nobody else needs.
setPriority(19);
let sent = 0;
/** The number of responses by their status. */
const statuses = {};
/** The events that were stored, those that were rejected, and the batches for which there were no bytes left. */
const events = { accepted: 0, rejected: 0, refusedForBytes: 0 };
let stopped = false;
parentPort.once("message", () => (stopped = true));

/** Counts the events of a response. One that was cut off counts as nothing stored. */
function countEvents({ statusCode, headers, complete }, body) {
  // Of the limit of requests, nothing is left when that is what refused one.
  const isForBytes = statusCode === 429 && Number(headers["x-ratelimit-remaining"]) > 0;
  if (isForBytes || statusCode === 402 || statusCode === 507) events.refusedForBytes += 1;
  if (statusCode !== 200 || !complete) return;
  const { accepted, rejected } = JSON.parse(body).data;
  events.accepted += accepted;
  events.rejected += rejected;
}

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
    const done = (status) => {
      statuses[status] = (statuses[status] ?? 0) + 1;
      resolve();
    };
    const read = (response) => {
      if (name !== "events") return response.resume().once("close", () => done(response.statusCode));
      const chunks = [];
      return response
        .on("data", (chunk) => chunks.push(chunk))
        .once("close", () => {
          countEvents(response, Buffer.concat(chunks));
          done(response.statusCode);
        });
    };
    sending.once("response", read).once("error", () => done("broken"));
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
  // Every message has this word.
  () => admin("GET", "/conversations?view=all&q=celadon&limit=200"),
  () => admin("GET", "/report?from=2026-01-01&to=2026-12-31"),
  () => admin("POST", `/sites/${site}/privacy/search`, { email: "nobody@shop.example" }),
  () => admin("GET", "/questions/unanswered"),
];
const unique = () => crypto.randomUUID();
const group = (number) => (number & 0xffff).toString(16);
/** Returns the next address of one /48. */
const owned = () => `2001:db8:1:${group(sent)}::1`;
/** Returns an address that has not called before, as only somebody with a token can say. */
const invented = () => `2001:db8:${group(sent)}:${group(sent >> 16)}::1`;
const text = (length) => "x".repeat(length);
/** Returns an event of a new visitor with nearly as much as is stored of one. */
const event = () => ({
  eventType: "page_view",
  visitorId: unique(),
  path: `/${text(499)}`,
  url: `https://rude.example/${text(900)}`,
  title: text(300),
  eventData: { text: text(1900) },
});
const batch = () => ({ events: Array.from({ length: 15 }, event) });
const forwarded = (client) => ({ "X-Forwarded-For": client });

/** The requests of a flood: half of them with the token, and the others of pages of no site, and for no path of one. */
const CALLS = [
  () => connector("GET", "/chat/presence", undefined, forwarded(invented())),
  () => send("GET", `/connector/site_${sent}/chat/presence`, { headers: forwarded(owned()) }),
  () => connector("GET", "/chat/presence", undefined, forwarded(invented())),
  () => send("GET", `/connector/${site}/x/${sent}`, { headers: forwarded(owned()) }),
];

/** Sends the pushes of the tenant's operator to a server that counts them. */
async function subscribe() {
  let pushes = 0;
  const phone = createServer((asked, response) => {
    pushes += 1;
    asked.resume();
    response.writeHead(201).end();
  }).listen(0, "127.0.0.1");
  await once(phone, "listening");
  const keys = createECDH("prime256v1");
  keys.generateKeys();
  await admin("POST", "/push/devices", {
    endpoint: `http://127.0.0.1:${phone.address().port}/send`,
    p256dh: keys.getPublicKey("base64url"),
    auth: randomBytes(16).toString("base64url"),
  });
  return () => {
    phone.close();
    phone.closeAllConnections();
    return pushes;
  };
}

/** The attacks, by the name that `npm run bench:fair` gives them: how many at a time, one request, and how many before. */
const ATTACKS = {
  addresses: [FLOOD, () => CALLS[sent % CALLS.length](), ADDRESSES],
  // By turns from one network, whose bytes end, and from any number of others, which have those of the site.
  events: [
    READERS,
    () => {
      const client = sent % 2 === 0 ? owned() : invented();
      return connector("POST", "/events", batch(), { "Idempotency-Key": unique(), ...forwarded(client) });
    },
  ],
  readers: [READERS, (number) => READS[number % READS.length]()],
  logins: [
    FLOOD,
    () =>
      send("POST", "/api/admin/v1/session", {
        body: { email: sent % 2 === 0 ? email : `${unique()}@shop.example`, password: unique() },
        headers: { Origin: url, "Sec-Fetch-Site": "same-origin", ...forwarded(owned()) },
      }),
  ],
  pushes: [
    READERS,
    () => connector("POST", "/chat/messages", { message: "Can I talk to a real person?" }, forwarded(invented())),
  ],
};

const [count, attack, before = 0] = ATTACKS[name];
const pushes = name === "pushes" ? await subscribe() : () => undefined;
const attacking = Promise.all(
  Array.from({ length: count }, async (_, number) => {
    while (!stopped) await attack(number);
  }),
);
while (sent < before) await new Promise((resolve) => setTimeout(resolve, 100));
parentPort.postMessage("begun");
await attacking;
agent.destroy();
parentPort.postMessage({ sent, statuses, pushes: pushes(), events: name === "events" ? events : undefined });
