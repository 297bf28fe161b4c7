// A hostile client and a hostile service against every proxy in its real server: the effects of each attack, and the
// server's health afterwards.
//
//     node --test tests/hostile/                      every proxy, after the build of site-connector
//     PROXIES="nginx,Caddy" ATTACKS="gzip" node …     some proxies, and the attacks with a text in their names
//     RECIPES=folder node …                           the recipes of another version, from a folder with its docs/

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { after, describe, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { answers } from "./attacks/answers.mjs";
import { bodies } from "./attacks/bodies.mjs";
import { framing } from "./attacks/framing.mjs";
import { headersDown } from "./attacks/headers-down.mjs";
import { headersUp } from "./attacks/headers-up.mjs";
import { methods } from "./attacks/methods.mjs";
import { paths } from "./attacks/paths.mjs";
import { rates } from "./attacks/rates.mjs";
import { statuses } from "./attacks/statuses.mjs";
import { exchange, flood, get, post } from "./client.mjs";
import { MEMORY_LIMIT, answered, arrivals, sent } from "./judge.mjs";
import { processes, proxies, token } from "./proxies.mjs";
import { Report } from "./report.mjs";
import { HostileService } from "./service.mjs";

const GROUPS = {
  "no other path reaches the service": paths,
  "no other method reaches the service": methods,
  "unclear bounds of requests": framing,
  "headers of a visitor's": headersUp,
  bodies: bodies,
  "headers of the service's": headersDown,
  statuses: statuses,
  answers: answers,
};
/** Servers that forward interim responses (1xx), as docs/server.md says; never with cookies or links. */
const INTERIM = ["Caddy"];
/** The proxy's timeout for the service, in seconds. */
const TIMEOUT = 2;
/** Maximum bytes of an endless response. */
const MAX_FLOOD = 128 * 1024 * 1024;

const wanted = process.env.PROXIES?.split(",") ?? Object.keys(proxies);
const chosen = (attack) => attack.name.includes(process.env.ATTACKS ?? "");
const report = new Report();

/** The time in which an answer without an end is given up once its visitor has gone, in milliseconds. */
const END_TIMEOUT_MS = 15_000;

/** Returns the memory of processes: the current value, or the peak since the last `forgetPeak`. */
const memory = (pids, figure) =>
  pids.reduce(
    (sum, pid) =>
      sum +
      1024 * Number(readFileSync(`/proc/${pid}/status`, "utf8").match(new RegExp(`^${figure}:\\s+(\\d+)`, "m"))[1]),
    0,
  );
const forgetPeak = (pids) => pids.forEach((pid) => writeFileSync(`/proc/${pid}/clear_refs`, "5"));

/** A proxy under attack: its server, the service behind it, and another service that must get no request. */
class Target {
  static async start(name) {
    const target = new Target();
    target.name = name;
    [target.service, target.elsewhere] = await Promise.all([HostileService.start(), HostileService.start()]);
    Object.assign(target, await proxies[name]({ origin: target.service.origin, timeout: TIMEOUT }));
    target.pids = target.running();
    return target;
  }

  running = () =>
    this.servers.flatMap(({ child }) =>
      child.exitCode === null && child.signalCode === null ? processes(child.pid) : [],
    );

  /** Returns the problems of a server after an attack: ended processes, and wrong responses. */
  async alive() {
    this.service.reset();
    const problems = [];
    for (const n of [1, 2]) {
      const nonce = `alive-${n}-${crypto.randomUUID()}`;
      for (const bytes of [get(`/connector/chat/messages?after=${nonce}`), post(`/connector/chat/messages?${nonce}`)]) {
        const { answer } = await exchange(this.port, bytes);
        if (answer?.status !== 200 || !String(answer.body).includes(nonce)) {
          problems.push(
            `afterwards, a good request was answered with ${answer?.status} ${String(answer?.body).slice(0, 80)}`,
          );
        }
      }
    }
    if (this.running().join() !== this.pids.join())
      problems.push(
        `processes ended: ${this.servers
          .map(({ stderr }) => stderr())
          .join("")
          .slice(-300)}`,
      );
    return problems;
  }

  /** Carries out an attack and returns the problems. */
  async carryOut(attack) {
    let flooding = Promise.resolve();
    const shared = {
      service: this.service,
      elsewhere: this.elsewhere.origin,
      token,
      exchange,
      port: this.port,
      spare: /PHP|WordPress/.test(this.name) ? 3 : 30,
      flooding: (socket, part) => {
        flooding = flood(socket, part, MAX_FLOOD).then((bytes) => ((this.service.sent += bytes), socket.destroy()));
      },
    };
    this.service.reset(attack.answer && ((request, socket) => attack.answer(request, socket, shared)));
    this.elsewhere.reset();
    if (attack.run) return [...(await attack.run(shared)), ...(await this.alive())];
    const bytes =
      attack.bytes === "post"
        ? post("/connector/events")
        : typeof attack.bytes === "function"
          ? attack.bytes(shared)
          : (attack.bytes ?? get("/connector/chat/presence"));
    if (attack.memory) forgetPeak(this.pids);
    const before = attack.memory && memory(this.pids, "VmRSS");
    const result = await exchange(this.port, bytes, attack);
    const ended = await Promise.race([flooding.then(() => true), setTimeout(END_TIMEOUT_MS, false)]);
    if (attack.settle) await setTimeout(attack.settle);
    const problems = [
      ...arrivals(attack, this.service.requests, new URL(this.service.origin).host),
      ...(this.elsewhere.requests.length > 0 ? ["another service got a request"] : []),
      ...answered({ ...attack, bytes, interim: INTERIM.includes(this.name) }, result, this.service.requests),
      ...sent(attack, this.service.sent),
      ...(ended ? [] : ["the answer is read on after the visitor has gone"]),
    ];
    const figures = { ms: result.ms, sent: result.flooded };
    if (attack.memory && this.running().length === this.pids.length) {
      figures.memory = Math.max(0, memory(this.pids, "VmHWM") - before);
      if (figures.memory > MEMORY_LIMIT) problems.push(`memory grew by ${figures.memory} bytes`);
    }
    if (attack.memory || attack.within) report.measured(attack.name, this.name, figures);
    return [...problems, ...(await this.alive())];
  }
}

describe("A hostile client and a hostile service", { concurrency: 4 }, () => {
  for (const name of wanted) {
    test(name, async (t) => {
      let target = await Target.start(name);
      for (const [group, attacks] of Object.entries(GROUPS)) {
        await t.test(group, async () => {
          const failed = [];
          for (const attack of attacks.filter(chosen)) {
            const problems = await target.carryOut(attack);
            report.note(group, attack.name, name, problems);
            if (problems.length > 0) failed.push(`${attack.name}: ${[...new Set(problems)].join("; ")}`);
            // A server that ended is restarted, so that attacks are judged independently.
            if (target.running().join() !== target.pids.join()) target = await Target.start(name);
          }
          if (failed.length > 0) assert.fail(`${name}\n${failed.join("\n")}`);
        });
      }
      await t.test("rate", async () => {
        for (const attack of rates.filter(chosen)) {
          const problems = await attack.run(name);
          if (problems === null) continue;
          report.note("rate", attack.name, name, problems);
          if (problems.length > 0) assert.fail(`${name}\n${problems.join("\n")}`);
        }
      });
      target.service.stop();
      target.elsewhere.stop();
    });
  }
  after(async () => {
    report.print(wanted);
    await stopAll();
  });
});
