// Hostile receivers of webhooks: none holds up visitors or other receivers, leads the service elsewhere, or fills its memory.

import { setTimeout } from "node:timers/promises";
import { flood } from "../../client.mjs";
import { HostileService, answer } from "../../service.mjs";
import { MEMORY_LIMIT } from "../judge.mjs";

/** The time in which every attempt has ended, in milliseconds. Each has a limit of 10 s. */
const ATTEMPT_TIMEOUT_MS = 16_000;
const MAX_SENT_BYTES = 24 * 1024 * 1024;
const MAX_FLOOD = 256 * 1024 * 1024;
const OK = "HTTP/1.1 200 OK\r\n";

const endless = (head, part) => async (_, socket, service) => {
  socket.write(head);
  service.sent += await flood(socket, Buffer.from(part), MAX_FLOOD);
};

/** What a receiver does, and whether its delivery counts as failed. */
const RECEIVERS = {
  "no response": [() => undefined, true],
  "an endless body": [endless(`${OK}Connection: close\r\n\r\n`, "x".repeat(65536)), null],
  "endless headers": [endless(OK, `X: ${"x".repeat(1000)}\r\n`.repeat(60)), true],
  // They are skipped until the time limit: many bytes are read, and none is kept.
  "endless interim responses": [
    async (_, socket) =>
      void (await flood(socket, Buffer.from("HTTP/1.1 100 Continue\r\n\r\n".repeat(1000)), MAX_FLOOD)),
    true,
  ],
  "a redirect": [
    (_, socket, { elsewhere }) => `HTTP/1.1 307 x\r\nLocation: ${elsewhere}/x\r\nContent-Length: 0\r\n\r\n`,
    true,
  ],
  "a refusal with a page": [() => answer("<script>alert(1)</script>\u0000", { status: "500 Oops" }), true],
  "no HTTP": [() => "SSH-2.0-OpenSSH\r\n\r\n", true],
  "a closed connection": [(_, socket) => void socket.destroy(), true],
  "410 Gone": [() => answer("", { status: "410 Gone" }), true],
};

/** Addresses of the machine's own network and of others, which only a service with a permission for them calls. */
export const PRIVATE_ADDRESSES = [
  "http://127.0.0.1:9/x",
  "https://127.0.0.1/x",
  "https://localhost/x",
  "https://localhost./x",
  "https://x.localhost/x",
  "https://[::1]/x",
  "https://[::ffff:127.0.0.1]/x",
  "https://[::ffff:7f00:1]/x",
  "https://[64:ff9b::7f00:1]/x",
  "https://2130706433/x",
  "https://0x7f.1/x",
  "https://0177.0.0.1/x",
  "https://127.1/x",
  "https://0.0.0.0/x",
  "https://10.0.0.1/x",
  "https://172.16.0.1/x",
  "https://192.168.1.1/x",
  "https://169.254.169.254/latest/meta-data",
  "https://100.64.0.1/x",
  "https://[fe80::1]/x",
  "https://[fd00::1]/x",
  "https://224.0.0.1/x",
  "https://255.255.255.255/x",
  "https://user:password@hooks.example/x",
  "file:///etc/passwd",
  "gopher://127.0.0.1:25/x",
  "ftp://hooks.example/x",
  "javascript:alert(1)",
  "//hooks.example/x",
  "https://",
  "",
  `https://hooks.example/${"x".repeat(3000)}`,
];

/** Tests a receiver, and returns the delivery after its first attempt. */
async function delivered(program, webhook) {
  const { data } = await program.admin("POST", `/webhooks/${webhook}/test`);
  const path = `/webhooks/${webhook}/deliveries/${data.delivery.id}`;
  const until = Date.now() + ATTEMPT_TIMEOUT_MS;
  for (;;) {
    const { data: read } = await program.admin("GET", path);
    if (read?.delivery.attempts.length > 0) return read.delivery;
    if (Date.now() > until) return null;
    await setTimeout(100);
  }
}

const create = async (program, url) => {
  // Each can be tested, whichever events it receives.
  const { data } = await program.admin("POST", "/webhooks", { url, events: ["job.completed"] });
  return data.webhook.id;
};

async function received(program, name, [behaviour, fails]) {
  const [service, elsewhere] = await Promise.all([HostileService.start(), HostileService.start()]);
  service.elsewhere = elsewhere.origin;
  service.reset((request, socket) => behaviour(request, socket, service));
  const id = await create(program, `${service.origin}/hook`);
  const delivery = await delivered(program, id);
  const problems = [];
  if (delivery === null) problems.push("the attempt does not end");
  else if (fails && delivery.status === "delivered") problems.push("the delivery counts as delivered");
  if (elsewhere.requests.length > 0) problems.push("the redirect was followed");
  if (service.sent > MAX_SENT_BYTES) problems.push(`${service.sent} bytes were read`);
  if (service.requests.length === 0) problems.push("the receiver was not called");
  const { data } = await program.admin("GET", `/webhooks/${id}`);
  if (name === "410 Gone" && data.webhook.enabled) problems.push("the webhook is not disabled");
  service.stop();
  elsewhere.stop();
  return problems.map((problem) => `${name}: ${problem}`);
}

export const receivers = [
  {
    name: "hostile receivers hold up nobody, and end",
    async run(program) {
      program.forgetPeak();
      const before = program.memory();
      const running = Object.entries(RECEIVERS).map(([name, receiver]) => received(program, name, receiver));
      const good = await HostileService.start();
      const id = await create(program, `${good.origin}/hook`);
      const began = Date.now();
      const delivery = await delivered(program, id);
      const problems = [];
      if (delivery?.status !== "delivered" || Date.now() - began > 5000)
        problems.push(`a good receiver got its event after ${Date.now() - began} ms: ${delivery?.status}`);
      const { status, ms } = await program.write("words-of-a-visitor");
      if (status !== 200 || ms > 3000) problems.push(`a visitor got ${status} after ${ms} ms`);
      problems.push(...(await Promise.all(running)).flat());
      const grown = program.memory("VmHWM") - before;
      if (grown > MEMORY_LIMIT) problems.push(`memory grew by ${grown} bytes`);
      good.stop();
      return problems;
    },
  },
];

/** For a program without the permission for private addresses. */
export const privateAddresses = [
  {
    name: "webhooks and AI endpoints at private or odd addresses are refused",
    async run(program) {
      const problems = [];
      for (const url of PRIVATE_ADDRESSES) {
        const webhook = await program.admin("POST", "/webhooks", { url, events: [] });
        const ai = await program.admin("PATCH", `/sites/${program.site}`, { ai: { base: url, model: "m" } });
        const isTooLong = url.length > 2000;
        if (webhook.status !== 400)
          problems.push(`a webhook to ${url.slice(0, 60)} was answered with ${webhook.status}`);
        if (ai.status !== 400)
          problems.push(`an AI at ${url.slice(0, 60)}${isTooLong ? "…" : ""} was answered with ${ai.status}`);
      }
      return problems;
    },
  },
];
