// A database that goes away, or stops answering: visitors get a clear error in time, and everything goes on afterwards.

import { once } from "node:events";
import { connect, createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { Postgres } from "../../../../scripts/postgres.mjs";
import { judged } from "../judge.mjs";
import { Program, SHOP } from "../program.mjs";

/** The time in which every request is answered while the database is away, in milliseconds. */
const ANSWER_TIMEOUT_MS = 12_000;
const RECOVERY_TIMEOUT_MS = 15_000;

/** A connection to PostgreSQL that can be cut or frozen. */
class Line {
  #sockets = new Set();
  #state = "open";

  static async to(port) {
    const line = new Line();
    const server = createServer((near) => line.#join(near, port)).unref();
    await once(server.listen(0, "127.0.0.1"), "listening");
    line.port = server.address().port;
    return line;
  }

  #join(near, port) {
    this.#sockets.add(near.on("error", () => {}).on("close", () => this.#sockets.delete(near)));
    if (this.#state === "cut") return near.destroy();
    const far = connect(port, "127.0.0.1").on("error", () => near.destroy());
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    near.on("data", (data) => this.#state === "open" && far.write(data));
    far.on("data", (data) => this.#state === "open" && near.write(data));
  }

  /** Changes the state; connections of another one cannot go on. */
  #become(state) {
    if (state === "cut" || this.#state === "frozen") for (const socket of this.#sockets) socket.destroy();
    this.#state = state;
  }

  cut = () => this.#become("cut");
  freeze = () => this.#become("frozen");
  restore = () => this.#become("open");
}

/** Sends the requests of visitors, sites and operators, and returns their problems. */
async function unavailable(program, statuses) {
  const shop = { headers: { Origin: SHOP }, timeoutMs: ANSWER_TIMEOUT_MS };
  const token = { headers: { Authorization: `Bearer ${program.token}` }, timeoutMs: ANSWER_TIMEOUT_MS };
  const path = `/connector/${program.site}`;
  const calls = await Promise.all([
    program.call("GET", `${path}/chat/messages?conversationId=conv_x`, undefined, shop),
    program.call("GET", `${path}/chat/presence`, undefined, shop),
    program.write("words-of-a-visitor", { timeoutMs: ANSWER_TIMEOUT_MS }),
    program.call(
      "POST",
      "/api/connector/v1/events",
      { visitorId: "v", events: [{ type: "page_view", occurredAt: new Date().toISOString() }] },
      token,
    ),
    program.admin("GET", "/sites", undefined, { timeoutMs: ANSWER_TIMEOUT_MS }),
    program.admin(
      "POST",
      "/session",
      { email: "nobody@shop.example", password: "x" },
      { timeoutMs: ANSWER_TIMEOUT_MS },
    ),
    program.call("GET", `/connector/site_unknown/chat/config`, undefined, shop),
  ]);
  const cors = {
    "access-control-allow-origin": (value) => value === SHOP,
    "access-control-expose-headers": () => true,
  };
  const problems = calls.flatMap(({ result }, n) =>
    judged({ status: statuses, headers: cors }, result, program.secrets).map((problem) => `call ${n}: ${problem}`),
  );
  const written = calls[2];
  if (written.status === 200) problems.push("a message was acknowledged without the database");
  if (written.status === 503 && !written.headers.some(([name]) => name === "retry-after"))
    problems.push("Retry-After is missing");
  const [live, ready] = await Promise.all(["/livez", "/readyz"].map((path) => program.call("GET", path)));
  if (live.status !== 200) problems.push(`/livez was answered with ${live.status}`);
  if (ready.status !== 503) problems.push(`/readyz was answered with ${ready.status}`);
  return problems;
}

async function recovered(program) {
  const until = Date.now() + RECOVERY_TIMEOUT_MS;
  for (;;) {
    const { status } = await program.write("words-of-a-visitor");
    if (status === 200) return program.alive();
    if (Date.now() > until) return [`afterwards, a visitor's message was answered with ${status}`];
    await setTimeout(100);
  }
}

const during = (state) => async (program) => {
  program.line[state]();
  const problems = await unavailable(program, [400, 401, 404, 503, 200]);
  program.line.restore();
  return [...problems, ...(await recovered(program))];
};

/** Starts a program on a PostgreSQL of its own, whose connections can be cut. */
export async function startOnPostgres() {
  const server = await Postgres.create();
  server.start({ fsync: "off" });
  const line = await Line.to(server.port);
  const program = await Program.start({ database: server.url().replace(`:${server.port}/`, `:${line.port}/`) });
  return Object.assign(program, { line, remove: () => server.remove() });
}

export const database = [
  { name: "a database that is away: everybody gets an answer, and everything goes on afterwards", run: during("cut") },
  {
    name: "a database that stops answering: everybody gets an answer, and everything goes on afterwards",
    run: during("freeze"),
  },
];
