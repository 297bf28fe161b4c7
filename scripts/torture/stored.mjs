// Reads what a service has stored: histories through its API, everything else from its database.

import { execFileSync } from "node:child_process";

/** What the checks need, as rows of texts, for both databases. */
const QUERIES = {
  messages: `SELECT c.id, m.role, m.content FROM messages m JOIN conversations c ON c.no = m.conversation_no
    ORDER BY m.conversation_no, m.seq`,
  events: "SELECT event FROM events ORDER BY no",
  items: "SELECT external_id FROM content ORDER BY no",
  jobs: "SELECT id, status, CAST(attempts AS TEXT), payload, result FROM jobs ORDER BY no",
};

const MAX_OUTPUT = 1 << 30;

/** Returns the rows of a query on a database: lists of texts. `tool` is the program of `crates/service/examples/load`. */
export function query(tool, database, sql) {
  const output = execFileSync(tool, ["query", "--database", database, sql], {
    encoding: "utf8",
    maxBuffer: MAX_OUTPUT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  return output
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Returns what the checks compare with the ledger, but for the histories. */
export function readDatabase(tool, database) {
  const read = (name) => query(tool, database, QUERIES[name]);
  const data = (text) => JSON.parse(text ?? "null") ?? {};
  return {
    messages: read("messages").map(([conversation, role, content]) => ({ conversation, role, content })),
    events: read("events").map(([event]) => data(event).eventData ?? {}),
    items: read("items").map(([externalId]) => externalId),
    jobs: read("jobs").map(([id, status, attempts, payload, result]) => ({
      id,
      status,
      attempts: Number(attempts),
      path: data(payload).path,
      run: data(result).message,
    })),
  };
}

/** Returns the whole history of a conversation, read page by page. */
export async function readHistory(client, conversation) {
  const history = [];
  let after = "";
  for (;;) {
    const data = await client.get(`/chat/messages?conversationId=${encodeURIComponent(conversation)}${after}`);
    if (!data || data.messages.length === 0) return history;
    history.push(...data.messages);
    after = `&after=${encodeURIComponent(data.nextAfter)}`;
  }
}

/** Returns the histories of all conversations that a ledger knows. */
export async function readHistories(client, ledger) {
  const histories = new Map();
  for (const conversation of ledger.conversations().keys()) {
    histories.set(conversation, await readHistory(client, conversation));
  }
  return histories;
}
