// The link of an e-mail with a reply, from the service that sends it to the browser that opens it.

import assert from "node:assert/strict";
import { after, afterEach, before, test } from "node:test";
import { eventually, messages } from "./chat.mjs";
import { closeQuietly } from "./context.mjs";
import { launch } from "./demo.mjs";
import { startMailServer } from "./mail-server.mjs";
import { servePage } from "./service.mjs";
import { startTeam, visitorOf } from "./team.mjs";

let browser;
let shop;
let smtp;
let service;
const contexts = [];

before(async () => {
  [browser, shop, smtp] = await Promise.all([launch(), servePage(() => service?.scriptTag ?? ""), startMailServer()]);
  const mail = ["--smtp-host", "127.0.0.1", "--smtp-port", `${smtp.port}`, "--smtp-tls", "none"];
  const more = [...mail, "--mail-from", "chat@service.example"];
  service = await startTeam(["Maren"], { origins: [shop.origin], more });
  // Without a public origin, which is known now, nobody could end the e-mails.
  more.push("--public-origin", service.address);
  await service.restart("SIGTERM");
  const change = { mailReplies: true, mailRepliesAfterMs: 5000 };
  await service.operators[0].call("PATCH", `sites/${service.site.id}`, change);
});

after(async () => {
  await browser?.close();
  await service?.stop();
  await Promise.all([shop?.stop(), smtp?.stop()]);
});

afterEach(async () => {
  for (const context of contexts.splice(0)) await closeQuietly(context);
});

/** Opens an address of the shop in a browser of its own. Returns its page, and what was requested, with each `Referer`. */
async function openElsewhere(address) {
  const context = await browser.newContext({ viewport: { width: 1024, height: 720 }, reducedMotion: "reduce" });
  contexts.push(context);
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const requested = [];
  page.on("request", (request) => requested.push(`${request.url()} ${request.headers()["referer"] ?? ""}`));
  await page.goto(address);
  return { page, requested };
}

test("The link of an e-mail opens its conversation in a browser that never had it, and leaves the address", async () => {
  const email = "clara@home.example";
  const clara = visitorOf(service, { email });
  await clara.say("Do you ship to Norway?", { sourcePage: "/pots?colour=blue", locale: "en" });
  const path = `conversations/${clara.conversationId}/messages`;
  const key = { "Idempotency-Key": crypto.randomUUID() };
  await service.operators[0].call("POST", path, { text: "We do, for 9 euros." }, key);
  const { head, text } = await smtp.mail(email);
  assert.match(head, /^From: "The pot shop" <chat@service\.example>/m);
  assert.ok(text.includes("We do, for 9 euros.") && !text.includes("Norway"), text);
  const [link, proof] = /http\S+#chat-widget-mail=(\S+)/.exec(text);
  assert.ok(link.startsWith(`${shop.origin}/pots#`), link);

  for (const device of ["a new browser", "another one"]) {
    const { page, requested } = await openElsewhere(link);
    await eventually(
      async () => assert.ok((await messages(page)).some((line) => line.includes("We do, for 9 euros."))),
      device,
    );
    assert.equal(new URL(page.url()).hash, "");
    assert.ok(!requested.some((line) => line.includes(proof)), "no server sees the proof in an address");
  }
  const events = async () => {
    const { notes } = await service.operators[0].call("GET", `conversations/${clara.conversationId}`);
    return notes.map(({ activity }) => activity?.event).filter((event) => event?.startsWith("mail"));
  };
  assert.deepEqual(await events(), ["mailed", "mail_opened"]);
});

test("A link that opens nothing leaves the address and the chat as they are", async () => {
  const { page } = await openElsewhere(`${shop.origin}/#chat-widget-mail=mail.forged`);
  await eventually(() => assert.equal(new URL(page.url()).hash, ""));
  await eventually(async () => assert.ok(await page.locator("[part~=composer]").isVisible()));
  const { page: other } = await openElsewhere(`${shop.origin}/#send-mail=1`);
  await eventually(async () => assert.ok(await other.locator("[part~=launcher]").isVisible()));
  assert.equal(new URL(other.url()).hash, "#send-mail=1");
});
