// The console's conversations: the list and its order, dates and times, and events while the operator writes a reply.

import assert from "node:assert/strict";
import { ask, eventually, hold, openChat } from "./chat.mjs";
import { changeAnswers, choose, entry, isInView, newestIsInView, visitorOf } from "./console.mjs";
import { test } from "./harness.mjs";

const SENDING = /\/operator\/api\/conversations\/[^/]+\/messages$/;

/** Returns the names in the list, from the top. */
const names = (console) => console.locator("#conversations .name").allInnerTexts();
const field = (console) => console.getByLabel("Your answer");
const isFocused = (locator) => locator.evaluate((element) => element === document.activeElement);
/** Waits until an entry of the list has the focus. Each change of the list re-creates its entries. */
const keepsFocus = (locator) => eventually(async () => assert.ok(await isFocused(locator), "the entry has the focus"));

test("The list shows the visitor's last message and its time, also after a reply", async ({
  operator,
  server,
  service,
}) => {
  const visitor = visitorOf(service, "Anna Lindqvist");
  await visitor.say("How long does **delivery** take?");
  await visitor.hears("Three days.");
  const { messages } = await server.conversation();
  const console = await operator();
  const anna = entry(console, "Anna Lindqvist");
  await anna.getByText("How long does **delivery** take?").waitFor();
  for (const part of [".name", ".last", "time"]) await isInView(anna.locator(part), ".list");
  assert.doesNotMatch(await anna.innerText(), /Three days/);
  const time = anna.locator("time");
  assert.equal(await time.getAttribute("datetime"), messages[0].createdAt);
  assert.match(await time.innerText(), /^\d\d:\d\d$/);
  assert.match(await time.getAttribute("title"), /^\w+day,? \d+ \w+ \d{4} at \d\d:\d\d:\d\d$/);
});

test("A visitor who asked for a person is marked and listed first until an operator replies", async ({
  operator,
  service,
}) => {
  const [anna, ben] = [visitorOf(service, "Anna"), visitorOf(service, "Ben")];
  await anna.say("Can I talk to a real person?");
  await ben.say("How much is a mug?");
  const console = await operator();
  const mark = entry(console, "Anna").getByText("Wants a person", { exact: true });
  await mark.waitFor();
  await isInView(mark, ".list");
  assert.deepEqual(await names(console), ["Anna", "Ben"]);
  assert.equal(await entry(console, "Ben").locator(".tag").count(), 0);

  await anna.say("It is about my order");
  await entry(console, "Anna").getByText("It is about my order").waitFor();
  await isInView(mark, ".list");

  await choose(console, "Anna");
  const header = console.locator(".talk-head").getByText("Wants a person");
  await isInView(header, ".talk-head");
  await field(console).fill("Maren here.");
  await field(console).press("Enter");
  await mark.waitFor({ state: "detached" });
  await header.waitFor({ state: "hidden" });
  assert.equal(await console.locator("#lead").getByText("Wants a person", { exact: true }).count(), 0);

  await ben.say("Hello?");
  await eventually(async () => assert.deepEqual(await names(console), ["Ben", "Anna"]));
  await anna.say("Can somebody call me?");
  await mark.waitFor();
  await ben.say("Hello??");
  await entry(console, "Ben").getByText("Hello??").waitFor();
  assert.deepEqual(await names(console), ["Anna", "Ben"]);
});

test("Dates before today name their day in the list and above the messages, also after midnight", async ({
  operator,
  service,
}) => {
  const NOW = new Date(2026, 5, 15, 12, 0);
  const sentAt = {
    "How much is a mug?": new Date(2025, 11, 31, 23, 59),
    "Do you ship to Germany?": new Date(2026, 2, 12, 9, 14),
    "How long does delivery take?": new Date(2026, 5, 14, 17, 40),
    "Can I get a refund?": new Date(2026, 5, 15, 9, 5),
  };
  const texts = Object.keys(sentAt);
  for (const [index, name] of ["Ben", "Cleo", "Dora"].entries()) await visitorOf(service, name).say(texts[index]);
  const emil = visitorOf(service, "Emil");
  // The last day has more messages than fit into the log.
  for (const text of [...texts, ...Array(5).fill(texts.at(-1))]) await emil.say(text);

  const console = await operator();
  await console.clock.setFixedTime(NOW);
  let last = NOW;
  const dated = (message) =>
    message && { ...message, createdAt: (last = sentAt[message.content] ?? last).toISOString() };
  await changeAnswers(console, (conversation) => ({
    ...conversation,
    lastVisitorMessage: dated(conversation.lastVisitorMessage),
    ...(conversation.messages && { messages: conversation.messages.map(dated) }),
  }));
  await console.reload();
  const times = { Ben: "31 December 2025, 23:59", Cleo: "12 March, 09:14", Dora: "Yesterday, 17:40", Emil: "09:05" };
  for (const [name, time] of Object.entries(times)) {
    await entry(console, name).waitFor();
    assert.equal(await entry(console, name).locator("time").innerText(), time);
    await isInView(entry(console, name).locator("time"), ".list");
  }
  assert.match(
    await entry(console, "Cleo").locator("time").getAttribute("title"),
    /^Thursday,? 12 March 2026 at 09:14:00$/,
  );

  await choose(console, "Emil");
  const captions = console.locator("#log .caption");
  assert.deepEqual(await captions.allInnerTexts(), ["31 December 2025", "Thursday 12 March", "Yesterday", "Today"]);
  assert.match(await captions.nth(1).locator("time").getAttribute("title"), /^Thursday,? 12 March 2026$/);
  assert.match(await console.locator("#log .by").first().innerText(), /^Visitor, 23:59$/);
  // The day of the visible messages is in view, also when they fill the log.
  await isInView(captions.last(), "#log");
  const earlier = console.locator("#log article").filter({ hasText: "Do you ship to Germany?" });
  await earlier.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await isInView(captions.nth(1), "#log");

  await console.clock.setFixedTime(new Date(2026, 5, 16, 0, 1));
  await console.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  assert.equal(await captions.last().innerText(), "Yesterday");
  assert.equal(await captions.nth(2).innerText(), "Sunday 14 June");
  assert.equal(await entry(console, "Emil").locator("time").innerText(), "Yesterday, 09:05");
});

for (const [way, send] of [
  ["Enter", (console) => field(console).press("Enter")],
  ["the button", (console) => console.getByRole("button", { name: "Send" }).click()],
]) {
  test(`After sending with ${way} the field keeps the focus and new text, and the reply is in view`, async ({
    operator,
    service,
  }) => {
    await visitorOf(service, "Anna").say("How much is a mug?");
    const console = await operator();
    await choose(console, "Anna");
    assert.ok(await isFocused(field(console)), "the field is ready for a reply");
    const sending = await hold(console, SENDING);
    await field(console).fill("24.00, Anna.");
    await send(console);
    await sending.requested;
    assert.ok(await isFocused(field(console)), "while it is sent");
    await field(console).press("End");
    await console.keyboard.type(" And 30.00 with a lid.");
    sending.release();
    await console.locator("#log .operator").waitFor();
    await eventually(async () => assert.equal(await field(console).inputValue(), "And 30.00 with a lid."));
    assert.ok(await isFocused(field(console)), "when it was sent");
    await newestIsInView(console, "24.00, Anna.");
    await send(console);
    await eventually(() => newestIsInView(console, "And 30.00 with a lid."));
    assert.equal(await field(console).inputValue(), "");
    assert.ok(await isFocused(field(console)));
  });
}

test("A reply that could not be sent stays in the focused field, with the error in view", async ({
  operator,
  service,
}) => {
  await visitorOf(service, "Anna").say("How much is a mug?");
  const console = await operator();
  await choose(console, "Anna");
  await console.route(SENDING, (route) => route.abort("connectionrefused"));
  await field(console).fill("24.00, Anna.");
  await console.getByRole("button", { name: "Send" }).click();
  const problem = console.getByRole("alert").getByText("Not sent");
  await problem.waitFor();
  await isInView(problem, ".answer");
  assert.equal(await field(console).inputValue(), "24.00, Anna.");
  assert.ok(await isFocused(field(console)));
});

test("A draft and the focus survive new messages and a switch to another conversation", async ({
  operator,
  service,
}) => {
  const [anna, ben] = [visitorOf(service, "Anna"), visitorOf(service, "Ben")];
  await anna.say("How much is a mug?");
  await ben.say("Hello");
  const console = await operator();
  await choose(console, "Anna");
  await field(console).fill("24.00, ");
  await anna.say("And a bowl?");
  await console.locator("#log").getByText("And a bowl?").waitFor();
  await ben.say("Can I talk to a person?");
  await entry(console, "Ben").getByText("Wants a person").waitFor();
  assert.ok(await isFocused(field(console)), "new messages do not take the focus");
  await console.keyboard.type("Anna.");
  assert.equal(await field(console).inputValue(), "24.00, Anna.");

  await choose(console, "Ben");
  assert.equal(await field(console).inputValue(), "");
  await entry(console, "Anna").focus();
  await anna.say("And a jug?");
  await entry(console, "Anna").getByText("And a jug?").waitFor();
  await keepsFocus(entry(console, "Anna"));
  await console.keyboard.press("Enter");
  await eventually(async () => assert.equal(await field(console).inputValue(), "24.00, Anna."));
});

test("The log stays scrolled to its end when it shrinks, and keeps its position when scrolled back", async ({
  operator,
  service,
}) => {
  const anna = visitorOf(service, "Anna");
  for (let turn = 1; turn <= 8; turn += 1) await anna.say(`Is this question number ${turn}?`);
  const console = await operator();
  await choose(console, "Anna");
  const log = console.locator("#log");
  await isInView(log.locator("article").last(), "#log");
  await anna.hears("Yes, it is.");
  await eventually(() => newestIsInView(console, "Yes, it is."));
  await console.setViewportSize({ width: 800, height: 480 });
  await eventually(() => newestIsInView(console, "Yes, it is."));
  await console.setViewportSize({ width: 1024, height: 720 });
  await eventually(() => newestIsInView(console, "Yes, it is."));

  const early = log.locator("article").filter({ hasText: "question number 2?" });
  await log.hover();
  await early.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const place = async () => (await early.boundingBox()).y;
  const before = await place();
  await anna.say("Are you there?");
  await log.getByText("Are you there?").waitFor({ state: "attached" });
  assert.equal(await place(), before);
  await isInView(early, "#log");
  await field(console).fill("I am.");
  await field(console).press("Enter");
  await eventually(() => newestIsInView(console, "I am."));
});

test("On a phone the console shows one pane at a time: the list, the messages or the visitor's details", async ({
  visit,
  operator,
}) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  const console = await operator();
  await console.setViewportSize({ width: 375, height: 667 });
  const shown = async (expected) => {
    const places = { list: ".list", messages: "#log", about: "#about" };
    await eventually(async () => {
      const visible = await Promise.all(Object.values(places).map((place) => console.locator(place).isVisible()));
      assert.deepEqual(
        Object.keys(places).filter((_, index) => visible[index]),
        [expected],
      );
    });
  };
  await shown("list");
  await console.locator("#conversations button").click();
  await shown("messages");
  await console.getByRole("button", { name: "About" }).click();
  await shown("about");
  await console.locator("#about").getByText("Language").waitFor();
  await console.getByRole("button", { name: "About" }).click();
  await shown("messages");
  await console.getByRole("button", { name: "Back" }).click();
  await shown("list");
  await keepsFocus(console.locator("#conversations button"));
  assert.equal(
    await console.evaluate(() => document.documentElement.scrollWidth),
    375,
    "nothing is wider than the screen",
  );
});

test("On a phone long names and long words do not overflow the screen", async ({ operator, service }) => {
  const name = `Bartholomew ${"Featherstonehaugh-".repeat(6)} of Northumberland`;
  const visitor = visitorOf(service, name);
  await visitor.say(`Can I talk to a person about https://shop.example/${"pot".repeat(80)}?`);
  await visitor.hears(
    `\`\`\`\n${"x".repeat(300)}\n\`\`\`\n\n${"y".repeat(300)}\n\n|${"a column|".repeat(12)}\n|${"-|".repeat(12)}`,
  );
  const console = await operator();
  await console.setViewportSize({ width: 390, height: 844 });
  const overflow = () => console.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await isInView(entry(console, "Bartholomew").locator("time"), ".list");
  assert.equal(await overflow(), 0);
  await choose(console, "Bartholomew");
  assert.equal(await overflow(), 0);
  for (const button of ["Back", "About"]) await isInView(console.getByRole("button", { name: button }), ".talk-head");
  await isInView(console.getByRole("button", { name: "Send" }), ".answer");
  assert.equal(await console.locator("#log").evaluate((log) => log.scrollWidth - log.clientWidth), 0);
  const words = console.locator("#log .visitor .bubble");
  await words.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await isInView(words, "#log");
});
