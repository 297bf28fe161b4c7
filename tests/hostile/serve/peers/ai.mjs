// A hostile AI endpoint: the visitor gets an answer within the endpoint's time limit, whatever it does.

import { gzipSync } from "node:zlib";
import { setTimeout } from "node:timers/promises";
import { flood } from "../../client.mjs";
import { HostileService, answer } from "../../service.mjs";
import { MEMORY_LIMIT } from "../judge.mjs";

export const AI_FLAGS = ["--allow-private-targets", "true"];
const KEY = "ai-key-that-nobody-logs";
/** The time limit of the endpoint, and that of the visitor's answer. */
const ENDPOINT_TIMEOUT_MS = 2_000;
const ANSWER_TIMEOUT_MS = 5_000;
/** Maximum bytes that an endpoint can send, including the buffers of both systems. */
const MAX_SENT_BYTES = 24 * 1024 * 1024;
const MAX_FLOOD = 256 * 1024 * 1024;
const MAX_ANSWER_LENGTH = 16_001;

const completion = (content) => JSON.stringify({ choices: [{ message: { role: "assistant", content } }] });
const OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
const BOMB = gzipSync(Buffer.alloc(100 * 1024 * 1024));

/** Sends a head, and then the same part until the connection is closed. */
const endless = (head, part) => async (_, socket, peer) => {
  socket.write(head, "latin1");
  peer.sent = await flood(socket, Buffer.from(part), MAX_FLOOD);
};
/** Sends a head, and then a byte every 50 ms. */
const trickle = (head) => (_, socket) => {
  socket.write(head);
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(" ")), 50);
};

/** What an endpoint does, by name. */
const BEHAVIOURS = {
  "an endless body": endless(`${OK}Connection: close\r\n\r\n`, " ".repeat(65536)),
  "an endless chunked body": endless(`${OK}Transfer-Encoding: chunked\r\n\r\n`, `10000\r\n${" ".repeat(65536)}\r\n`),
  "endless headers": endless("HTTP/1.1 200 OK\r\n", `X: ${"x".repeat(1000)}\r\n`.repeat(60)),
  // They are skipped until the time limit: many bytes are read, and none is kept.
  "endless interim responses": async (_, socket) =>
    void (await flood(socket, Buffer.from("HTTP/1.1 100 Continue\r\n\r\n".repeat(1000)), MAX_FLOOD)),
  "endless status line": endless("HTTP/1.1 200 ", "x".repeat(65536)),
  "a body byte by byte": trickle(`${OK}Content-Length: 100000\r\n\r\n`),
  "a head byte by byte": trickle("HTTP/1.1 200 OK\r\nX: "),
  "no response": () => undefined,
  "no JSON": () => answer("<html>oops</html>"),
  "another JSON": () => answer('{"choices":[{"message":{"content":{"a":[1]}}}]}'),
  "JSON 200,000 deep": () => answer(`${"[".repeat(100_000)}${"]".repeat(100_000)}`),
  "10 GB declared": () => `${OK}Content-Length: 10737418240\r\n\r\n{`,
  "a length beyond 64 bits": () => `${OK}Content-Length: 99999999999999999999\r\n\r\n{}`,
  "a compressed bomb": (_, socket) => {
    socket.write(`${OK}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`);
    socket.write(BOMB);
  },
  "a body that is shorter than declared": (_, socket) =>
    void socket.end(`${OK}Content-Length: 500\r\n\r\n${completion("x")}`),
  "two lengths": () => `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x`,
  "a chunk of -1 bytes": () => `${OK}Transfer-Encoding: chunked\r\n\r\n-1\r\n{}\r\n0\r\n\r\n`,
  "a protocol switch": () => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
  "no HTTP": () => "SSH-2.0-OpenSSH\r\n\r\n",
  "a closed connection": (_, socket) => void socket.destroy(),
  "a redirect with 302": (_, socket, peer) =>
    `HTTP/1.1 302 Found\r\nLocation: ${peer.elsewhere}/x\r\nContent-Length: 0\r\n\r\n`,
  "a redirect with 307": (_, socket, peer) =>
    `HTTP/1.1 307 Found\r\nLocation: ${peer.elsewhere}/x\r\nContent-Length: 0\r\n\r\n`,
  "a refresh": (_, socket, peer) => answer("{}", { headers: `Refresh: 0; url=${peer.elsewhere}/x\r\n` }),
  "an error with a secret": () => answer(`{"error":"${KEY} is wrong"}`, { status: "500 Oops" }),
  "status 999": () => answer("{}", { status: "999 x" }),
};

/** Contents of correct responses, all of which are text. */
const CONTENTS = {
  "250 KB of text": "x".repeat(250_000),
  "null bytes and lone surrogates": "a\0b \ud800 \udfff c",
  "control characters": "\u202e\u0007\u001b[31m evil",
  "a script": "<script>alert(1)</script><img src=x onerror=alert(1)>",
};

/** Sets the endpoint of the site. Each has an address of its own, so that the failures of others do not count for it. */
async function useEndpoint(program, service, n) {
  const ai = { base: `${service.origin}/v${n}`, model: "m", key: KEY, timeoutMs: ENDPOINT_TIMEOUT_MS };
  const { status, json } = await program.admin("PATCH", `/sites/${program.site}`, { ai });
  return status === 200 ? [] : [`the endpoint was not set: ${status} ${JSON.stringify(json)}`];
}

let n = 0;

/** Lets a visitor write while the endpoint behaves like this. */
async function asked(program, service, elsewhere, behaviour) {
  n += 1;
  const peer = { sent: 0, elsewhere: elsewhere.origin };
  service.reset((request, socket) => behaviour(request, socket, peer));
  elsewhere.reset();
  const problems = await useEndpoint(program, service, n);
  program.forgetPeak();
  const before = program.memory();
  const { status, data, ms } = await program.write("words-of-a-visitor: where is my order?");
  const text = data?.message?.content;
  if (status !== 200 || !text || text.length > MAX_ANSWER_LENGTH)
    problems.push(`the visitor got ${status} and ${text?.length} characters`);
  if (ms > ANSWER_TIMEOUT_MS) problems.push(`the visitor waited ${ms} ms`);
  if (service.requests.length !== 1) problems.push(`the endpoint was asked ${service.requests.length} times`);
  if (elsewhere.requests.length > 0) problems.push("the redirect was followed");
  await setTimeout(50);
  if (peer.sent > MAX_SENT_BYTES) problems.push(`${peer.sent} bytes were read`);
  const grown = program.memory("VmHWM") - before;
  if (grown > MEMORY_LIMIT) problems.push(`memory grew by ${grown} bytes`);
  if (program.server.stderr().includes(KEY)) problems.push("the log contains the key of the AI");
  if (String(text).includes(KEY)) problems.push("the visitor got the key of the AI");
  return problems;
}

/** Returns the attacks of an endpoint. */
export async function aiAttacks() {
  const [service, elsewhere] = await Promise.all([HostileService.start(), HostileService.start()]);
  const behaviours = [
    ...Object.entries(BEHAVIOURS),
    ...Object.entries(CONTENTS).map(([name, content]) => [name, () => answer(completion(content))]),
  ];
  return [
    {
      name: "a good endpoint is asked, and its answer is shown",
      async run(program) {
        service.reset(() => answer(completion("An answer of the endpoint.")));
        await useEndpoint(program, service, "good");
        const { data } = await program.write("words-of-a-visitor");
        const asked = service.requests[0]?.value("authorization") === `Bearer ${KEY}`;
        return asked && data?.message?.content === "An answer of the endpoint."
          ? []
          : ["the endpoint's answer is not shown"];
      },
    },
    ...behaviours.map(([name, behaviour]) => ({
      name,
      run: (program) => asked(program, service, elsewhere, behaviour),
    })),
    {
      name: "60 visitors at once while the endpoint is silent: all get an answer, and others are not held up",
      async run(program) {
        service.reset(() => undefined);
        await useEndpoint(program, service, "many");
        const visitors = Array.from({ length: 60 }, () => program.write("words-of-a-visitor", { timeoutMs: 14_000 }));
        const problems = await program.alive();
        const answers = await Promise.all(visitors);
        const failed = answers.filter(({ status, data }) => status !== 200 || !data.message?.content);
        const slowest = Math.max(...answers.map(({ ms }) => ms));
        if (failed.length > 0) problems.push(`${failed.length} visitors got ${failed[0].status}`);
        if (slowest > 12_000) problems.push(`a visitor waited ${slowest} ms`);
        return problems;
      },
    },
  ];
}
