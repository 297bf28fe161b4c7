// `ServerConnectorClient` against the hostile service that attacks the proxies: tests/hostile/.

import assert from "node:assert/strict";
import { setTimeout } from "node:timers/promises";
import { after, before, test } from "node:test";
import { inspect } from "node:util";
import { ConnectorError, ServerConnectorClient } from "../../dist/server/index.mjs";
import { answers } from "../hostile/attacks/answers.mjs";
import { headersDown } from "../hostile/attacks/headers-down.mjs";
import { statuses } from "../hostile/attacks/statuses.mjs";
import { flood } from "../hostile/client.mjs";
import { sent } from "../hostile/judge.mjs";
import { HostileService } from "../hostile/service.mjs";
import { token } from "./fixture.mjs";

const MIB = 1024 * 1024;
/** Maximum bytes that the service offers in an endless response. */
const MAX_FLOOD = 128 * MIB;
const TIMEOUT_MS = 2000;
/** Maximum milliseconds of a call: its time limit, and the work of a busy machine. */
const MAX_CALL_MS = 6000;
/** Maximum characters of an error. */
const MAX_MESSAGE = 2000;

let service;
let elsewhere;
let client;
before(async () => {
  [service, elsewhere] = await Promise.all([HostileService.start(), HostileService.start()]);
  // One attempt: a repeated request would hide that `fetch` repeats one by itself.
  const backOff = { attempts: 1 };
  client = new ServerConnectorClient({
    origin: service.origin,
    token,
    backOff,
    timeoutMs: TIMEOUT_MS,
    answerLimit: MIB,
  });
});
after(() => {
  service.stop();
  elsewhere.stop();
});

/** Returns the problems of an error that a caller may print. */
function printed(error) {
  if (!(error instanceof ConnectorError)) return [`an error that is no ConnectorError: ${inspect(error)}`];
  return [
    ...(/\p{Cc}|\p{Cf}/u.test(error.message) ? [`control characters in ${JSON.stringify(error.message)}`] : []),
    ...(error.message.length > MAX_MESSAGE ? [`an error of ${error.message.length} characters`] : []),
    ...(inspect(error, { depth: 9, showHidden: true }).includes(token) ? ["the error contains the token"] : []),
  ];
}

/** Returns the problems of the next two calls: each must get its own response. */
async function isHealthy() {
  service.reset();
  const nonces = [crypto.randomUUID(), crypto.randomUUID()];
  const results = await Promise.all(nonces.map((nonce) => client.getPresence(nonce).catch((error) => error)));
  return results.flatMap((result, at) =>
    String(result.line).includes(nonces[at]) ? [] : [`afterwards, a call got ${inspect(result).slice(0, 200)}`],
  );
}

/** Carries out an attack, and returns the problems. */
async function carryOut({ bytes, answer, settle, ...attack }) {
  let flooding = Promise.resolve();
  const shared = {
    elsewhere: elsewhere.origin,
    flooding: (socket, part) => {
      flooding = flood(socket, part, MAX_FLOOD).then((bytes) => ((service.sent += bytes), socket.destroy()));
    },
  };
  service.reset((request, socket) => answer(request, socket, shared));
  elsewhere.reset();
  const started = performance.now();
  const call = bytes === "post" ? client.track({ eventType: "page_view" }) : client.getPresence();
  const error = await call.then(
    () => null,
    (error) => error,
  );
  const ms = performance.now() - started;
  const hasEnded = await Promise.race([flooding.then(() => true), setTimeout(3000, false)]);
  if (settle) await setTimeout(settle);
  return [
    ...(error ? printed(error) : []),
    ...((attack.passes === false || attack.broken) && error === null ? ["the call succeeded"] : []),
    ...(ms > Math.min(attack.within ?? MAX_CALL_MS, MAX_CALL_MS) ? [`the call took ${ms} ms`] : []),
    ...(service.requests.length === 1 ? [] : [`${service.requests.length} requests arrived`]),
    ...(elsewhere.requests.length === 0 ? [] : ["another service got a request"]),
    ...(hasEnded ? [] : ["the response is read on after the call has ended"]),
    ...sent(attack, service.sent),
    ...(await isHealthy()),
  ];
}

/** Asserts that the client survives each attack of a list. Those with `run` need visitors and a proxy. */
async function survives(all) {
  const attacks = all.filter(({ answer }) => answer);
  assert.ok(attacks.length > 40, `${attacks.length}`);
  const failed = [];
  for (const attack of attacks) {
    const problems = await carryOut(attack);
    if (problems.length > 0) failed.push(`${attack.name}: ${problems.join("; ")}`);
  }
  assert.deepEqual(failed, []);
}

test("a hostile status ends one call, and the next calls succeed", () => survives(statuses));

test("a hostile body ends one call, and the next calls succeed", () => survives(answers));

test("hostile headers end one call, and the next calls succeed", () => survives(headersDown));
