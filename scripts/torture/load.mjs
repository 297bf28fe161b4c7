// The load of a torture run: visitors who write and report events, a site that syncs content and executes its jobs.

import { numbers } from "../../tests/unit/random.mjs";
import { Client } from "./client.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The share of failed attempts after which a visitor leaves the page, and nobody repeats the request. */
const GIVE_UP = 0.05;
const MAX_MESSAGES_OF_A_CONVERSATION = 12;
const MAX_EVENTS_OF_A_BATCH = 8;
const MAX_ITEMS_OF_A_PAGE = 4;

/** Clients that load a service until they are stopped. */
export class Load {
  #stopping = false;
  #clients = [];
  #running = [];

  constructor({ urls, token, seed, ledger, visitors = 16, workers = 2, thinkMs = 20 }) {
    Object.assign(this, { urls, token, seed, ledger, thinkMs });
    for (let number = 0; number < visitors; number += 1) this.#run(number, (self) => this.#visit(self));
    for (let number = 0; number < workers; number += 1) this.#run(1000 + number, (self) => this.#work(self));
    this.#run(2000, (self) => this.#sync(self));
  }

  /** Waits until each client has finished what it has begun. */
  async stop() {
    this.#stopping = true;
    await Promise.all(this.#running);
    // What is left in the queue is claimed by one more worker.
    const last = this.#client(3000);
    while ((await this.#claimAndComplete(last)) !== null);
    this.abort();
  }

  /** Ends the load at once. */
  abort() {
    this.#stopping = true;
    for (const { client } of this.#clients) client.close();
  }

  #client(number) {
    const { urls, token, seed, ledger } = this;
    const random = numbers(seed * 7919 + number);
    const address = `10.${(number >> 8) & 255}.${number & 255}.${1 + (seed % 250)}`;
    const self = {
      name: `${seed}-${number}`,
      random,
      client: new Client({ urls, token, address, random, ledger }),
      next: 0,
    };
    this.#clients.push(self);
    return self;
  }

  #run(number, work) {
    const self = this.#client(number);
    this.#running.push(
      (async () => {
        while (!this.#stopping) {
          await work(self);
          await pause(self.random() * this.thinkMs);
        }
      })(),
    );
  }

  /** Writes a message, reports events, or reads what is new. */
  async #visit(self) {
    const choice = self.random();
    if (choice < 0.5) await this.#write(self);
    else if (choice < 0.75) await this.#report(self);
    else if (self.conversation) await this.#read(self);
  }

  async #write(self) {
    if (self.left === 0) Object.assign(self, { conversation: null, cursor: null });
    self.left = (self.left || 1 + Math.floor(self.random() * MAX_MESSAGES_OF_A_CONVERSATION)) - 1;
    const number = (self.next += 1);
    const message = this.ledger.message(`What about order ${self.name}-${number}?`);
    const visitor = { visitorId: `visitor-${self.name}` };
    const body = { conversationId: self.conversation ?? null, message: message.text, locale: "en", visitor };
    const key = `chat-visitor-${self.name}-${number}`;
    message.acknowledged = await self.client.post("/chat/messages", key, body, { giveUp: GIVE_UP });
    self.conversation = message.acknowledged?.conversationId ?? self.conversation;
  }

  async #report(self) {
    const size = 1 + Math.floor(self.random() * MAX_EVENTS_OF_A_BATCH);
    const batch = this.ledger.batch(`batch-${self.name}-${(self.next += 1)}`, size);
    const events = Array.from({ length: size }, (_, index) => ({
      eventType: "page_view",
      visitorId: `visitor-${self.name}`,
      path: `/page-${index}`,
      eventData: { batch: batch.name, index },
    }));
    batch.acknowledged = await self.client.post("/events", `events-${batch.name}`, { events }, { giveUp: GIVE_UP });
  }

  async #read(self) {
    const { conversation } = self;
    const after = self.cursor ? `&after=${encodeURIComponent(self.cursor)}` : "";
    const data = await self.client.get(`/chat/messages?conversationId=${encodeURIComponent(conversation)}${after}`);
    if (!data) return;
    this.ledger.poll(
      conversation,
      data.messages.map(({ id }) => id),
    ); // prettier-ignore
    self.cursor = data.nextAfter ?? self.cursor;
  }

  async #sync(self) {
    const size = 1 + Math.floor(self.random() * MAX_ITEMS_OF_A_PAGE);
    const page = this.ledger.page(`page-${self.name}-${(self.next += 1)}`, size);
    const items = Array.from({ length: size }, (_, index) => ({
      externalId: `${page.name}-${index}`,
      type: "page",
      path: `/${page.name}/${index}`,
      title: `Page ${index}`,
      content: `<p>The text of ${page.name}.</p>`,
      data: { head: { title: `Page ${index}`, description: `The description of ${page.name}.` } },
    }));
    const body = { snapshotId: page.name, page: 1, items };
    page.acknowledged = await self.client.post("/content/sync", `content-sync-${page.name}-1`, body);
    await pause(5 * this.thinkMs);
  }

  async #work(self) {
    if ((await this.#claimAndComplete(self)) === null) await pause(50);
  }

  /** Claims a job and reports it. Returns null when none waits. */
  async #claimAndComplete(self) {
    const run = `${self.name}-${(self.next += 1)}`;
    const data = await self.client.post("/site/jobs/next", `job-next-${run}`, {});
    const job = data?.job ?? null;
    if (!job) return null;
    const claim = { job, expired: false };
    this.ledger.claims.push(claim);
    const body = { ok: true, claimToken: job.claimToken, result: { message: `run ${run}`, path: job.payload.path } };
    const completion = { id: job.id, run: `run ${run}`, acknowledged: null };
    this.ledger.completions.push(completion);
    const path = `/site/jobs/${job.id}/complete`;
    completion.acknowledged = await self.client.post(path, `job-complete-${job.id}-${job.claimToken}`, body);
    claim.expired = Date.parse(job.leaseUntil) < Date.now();
    if (self.random() < 0.1) {
      // A second report under another key is not a retry.
      const again = await self.client.post(path, `job-again-${job.id}-${job.claimToken}`, body, { expect: 409 });
      if (again && again.status !== 409) this.ledger.completions.push({ ...completion, acknowledged: again });
    }
    return job;
  }
}
