// Runs the jobs of the site in the folder SITE. It kills itself before the step STOP_AT, or before the call of its journal
// with the number STOP_AT_CALL, and waits for a line before the step PAUSE_AT.

import { readSync } from "node:fs";
import { PageHeads, runJobs, ServerConnectorClient } from "../../../dist/server/index.mjs";
import { Cms } from "./cms.mjs";
import { handlerOf } from "./handler.mjs";
import { journalOf } from "./journals.mjs";

const { SITE, ORIGIN, ADDRESS, TOKEN, JOURNAL, PLACE, STOP_AT, STOP_AT_CALL, PAUSE_AT, LOCK_MS } = process.env;
const die = () => process.kill(process.pid, "SIGKILL");

let calls = 0;
const counted = (store) =>
  Object.fromEntries(
    Object.entries(store).map(([name, call]) => [
      name,
      (...args) => ((calls += 1) === Number(STOP_AT_CALL) ? die() : call(...args)),
    ]),
  );

const client = new ServerConnectorClient({
  origin: ORIGIN,
  token: TOKEN,
  siteId: "shop",
  backOff: { initialMs: 20, maxMs: 100 },
});
const journal = counted(journalOf(JOURNAL, PLACE));
const summary = await runJobs(handlerOf(new Cms(SITE), new PageHeads({ client, journal }), { client, journal }), {
  client,
  journal,
  site: { origin: ADDRESS, patienceMs: 1500 },
  lockMs: Number(LOCK_MS),
  log: () => {},
  onStep(step) {
    if (step === STOP_AT) die();
    if (step === PAUSE_AT) {
      console.log("paused");
      readSync(0, Buffer.alloc(1));
    }
  },
});
console.log(JSON.stringify(summary ?? null));
