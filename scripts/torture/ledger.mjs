// What the clients of a torture run sent, and what the service acknowledged.

/**
 * The record of a run. It is kept by the clients, so no crash of the service changes it.
 *
 * A message is `{ text, acknowledged }`, where `acknowledged` is the data of its response, or null. A batch of events and
 * a page of content are `{ name, size, acknowledged }`. A claim is `{ job, expired }`, a completion `{ id, acknowledged }`.
 */
export class Ledger {
  messages = [];
  batches = [];
  pages = [];
  claims = [];
  completions = [];
  /** The ids of messages that polls returned, in their order, by conversation. */
  seen = new Map();
  /** Responses that no client should get. */
  refusals = [];
  counts = { requests: 0, acknowledged: 0, retried: 0, given_up: 0, rate_limited: 0 };

  /** Records a message before it is sent. */
  message(text) {
    const message = { text, acknowledged: null };
    this.messages.push(message);
    return message;
  }

  /** Records a batch of events before it is sent. */
  batch(name, size) {
    const batch = { name, size, acknowledged: null };
    this.batches.push(batch);
    return batch;
  }

  /** Records a page of content before it is sent. */
  page(name, size) {
    const page = { name, size, acknowledged: null };
    this.pages.push(page);
    return page;
  }

  /** Records the messages that a poll returned. */
  poll(conversation, ids) {
    const seen = this.seen.get(conversation) ?? [];
    seen.push(...ids);
    this.seen.set(conversation, seen);
  }

  /** Returns the acknowledged messages of each conversation, in the order in which they were sent. */
  conversations() {
    const conversations = new Map();
    for (const message of this.messages) {
      if (!message.acknowledged) continue;
      const { conversationId } = message.acknowledged;
      conversations.set(conversationId, [...(conversations.get(conversationId) ?? []), message]);
    }
    return conversations;
  }
}
