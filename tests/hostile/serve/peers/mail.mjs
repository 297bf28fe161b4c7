// Hostile SMTP servers: no operator waits for them, and no password reaches one that refuses encryption.

import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout } from "node:timers/promises";
import { flood } from "../../client.mjs";
import { MEMORY_LIMIT } from "../judge.mjs";
import { OWNER, ADMIN, Program } from "../program.mjs";

const PASSWORD = "smtp-password-that-nobody-logs";
/** The time in which an operation that causes an e-mail is answered, in milliseconds. */
const ANSWER_TIMEOUT_MS = 2_000;
const CONNECTION_TIMEOUT_MS = 8_000;
const MAX_SENT_BYTES = 24 * 1024 * 1024;

/** Answers each line that a client sends. */
const replying = (greeting, reply) => (socket, server) => {
  socket.write(greeting);
  socket.on("data", (data) => {
    for (const line of String(data).split("\r\n").filter(Boolean))
      if (!socket.destroyed) socket.write(reply(line, server));
  });
};
const flooding = (part) => async (socket, server) => {
  server.sent += await flood(socket, Buffer.from(part), 256 * 1024 * 1024);
};

/** What a server does, and the encryption that the program asks for. */
const SERVERS = {
  "no greeting": { tls: "none", behave: () => {} },
  "an endless greeting": { tls: "none", behave: flooding("220-mail.example\r\n".repeat(1000)) },
  "an endless line": { tls: "none", behave: flooding("220 mail.example ".repeat(1000)) },

  "no STARTTLS": { tls: "starttls", behave: replying("220 mail.example\r\n", () => "250 mail.example\r\n") },
  "STARTTLS with a response behind it": {
    tls: "starttls",
    behave: replying("220 mail.example\r\n", (line) =>
      line.startsWith("STARTTLS")
        ? "220 go\r\n250-mail.example\r\n250 AUTH PLAIN LOGIN\r\n"
        : "250-mail.example\r\n250 STARTTLS\r\n",
    ),
  },
  "HTTP instead of SMTP": { tls: "none", behave: replying("HTTP/1.1 200 OK\r\n\r\n", () => "") },
  "responses with control characters": {
    tls: "none",
    behave: replying("220 mail.example\r\n", () => "554 \u001b[31m\0 no\r\nINFO forged line\r\n"),
  },
};

async function attacked(name, { tls, behave }) {
  const server = { sent: 0, received: "", connections: 0 };
  const listener = createServer((socket) => {
    server.connections += 1;
    socket.on("error", () => {}).on("data", (data) => (server.received += data.toString("latin1")));
    behave(socket, server);
  }).unref();
  await once(listener.listen(0, "127.0.0.1"), "listening");
  const smtp = ["--smtp-host", "127.0.0.1", "--smtp-port", listener.address().port, "--smtp-tls", tls];
  const args = [...smtp, "--smtp-user", "chat", "--mail-from", "chat@chat.example"];
  const program = await Program.start({
    args,
    env: { SERVICE_SMTP_PASSWORD: PASSWORD },
    origin: "https://chat.example",
  });
  program.forgetPeak();
  const before = program.memory();
  const invitation = await program.admin("POST", "/invitations", { email: "bob@shop.example", role: "agent" });
  const forgot = await program.call("POST", `${ADMIN}/password/forgot`, { email: OWNER.email });
  const until = Date.now() + CONNECTION_TIMEOUT_MS;
  while (server.connections === 0 && Date.now() < until) await setTimeout(20);
  // Long enough to send a password, or to read a flood.
  await setTimeout(1500);
  const problems = await program.alive();
  for (const { status, ms } of [invitation, forgot])
    if (status !== 200 || ms > ANSWER_TIMEOUT_MS) problems.push(`an operator got ${status} after ${ms} ms`);
  if (server.connections === 0) problems.push("the server was not called");
  const encoded = Buffer.from(PASSWORD).toString("base64").slice(0, 20);
  const isTold = [PASSWORD, encoded, Buffer.from(`\0chat\0${PASSWORD}`).toString("base64")].some((text) =>
    server.received.includes(text),
  );
  if (isTold && tls !== "none") problems.push("the password was sent without encryption");
  if (program.server.stderr().includes(PASSWORD)) problems.push("the log contains the password");
  if (/^INFO forged/m.test(program.server.stderr())) problems.push("the server forged a line of the log");
  if (/#setup=/.test(program.server.stderr())) problems.push("the log contains a one-time link");
  if (server.sent > MAX_SENT_BYTES) problems.push(`${server.sent} bytes were read`);
  const grown = program.memory("VmHWM") - before;
  if (grown > MEMORY_LIMIT) problems.push(`memory grew by ${grown} bytes`);
  await program.stop();
  listener.close();
  return problems.map((problem) => `${name}: ${problem}`);
}

export const mail = Object.entries(SERVERS).map(([name, server]) => ({
  name: `a mail server with ${name}`,
  run: () => attacked(name, server),
}));
