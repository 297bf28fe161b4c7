// Several operators at once, and a service or a network that goes away.

import assert from "node:assert/strict";
import { eventually, see } from "./chat.mjs";
import { isInView } from "./console.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { articles, button, choose, field, log, newest, reply, row, seenBy } from "./inbox.mjs";
import { visitorOf } from "./team.mjs";

withTeam({ names: ["Maren", "Noor"], testTimeoutMs: 120_000, waitTimeoutMs: 10_000 });

/** Opens the console of each operator. Returns the pages. */
async function consoles(path) {
  const opened = await Promise.all(team.operators.map((operator) => open(path, operator)));
  return opened.map(({ page }) => page);
}

test("Of two operators who take over at the same moment one wins, and the other is told who", async () => {
  const anna = visitorOf(team, { name: "Anna Lindqvist" });
  await anna.say("Can I talk to a real person?");
  const pages = await consoles(`/console/inbox/${anna.conversationId}`);
  for (const page of pages) await button(page, "Take over").waitFor();
  // Both ask on the same state of the conversation: neither request goes on before both are there.
  const held = [];
  for (const page of pages) await page.route("**/take-over", (route) => void held.push(route));
  await Promise.all(pages.map((page) => button(page, "Take over").click()));
  await eventually(() => assert.equal(held.length, 2));
  await Promise.all(held.map((route) => route.continue()));
  const winner = await eventually(async () => {
    const { assigneeId } = await team.operators[0].call("GET", `conversations/${anna.conversationId}`);
    assert.ok(assigneeId);
    return assigneeId;
  });
  const lost = team.operators.findIndex(({ id }) => id !== winner);
  const { name } = team.operators[1 - lost];
  const told = (page, text) => page.getByRole("region", { name: "Notices" }).getByText(text).first();
  await told(pages[1 - lost], /^The conversation is yours/).waitFor();
  await told(pages[lost], `${name} has taken this conversation over.`).waitFor();
  await isInView(told(pages[lost], `${name} has taken this conversation over.`), "body");
});

test("An operator sees that a colleague is typing, and the reply when it is there", async () => {
  const ben = visitorOf(team, { name: "Ben Okafor" });
  await ben.say("Is anybody there?");
  const [maren, noor] = await consoles(`/console/inbox/${ben.conversationId}`);
  await articles(maren).first().waitFor();
  await articles(noor).first().waitFor();
  await field(maren).pressSequentially("Yes, I am");
  await noor.getByText("Maren is typing a reply").waitFor();
  await button(maren, "Send").click();
  await newest(noor, "Yes, I am");
});

test("A visitor's message appears without a reload, and counts as seen once the visitor has polled", async () => {
  const cleo = visitorOf(team, { name: "Cleo Marchand" });
  await cleo.say("Hello");
  const [maren] = await consoles();
  await choose(maren, "Cleo Marchand");
  await cleo.say("It is about order 4711");
  await log(maren).getByText("It is about order 4711").waitFor();
  await reply(maren, "I am looking.");
  await eventually(async () => assert.equal((await seenBy(cleo)).at(-1), "operator: I am looking."));
  await log(maren).getByText("Sent").last().waitFor();
  const messages = await cleo.poll();
  await cleo.poll(messages.at(-1).id);
  await log(maren).getByText("Seen").last().waitFor();
});

test("Without a network nothing typed is lost, and what was missed comes when it is back", async () => {
  const dana = visitorOf(team, { name: "Dana Petrov" });
  await dana.say("Hello");
  const [maren] = await consoles();
  await choose(maren, "Dana Petrov");
  await maren.context().setOffline(true);
  await dana.say("Are you still there?");
  await reply(maren, "Sent without a network.");
  await field(maren).fill("And a draft");
  await maren.context().setOffline(false);
  await log(maren).getByText("Are you still there?").waitFor({ timeout: 60_000 });
  await eventually(
    async () => assert.equal((await seenBy(dana)).filter((line) => line.includes("without a network")).length, 1),
    60_000,
  );
  assert.equal(await field(maren).inputValue(), "And a draft");
  await row(maren, "Dana Petrov").waitFor();
});

/** Opens the console of the owner with a clock that the test moves, and a conversation of a new visitor. */
async function consoleWithClock(name) {
  const visitor = visitorOf(team, { name });
  await visitor.say("Hello");
  const { page } = await open(undefined, undefined, { prepare: (page) => page.clock.install() });
  await choose(page, name);
  return { visitor, page };
}

test("A reply whose response never comes is sent again after a minute, and arrives once", async () => {
  const { visitor, page } = await consoleWithClock("Eli Novak");
  let attempts = 0;
  let hasFirst = false;
  await page.route(/\/conversations\/[^/]+\/messages$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    attempts += 1;
    if (attempts > 1) return route.continue();
    // The service has the first one, and its response is lost. The stream may bring the reply from then on.
    await log(page).getByText("Sending").waitFor();
    await route.fetch();
    hasFirst = true;
  });
  await reply(page, "Answered into the dark.");
  await page.clock.runFor(5_000);
  await eventually(() => hasFirst);
  await page.clock.runFor(60_000);
  await eventually(async () => {
    await page.clock.runFor(1_000);
    assert.equal(attempts, 2);
  });
  const sent = articles(page).filter({ hasText: "into the dark" });
  await sent.and(page.locator(":not(.pending)")).waitFor();
  assert.equal(await sent.count(), 1);
  assert.equal((await seenBy(visitor)).filter((line) => line.includes("into the dark")).length, 1);
});

test("A hidden tab keeps its stream, although its timers run once a minute", async () => {
  const { page } = await consoleWithClock("Fay Sorensen");
  let streams = 0;
  page.on("request", (request) => void (streams += request.url().endsWith("/stream") ? 1 : 0));
  await see(page, "hidden");
  for (let minute = 0; minute < 3; minute += 1) await page.clock.fastForward(61_000);
  await see(page, "visible");
  await page.clock.fastForward(5_000);
  await page.clock.runFor(5_000);
  assert.equal(streams, 0);
  // A sleep is noticed all the same.
  await see(page, "hidden");
  await page.clock.fastForward("08:00:00");
  await eventually(() => assert.equal(streams, 1));
});
