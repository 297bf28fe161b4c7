// The control of the sandbox behind the proxy: its faults, the requests that arrived, and its operator.

import assert from "node:assert/strict";

/** The shortest polling intervals that the widget accepts, as faults. */
export const FAST_POLLING = { presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } };
/** The sandbox's initial config. */
export const WELCOME = "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops.";

export class Sandbox {
  #address;

  constructor(address) {
    this.#address = address;
  }

  async #call(method, path, body) {
    const response = await fetch(`${this.#address}/sandbox/${path}`, {
      method,
      headers: { "Content-Type": "application/json" },
      body: body && JSON.stringify(body),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${response.ok ? "" : await response.text()}`);
    return response.status === 204 ? undefined : response.json();
  }

  /** Deletes all data and faults, and takes the operator offline. */
  async reset() {
    await Promise.all([
      this.clearFaults(),
      this.operatorOnline(false),
      this.deleteConversations(),
      this.#call("DELETE", "site"),
    ]);
  }

  /** Replaces the faults of the service. */
  setFaults(faults) {
    return this.#call("PUT", "trouble", faults);
  }

  /** Removes all faults. */
  clearFaults() {
    return this.#call("DELETE", "trouble");
  }

  /** Deletes all conversations. */
  deleteConversations() {
    return this.#call("DELETE", "conversations");
  }

  operatorOnline(online) {
    return this.#call("PUT", "operator/online", { online });
  }

  /** Sends an operator's message to the only conversation. */
  async operatorSays(content) {
    const { id } = await this.conversation();
    return this.#call("POST", "operator", { conversationId: id, content });
  }

  async conversations() {
    return (await this.#call("GET", "conversations")).conversations;
  }

  /** Returns the only conversation. */
  async conversation() {
    const conversations = await this.conversations();
    assert.equal(conversations.length, 1, "one conversation");
    return conversations[0];
  }

  /** Returns the messages of the only conversation, each as `role: text`. */
  async messages() {
    return (await this.conversation()).messages.map(({ role, content }) => `${role}: ${content}`);
  }

  async events() {
    return (await this.#call("GET", "conversations")).events;
  }

  /** Returns the requests of a method that arrived for a path: `{idempotencyKey, status}`, oldest first. */
  async arrived(method, path) {
    const { requests } = await this.#call("GET", "conversations");
    const here = requests.filter((request) => request.method === method && request.path.split("?")[0] === path);
    return here.map(({ idempotencyKey, status }) => ({ idempotencyKey, status }));
  }

  /** Returns the attempts to send a message that arrived; asserts that each has a key. */
  async sends() {
    const sends = await this.arrived("POST", "/chat/messages");
    for (const { idempotencyKey } of sends) assert.match(idempotencyKey ?? "", /^chat-[\x21-\x7e]{3,155}$/);
    return sends;
  }

  /** Returns the statuses of the attempts to send a message. */
  async statuses() {
    return (await this.sends()).map(({ status }) => status);
  }
}
