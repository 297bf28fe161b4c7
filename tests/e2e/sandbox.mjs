// The control of the sandbox behind the proxy: its faults, the requests that arrived, and its operator.

import assert from "node:assert/strict";

/** The sandbox's initial config. */
export const WELCOME = "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops.";

export class Sandbox {
  #address;

  constructor(address) {
    this.#address = address;
  }

  /** The page on which an operator answers. */
  get console() {
    return `${this.#address}/operator`;
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

  /** Nothing is known, nothing goes wrong, nobody is there. */
  async reset() {
    await Promise.all([this.calm(), this.operatorOnline(false), this.forget(), this.#call("DELETE", "site")]);
  }

  /** From now on this goes wrong, and nothing else. */
  trouble(trouble) {
    return this.#call("PUT", "trouble", trouble);
  }

  /** Nothing goes wrong any more. */
  calm() {
    return this.#call("DELETE", "trouble");
  }

  /** As if nobody had ever written. */
  forget() {
    return this.#call("DELETE", "conversations");
  }

  operatorOnline(online) {
    return this.#call("PUT", "operator/online", { online });
  }

  /** An operator writes in the only conversation. */
  async operatorSays(content) {
    const { id } = await this.conversation();
    return this.#call("POST", "operator", { conversationId: id, content });
  }

  async conversations() {
    return (await this.#call("GET", "conversations")).conversations;
  }

  /** The only conversation. */
  async conversation() {
    const conversations = await this.conversations();
    assert.equal(conversations.length, 1, "one conversation");
    return conversations[0];
  }

  /** The messages of the only conversation, as `role: text`. */
  async messages() {
    return (await this.conversation()).messages.map(({ role, content }) => `${role}: ${content}`);
  }

  async events() {
    return (await this.#call("GET", "conversations")).events;
  }

  /** The requests that arrived for a path, of one method: `{idempotencyKey, status}`, oldest first. */
  async arrived(method, path) {
    const { requests } = await this.#call("GET", "conversations");
    const here = requests.filter((request) => request.method === method && request.path.split("?")[0] === path);
    return here.map(({ idempotencyKey, status }) => ({ idempotencyKey, status }));
  }

  /** The attempts to send a message that arrived; every one must have a key. */
  async sends() {
    const sends = await this.arrived("POST", "/chat/messages");
    for (const { idempotencyKey } of sends) assert.match(idempotencyKey ?? "", /^chat-[\x21-\x7e]{3,155}$/);
    return sends;
  }

  /** The statuses that the attempts to send a message got. */
  async statuses() {
    return (await this.sends()).map(({ status }) => status);
  }
}
