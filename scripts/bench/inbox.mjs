// How fast a visitor's message reaches the operators: the streams of many consoles, and the screen of one in Chromium.

import { readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { launch } from "../../tests/e2e/demo.mjs";
import { openConsole, startTeam } from "../../tests/e2e/team.mjs";
import { FLAGS, rank, sendingWith } from "./team.mjs";

const CONVERSATIONS = 1000;
const CONSOLES = 500;
/** Messages that are measured, and the interval between two of them. */
const MESSAGES = 300;
const INTERVAL_MS = 50;
/** Visitors that write for the first time at the same moment. */
const AT_ONCE = 20;
/** The time in which the last message arrives everywhere. */
const LAST_ARRIVAL_MS = 10_000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const memoryMiB = (pid) => Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/^VmRSS:\s+(\d+)/m)[1]) / 1024;

/** Returns the nearest-rank percentiles of times. */
function percentiles(times) {
  const sorted = [...times].sort((one, other) => one - other);
  const at = (share) => rank(sorted, share);
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99), max: sorted.at(-1) };
}

/** Opens the stream of a console. `arrived(marks)` gets the marks of messages in each piece. Returns `close()`. */
function follow({ address }, operator, agent, arrived) {
  const { name, value } = operator.cookie();
  const headers = { Cookie: `${name}=${value}`, Accept: "text/event-stream" };
  return new Promise((resolve, reject) => {
    const request = get(new URL("/api/admin/v1/stream", address), { agent, headers }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`the stream answered ${response.statusCode}`));
      response.setEncoding("utf8");
      response.on("data", (text) => arrived(text.match(/mark-\d+/g) ?? []));
      response.once("data", () => resolve({ close: () => request.destroy() }));
    });
    request.on("error", reject);
  });
}

/** Records when each mark comes into view. It runs in the page. */
function recordMarks() {
  window.marks = {};
  const inView = (element) => {
    const { top, bottom, width } = element.getBoundingClientRect();
    return width > 0 && top >= 0 && bottom <= innerHeight;
  };
  const look = () => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const mark = /mark-\d+/.exec(texts.currentNode.data)?.[0];
      if (mark && !(mark in window.marks) && inView(texts.currentNode.parentElement)) window.marks[mark] = Date.now();
    }
  };
  new MutationObserver(() => requestAnimationFrame(look)).observe(document.body, {
    subtree: true,
    childList: true,
    characterData: true,
  });
}

/**
 * Measures with 1,000 open conversations and 500 consoles. Returns the times until a message is on the streams of all consoles
 * and on the screen of one, in milliseconds from the moment when the visitor's request begins, and the service's memory in MiB
 * before and with the consoles.
 */
export async function measureInbox(command) {
  // An operator has at most 100 consoles.
  const team = await startTeam(["Maren", "Noor", "Tom", "Ute", "Vera", "Wim"], { command, more: FLAGS });
  const [owner] = team.operators;
  const send = await sendingWith(team);
  const browser = await launch();
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const streams = [];
  try {
    const ids = [];
    for (let first = 0; first < CONVERSATIONS; first += AT_ONCE) {
      const some = Array.from({ length: AT_ONCE }, (_, index) => send(`visitor-${first + index}`, "Hello"));
      ids.push(...(await Promise.all(some)));
    }
    // The AI is silent, so that a list shows the visitor's words.
    for (const id of ids) await owner.call("PATCH", `conversations/${id}`, { aiPaused: true });

    const memory = { before: memoryMiB(team.pid()) };
    const begun = new Map();
    const onStreams = [];
    const arrived = (marks) => {
      const now = performance.now();
      for (const mark of new Set(marks)) if (begun.has(mark)) onStreams.push(now - begun.get(mark).at);
    };
    for (let index = 0; index < CONSOLES; index += 1) {
      const seen = new Set();
      const fresh = (marks) => marks.filter((mark) => !seen.has(mark) && seen.add(mark));
      const operator = team.operators[1 + (index % (team.operators.length - 1))];
      streams.push(await follow(team, operator, agent, (marks) => arrived(fresh(marks))));
    }
    const { page } = await openConsole(browser, team, owner, "/console/inbox?view=open");
    await page.getByText("visitor-", { exact: false }).first().waitFor();
    await page.evaluate(recordMarks);
    memory.consoles = memoryMiB(team.pid());

    for (let index = 0; index < MESSAGES; index += 1) {
      const mark = `mark-${index}`;
      const chosen = (index * 7919) % CONVERSATIONS;
      begun.set(mark, { at: performance.now(), clock: Date.now() });
      const sent = send(`visitor-${chosen}`, `Is anybody there? ${mark}`, ids[chosen]);
      await Promise.all([sent, pause(INTERVAL_MS)]);
    }
    const deadline = performance.now() + LAST_ARRIVAL_MS;
    while (onStreams.length < MESSAGES * CONSOLES && performance.now() < deadline) await pause(50);
    const shown = await page.evaluate(() => window.marks);
    const onScreen = Object.entries(shown).map(([mark, clock]) => clock - begun.get(mark).clock);
    return {
      consoles: CONSOLES,
      messages: MESSAGES,
      onStreams: percentiles(onStreams),
      onScreen: percentiles(onScreen),
      memory,
    };
  } finally {
    for (const stream of streams) stream.close();
    await browser.close();
    await team.stop();
  }
}
