// The service of a scene: its AI with scripted replies, and its operator.

import { once } from "node:events";
import { createServer } from "node:http";

/** The shortest polling interval that the widget accepts. */
const FAST_POLLING = { suggestedMessageIntervalMs: 1000 };

const DELIVERY =
  "We pack on weekdays, and parcels take **2 to 4 working days** within the country. Delivery costs 4.90.";
/** The AI's replies by words in a question, unless the scene has set others. */
const ANSWERS = [
  [
    /person|human|somebody/i,
    "Of course. Leave your e-mail address here, and one of us at the studio will get back to you.",
  ],
  [/@|e-mail:|phone:/i, "Thank you, I have noted that. One of us will get back to you within a working day."],
  [/deliver/i, DELIVERY],
  [/dishwasher/i, "Everything glazed is safe for the dishwasher and the microwave."],
  [/workshop/i, "We teach beginners on Saturdays from 10:00 to 13:00, six people at six wheels."],
  [/./s, "I can tell you about delivery, returns and our workshops."],
];

/** An OpenAI-compatible endpoint with scripted replies. */
export class Ai {
  #next = [];
  #gate = Promise.resolve();
  #server;
  /** Whether the scene has delayed a reply. */
  hasThought = false;

  static async start() {
    const ai = new Ai();
    ai.#server = createServer(
      (request, response) => void ai.#answer(request, response).catch(() => response.destroy()),
    );
    ai.#server.listen(0, "127.0.0.1");
    await once(ai.#server, "listening");
    return ai;
  }

  get base() {
    return `http://127.0.0.1:${this.#server.address().port}`;
  }

  async #answer(request, response) {
    let body = "";
    for await (const piece of request) body += piece;
    // The reference material stands before the question, in the same message.
    const question = JSON.parse(body).messages.at(-1).content.split("\nMessage of the visitor:\n").at(-1);
    const reply = this.#next.shift() ?? ANSWERS.find(([pattern]) => pattern.test(question))[1];
    await this.#gate;
    response.setHeader("Content-Type", "application/json");
    response.end(
      JSON.stringify({ choices: [{ finish_reason: "stop", message: { role: "assistant", content: reply } }] }),
    );
  }

  /** Sets the next replies, in this order. */
  willSay(...answers) {
    this.#next.push(...answers);
  }

  /** Delays replies until `release()`. */
  thinks() {
    let release;
    this.hasThought = true;
    this.#gate = new Promise((resolve) => (release = resolve));
    return { release };
  }

  reset() {
    this.#next = [];
    this.#gate = Promise.resolve();
    this.hasThought = false;
  }

  stop() {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** The service, with the actions that a scene needs. */
export class Service {
  #ai;
  #hurry;
  sandbox;

  constructor(sandbox, ai, hurry) {
    this.sandbox = sandbox;
    this.#ai = ai;
    this.#hurry = hurry;
  }

  willSay(...answers) {
    this.#ai.willSay(...answers);
  }

  /** Makes the AI compose until `release()`, long after the visitor's message has arrived. */
  thinks() {
    return this.#ai.thinks();
  }

  /** Replaces the faults of the service. */
  fails(faults) {
    return this.sandbox.setFaults({ ...faults, presence: { ...FAST_POLLING, ...faults.presence } });
  }

  /** Removes all faults. */
  async isFine() {
    this.#hurry();
    await this.sandbox.setFaults({ presence: FAST_POLLING });
  }
}

/** The operator. */
export class Operator {
  #sandbox;
  #hurry;

  constructor(sandbox, hurry) {
    this.#sandbox = sandbox;
    this.#hurry = hurry;
  }

  /** Sends messages to the only visitor. The page's clock runs faster until they are shown. */
  async says(...texts) {
    this.#hurry();
    for (const text of texts) await this.#sandbox.operatorSays(text);
  }

  async comes() {
    this.#hurry();
    await this.#sandbox.operatorOnline(true);
  }

  async goes() {
    this.#hurry();
    await this.#sandbox.operatorOnline(false);
  }
}
