// A torture run: load, and accidents at random moments, until the service has survived as many as were asked for.

import { numbers } from "../../tests/unit/random.mjs";
import { check, checkHistory } from "./checks.mjs";
import { Client } from "./client.mjs";
import { Ledger } from "./ledger.mjs";
import { Load } from "./load.mjs";
import { readHistories, readHistory } from "./stored.mjs";

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Conversations that are read after each accident. */
const SAMPLES = 3;

/**
 * Runs the load, and `kills` accidents in it. `accidents` are functions that take `random`, break something and repair it.
 * Each kind of them happens once before any happens again. `read` returns what the database holds in the end. Returns
 * the counts and what was broken.
 */
export async function torture({ urls, token, seed, kills, accidents, read, load = {}, progress = () => {} }) {
  const random = numbers(seed);
  const ledger = new Ledger();
  const running = new Load({ urls, token, seed, ledger, ...load });
  const reader = new Client({ urls, token, address: "10.250.0.1", random: numbers(seed + 1), ledger: new Ledger() });
  const samples = [];
  const happened = {};
  const first = shuffled([...new Set(accidents)], random);
  try {
    for (let number = 1; number <= kills; number += 1) {
      await pause(50 + random() * 450);
      const accident = first.pop() ?? accidents[Math.floor(random() * accidents.length)];
      await accident(random);
      happened[accident.name] = (happened[accident.name] ?? 0) + 1;
      samples.push(...(await sample(reader, ledger, random)));
      progress({ number, counts: ledger.counts, broken: samples.length });
    }
    await running.stop();
  } finally {
    running.abort();
  }
  const histories = await readHistories(reader, ledger);
  const { broken, found } = check(ledger, { histories, ...read() });
  reader.close();
  const sent = { messages: ledger.messages.length, batches: ledger.batches.length, pages: ledger.pages.length };
  return {
    seed,
    kills,
    happened,
    sent: { ...sent, jobs: ledger.completions.length },
    counts: ledger.counts,
    found,
    broken: [...samples, ...reader.ledger.refusals.map((detail) => ({ problem: "a read failed", detail })), ...broken],
  };
}

/** Returns the items in a random order. */
function shuffled(items, random) {
  return items
    .map((item) => [random(), item])
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}

/** Checks some conversations while the load goes on. Only what was acknowledged before the read can be missing. */
async function sample(reader, ledger, random) {
  const conversations = [...ledger.conversations()];
  const broken = [];
  for (let number = 0; number < Math.min(SAMPLES, conversations.length); number += 1) {
    const [conversation, sent] = conversations[Math.floor(random() * conversations.length)];
    const history = await readHistory(reader, conversation);
    const report = (problem, detail) => broken.push({ problem, detail });
    checkHistory({ conversation, sent, history, seen: [] }, report, { once: 0, missing: 0, doubled: 0 });
  }
  return broken;
}
