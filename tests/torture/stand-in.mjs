// A service in memory that keeps the contract, or breaks one promise on purpose, so that each check has a case that trips it.

import { createServer } from "node:http";
import { once } from "node:events";

/** The promises that a stand-in can break, each with the problem that the checks must report. */
export const FAULTS = {
  loseMessage: "an acknowledged message is missing",
  doubleMessage: "an acknowledged message is stored twice",
  doubleReply: "a message has two replies",
  loseReply: "an acknowledged reply is missing",
  reorder: "messages are out of order",
  changeText: "an acknowledged message has another text",
  hideShown: "a message that was shown is missing",
  forgetKey: "two responses to one key differ",
  loseBatch: "an acknowledged batch is missing",
  doubleBatch: "a batch is stored twice",
  divideBatch: "a batch is stored in part",
  loseItem: "a page is stored in part",
  doubleJob: "an item has two jobs",
  loseJob: "an item has no job",
  claimTwice: "a job was handed out twice",
  completeTwice: "a job was completed twice",
  forgetCompletion: "a completed job has another status",
  changeResult: "a job has another result than was reported",
  invent: "a message is stored that nobody sent",
  refuse: "refused with 400",
};

/** Every so many requests, a fault strikes. */
const EVERY = 7;

export class StandIn {
  messages = [];
  events = [];
  items = [];
  jobs = [];
  #answers = new Map();
  #shown = new Set();
  #numbers = 0;
  #chances = 0;

  constructor(fault) {
    this.fault = fault;
  }

  async start() {
    this.server = createServer(async (request, response) => {
      let body = "";
      for await (const part of request) body += part;
      const { status = 200, data, error } = this.#respond(request, body);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ ok: status === 200, data, error, requestId: "req" }));
    }).listen(0, "127.0.0.1");
    await once(this.server, "listening");
    return `http://127.0.0.1:${this.server.address().port}`;
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** Returns what the checks compare, as `readDatabase` does. */
  read() {
    const messages = [...this.messages];
    if (this.fault === "invent")
      messages.push({ conversation: "conv", role: "visitor", content: "Nobody wrote this." });
    return { messages, events: this.events, items: this.items, jobs: this.jobs };
  }

  #strikes(fault) {
    return this.fault === fault && (this.#chances += 1) % EVERY === 0;
  }

  #id(kind) {
    return `${kind}_${(this.#numbers += 1)}`;
  }

  #respond(request, body) {
    const url = new URL(request.url, "http://stand-in");
    const path = url.pathname.replace("/api/connector/v1", "");
    if (request.method === "GET") return this.#history(url.searchParams);
    const key = request.headers["idempotency-key"];
    const known = this.#answers.get(key);
    if (known && this.fault !== "forgetKey") return known;
    const answer = this.#change(path, JSON.parse(body));
    if (answer.status === undefined) this.#answers.set(key, answer);
    return answer;
  }

  #change(path, body) {
    if (this.#strikes("refuse")) return { status: 400, error: { code: "INVALID_REQUEST" } };
    if (path === "/chat/messages") return { data: this.#send(body) };
    if (path === "/events") return { data: this.#report(body.events) };
    if (path === "/content/sync") return { data: this.#sync(body.items) };
    if (path === "/site/jobs/next") return { data: { job: this.#claim() } };
    return this.#complete(path.split("/")[3], body);
  }

  #history(query) {
    const conversation = query.get("conversationId");
    let all = this.messages.filter((message) => message.conversation === conversation);
    const after = query.get("after");
    if (this.fault === "hideShown" && !after) all = all.filter(({ id }) => !this.#shown.has(id));
    const from = all.findIndex(({ id }) => id === after) + 1;
    const messages = all.slice(from);
    if (after) for (const { id } of messages) this.#shown.add(id);
    return { data: { conversationId: conversation, messages, nextAfter: all.at(-1)?.id ?? after } };
  }

  #send({ conversationId, message }) {
    const conversation = conversationId ?? this.#id("conv");
    const content = this.#strikes("changeText") ? `${message} ` : message;
    const written = { conversation, id: this.#id("msg"), role: "visitor", content };
    const reply = { conversation, id: this.#id("msg"), role: "assistant", content: "Yes." };
    const added = [written, reply];
    if (this.#strikes("loseMessage")) added.shift();
    if (this.#strikes("doubleMessage")) added.unshift({ ...written, id: this.#id("msg") });
    if (this.#strikes("doubleReply")) added.push({ ...reply, id: this.#id("msg") });
    if (this.#strikes("loseReply")) added.pop();
    const first = this.messages.findIndex((other) => other.conversation === conversation);
    if (first >= 0 && this.#strikes("reorder")) this.messages.splice(first, 0, ...added);
    else this.messages.push(...added);
    return { conversationId: conversation, userMessageId: written.id, message: reply };
  }

  #report(events) {
    const stored = events.map(({ eventData }) => eventData);
    if (this.#strikes("loseBatch")) stored.length = 0;
    if (this.#strikes("doubleBatch")) stored.push(...stored);
    if (stored.length > 1 && this.#strikes("divideBatch")) stored.pop();
    this.events.push(...stored);
    return { accepted: events.length, rejected: 0 };
  }

  #sync(items) {
    const stored = [...items];
    if (stored.length > 1 && this.#strikes("loseItem")) stored.pop();
    for (const { externalId, path } of stored) {
      this.items.push(externalId);
      const job = () => ({ id: this.#id("job"), status: "pending", attempts: 0, path });
      if (this.#strikes("loseJob")) continue;
      this.jobs.push(job());
      if (this.#strikes("doubleJob")) this.jobs.push(job());
    }
    return { accepted: items.length, rejected: 0 };
  }

  #claim() {
    const again =
      this.fault === "claimTwice" && this.jobs.find(({ status, attempts }) => status === "running" && attempts < 2);
    const job = again || this.jobs.find(({ status }) => status === "pending");
    if (!job) return null;
    Object.assign(job, { status: "running", attempts: job.attempts + 1, claimToken: this.#id("claim") });
    const leaseUntil = new Date(Date.now() + 60_000).toISOString();
    return { id: job.id, claimToken: job.claimToken, leaseUntil, payload: { path: job.path } };
  }

  #complete(id, { claimToken, result }) {
    const job = this.jobs.find((one) => one.id === id);
    const isHeld = job.status === "running" && job.claimToken === claimToken;
    if (!isHeld && this.fault !== "completeTwice" && this.fault !== "claimTwice") {
      return { status: 409, error: { code: "RESOURCE_CONFLICT" } };
    }
    job.run = this.#strikes("changeResult") ? "another" : result.message;
    if (!this.#strikes("forgetCompletion")) job.status = "succeeded";
    else job.status = "failed";
    return { data: { job: { id, status: "succeeded" } } };
  }
}
