// The service of a scene: its AI, whose answers the scene writes, and its operator.

import { once } from "node:events";
import { createServer } from "node:http";

/** The shortest polling interval that the widget accepts. */
const QUICK = { suggestedMessageIntervalMs: 1000 };

const DELIVERY =
  "We pack on weekdays, and parcels take **2 to 4 working days** within the country. Delivery costs 4.90.";
/** The AI's answers to words in a question, unless the scene has written others. */
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

/** An OpenAI-compatible endpoint with scripted answers. */
export class Ai {
  #next = [];
  #gate = Promise.resolve();
  #server;
  /** The scene has let it compose for as long as it liked. */
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
    const question = JSON.parse(body).messages.at(-1).content;
    const said = this.#next.shift() ?? ANSWERS.find(([asked]) => asked.test(question))[1];
    await this.#gate;
    response.setHeader("Content-Type", "application/json");
    response.end(
      JSON.stringify({ choices: [{ finish_reason: "stop", message: { role: "assistant", content: said } }] }),
    );
  }

  /** The next answers, in this order. */
  willSay(...answers) {
    this.#next.push(...answers);
  }

  /** From now on it thinks, until `release()`. */
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

  /** The AI composes until it is released: the visitor's message has arrived long before. */
  thinks() {
    return this.#ai.thinks();
  }

  /** From now on this goes wrong, and nothing else. */
  fails(trouble) {
    return this.sandbox.trouble({ ...trouble, presence: { ...QUICK, ...trouble.presence } });
  }

  /** Nothing goes wrong any more. */
  async isFine() {
    this.#hurry();
    await this.sandbox.trouble({ presence: QUICK });
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

  /** Writes to the only visitor. Time passes faster in the page until it is read. */
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
