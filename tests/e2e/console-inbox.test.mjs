// The inbox of an operator: the list, a conversation, replies, notes and what is done with them.

import assert from "node:assert/strict";
import { eventually } from "./chat.mjs";
import { isInView } from "./console.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { articles, button, choose, field, list, log, newest, reply, row, seenBy } from "./inbox.mjs";
import { visitorOf } from "./team.mjs";

let owner;

withTeam({ names: ["Maren", "Noor"], fill: () => ([owner] = team.operators), waitTimeoutMs: 10_000 });

/** Runs a test with the inbox of the owner. */
const inboxTest = (sentence, body) => test(sentence, async () => body((await open()).page));

inboxTest("An operator answers a visitor, who sees the answer once", async (page) => {
  const anna = visitorOf(team, { name: "Anna Lindqvist", email: "anna@example.com" });
  await anna.say("Can I talk to a real person? <img src=x onerror=alert(1)>");
  await row(page, "Anna Lindqvist").getByText("Wants a person").waitFor();
  await choose(page, "Anna Lindqvist");
  await log(page).getByText("<img src=x onerror=alert(1)>").waitFor();
  await reply(page, "**Maren** here. One moment.");
  await button(page, "Undo").waitFor();
  await eventually(async () => assert.equal((await seenBy(anna)).at(-1), "operator: **Maren** here. One moment."));
  await newest(page, "Maren here. One moment.");
  assert.equal((await seenBy(anna)).filter((line) => line.includes("One moment")).length, 1);
  assert.equal(await articles(page).last().locator("strong").innerText(), "Maren");
});

inboxTest("A note is seen by operators only, and looks different from a reply", async (page) => {
  const ben = visitorOf(team, { name: "Ben Okafor" });
  await ben.say("Is the blue mug in stock?");
  await choose(page, "Ben Okafor");
  await page.getByRole("radio", { name: "Note" }).check({ force: true });
  await field(page).fill("He asked twice already.");
  await button(page, "Add note").click();
  await log(page).getByText("He asked twice already.").waitFor();
  const colours = await log(page)
    .getByText("He asked twice already.")
    .evaluate((note) => {
      const background = (element) => {
        for (let one = element; one; one = one.parentElement) {
          const { backgroundColor } = getComputedStyle(one);
          if (backgroundColor !== "rgba(0, 0, 0, 0)") return backgroundColor;
        }
      };
      return [background(note), background(note.closest("[role=log]"))];
    });
  assert.notEqual(colours[0], colours[1]);
  assert.equal(
    (await seenBy(ben)).some((line) => line.includes("twice already")),
    false,
  );
});

inboxTest("What the stream brings before the response is shown once", async (page) => {
  const bela = visitorOf(team, { name: "Béla Novák" });
  await bela.say("Do the lids fit the large pot?");
  await choose(page, "Béla Novák");
  let respond;
  await page.route(/\/conversations\/[^/]+\/(notes|messages)$/, async (route) => {
    if (route.request().method() !== "POST") return route.fallback();
    const response = await route.fetch();
    respond = () => route.fulfill({ response });
  });
  const of = (text) => articles(page).filter({ hasText: text });
  for (const [text, kind, send] of [
    ["They do.", "Reply", "Send"],
    ["Asked about lids.", "Note", "Add note"],
  ]) {
    await page.getByRole("radio", { name: kind }).check({ force: true });
    await field(page).fill(text);
    await button(page, send).click();
    await of(text).and(page.locator(":not(.pending)")).waitFor();
    await eventually(() => assert.ok(respond, "the service has answered"));
    assert.equal(await of(text).count(), 1, text);
    await respond();
    respond = undefined;
  }
  await newest(page, "Asked about lids.");
  assert.equal(await of("Asked about lids.").count(), 1);
});

inboxTest("A reply that is undone is not sent, and its text is in the field again", async (page) => {
  const cleo = visitorOf(team, { name: "Cleo Marchand" });
  await cleo.say("Do you ship to France?");
  const before = await seenBy(cleo);
  await choose(page, "Cleo Marchand");
  await reply(page, "No, we do nto.");
  await button(page, "Undo").click();
  await eventually(async () => assert.equal(await field(page).inputValue(), "No, we do nto."));
  assert.deepEqual(await seenBy(cleo), before);
  await field(page).fill("Yes, in four days.");
  await button(page, "Send").click();
  await eventually(async () => assert.equal((await seenBy(cleo)).at(-1), "operator: Yes, in four days."));
  assert.equal((await seenBy(cleo)).length, before.length + 1);
});

inboxTest("A reply is sent when the page is left before the five seconds are over", async (page) => {
  const dana = visitorOf(team, { name: "Dana Petrov" });
  await dana.say("Is the shop open on Sunday?");
  await choose(page, "Dana Petrov");
  await reply(page, "From ten to four.");
  await button(page, "Undo").waitFor();
  await page.goto("about:blank");
  await page.goto(new URL("/console/", team.address).href);
  await eventually(async () => assert.equal((await seenBy(dana)).at(-1), "operator: From ten to four."));
  assert.equal((await seenBy(dana)).filter((line) => line.includes("ten to four")).length, 1);
});

inboxTest("Drafts stay with their conversation and kind, also after a reload", async (page) => {
  const eli = visitorOf(team, { name: "Eli Novak" });
  const fay = visitorOf(team, { name: "Fay Sorensen" });
  await eli.say("Where is my order?");
  await fay.say("Can I return a mug?");
  await choose(page, "Eli Novak");
  await field(page).fill("A reply that I begin");
  await page.getByRole("radio", { name: "Note" }).check({ force: true });
  await field(page).fill("A note that I begin");
  await choose(page, "Fay Sorensen");
  assert.equal(await field(page).inputValue(), "");
  await page.reload();
  await choose(page, "Eli Novak");
  await page.getByRole("radio", { name: "Reply" }).check({ force: true });
  await eventually(async () => assert.equal(await field(page).inputValue(), "A reply that I begin"));
  await page.getByRole("radio", { name: "Note" }).check({ force: true });
  await eventually(async () => assert.equal(await field(page).inputValue(), "A note that I begin"));
});

inboxTest("What is typed and read stays in place while messages come in", async (page) => {
  const gus = visitorOf(team, { name: "Gus Lind" });
  for (let number = 1; number <= 12; number += 1) await gus.say(`Question ${number}. `.repeat(30));
  await choose(page, "Gus Lind");
  await newest(page, "");
  await field(page).fill("I am still typing");
  await log(page).evaluate((box) => box.scrollTo(0, box.scrollHeight / 3));
  const reading = async () => {
    const tops = await articles(page).evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
    return tops.slice(0, 12).map(Math.round);
  };
  await eventually(async () => {
    const [one, two] = [await reading(), await reading()];
    assert.deepEqual(one, two);
  });
  const before = await reading();
  await gus.say("Are you there?");
  await page.getByRole("button", { name: /new message/ }).waitFor();
  assert.deepEqual(await reading(), before);
  assert.equal(await field(page).inputValue(), "I am still typing");
  await page.getByRole("button", { name: /new message/ }).click();
  await log(page).getByText("Are you there?").waitFor();
  await eventually(async () => isInView(articles(page).last(), "[role=log]"));
});

inboxTest("A reply that closes its conversation can be taken back from the next one", async (page) => {
  const jon = visitorOf(team, { name: "Jon Vik" });
  await jon.say("That was all, thank you");
  await choose(page, "Jon Vik");
  await field(page).fill("You are welcome");
  await page.keyboard.press("Control+Enter");
  const undo = page.locator(".toast").getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await isInView(undo, "body");
  await undo.click();
  await eventually(async () => assert.equal(await field(page).inputValue(), "You are welcome"));
  await log(page).getByText("That was all, thank you").waitFor();
  assert.equal(await log(page).getByText("You are welcome").count(), 0);
  const { status } = await team.operators[0].call("GET", `conversations/${jon.conversationId}`);
  assert.notEqual(status, "closed");
});

inboxTest("Undo of a reply that closed its conversation leaves a later reply alone", async (page) => {
  const kai = visitorOf(team, { name: "Kai Moen" });
  const lea = visitorOf(team, { name: "Lea Brun" });
  await kai.say("That was all, thank you");
  await lea.say("Do you ship to Norway?");
  await choose(page, "Kai Moen");
  await field(page).fill("You are welcome");
  await page.keyboard.press("Control+Enter");
  const undo = page.locator(".toast").getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await choose(page, "Lea Brun");
  await reply(page, "Yes, in a week.");
  await undo.click();
  await log(page).getByText("That was all, thank you").waitFor();
  await eventually(async () => assert.equal(await field(page).inputValue(), "You are welcome"));
  await eventually(async () => assert.equal((await seenBy(lea)).at(-1), "operator: Yes, in a week."));
  assert.equal(
    (await seenBy(kai)).some((line) => line.includes("You are welcome")),
    false,
  );
});

inboxTest("Earlier messages load on scrolling up, and what is read does not jump", async (page) => {
  const hana = visitorOf(team, { name: "Hana Sato" });
  for (let number = 1; number <= 40; number += 1) await hana.say(`Message number ${number}`);
  await choose(page, "Hana Sato");
  await newest(page, "");
  const first = async () => (await articles(page).first().innerText()).replace(/\s+/g, " ");
  assert.doesNotMatch(await first(), /Message number 1$/);
  await eventually(async () => {
    await log(page).evaluate((box) => box.scrollTo(0, 0));
    await log(page).getByText("Message number 1", { exact: true }).waitFor({ timeout: 1000 });
  });
  const texts = await articles(page).evaluateAll((all) => all.map((one) => one.textContent));
  assert.equal(texts.filter((text) => /Message number \d+/.test(text)).length, 40, "each message once");
});

inboxTest("Filters, views and the search are in the address, and the Back button returns", async (page) => {
  const ivo = visitorOf(team, { name: "Ivo Brandt" });
  await ivo.say("A question about xylophones");
  await page.getByRole("searchbox").fill("xylophones");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.match(page.url(), /q=xylophones/));
  await eventually(async () => assert.equal(await list(page).getByRole("link").count(), 1));
  await row(page, "Ivo Brandt").waitFor();
  const address = page.url();
  await choose(page, "Ivo Brandt");
  await button(page, "Close").click();
  await eventually(async () => {
    const { status } = await owner.call("GET", `conversations/${ivo.conversationId}`);
    assert.equal(status, "closed");
  });
  await page.goto(new URL("/console/inbox?view=closed", team.address).href);
  await row(page, "Ivo Brandt").waitFor();
  await page.goto(address);
  await row(page, "Ivo Brandt").waitFor();
  await page.goBack();
  await eventually(async () => assert.match(page.url(), /view=closed/));
  await row(page, "Ivo Brandt").waitFor();
});

inboxTest("A canned reply is inserted by its shortcut, with the visitor's name", async (page) => {
  await owner.call("POST", "replies", { shortcut: "hello", text: "Hello {{visitor.name}}, {{operator.name}} here." });
  const jo = visitorOf(team, { name: "Jo Almeida" });
  await jo.say("Hi");
  await page.reload();
  await choose(page, "Jo Almeida");
  await field(page).pressSequentially("/hel");
  await page.getByRole("option").filter({ hasText: "hello" }).waitFor();
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await field(page).inputValue(), "Hello Jo Almeida, Maren here."));
});

inboxTest("The keyboard alone opens, answers and closes a conversation", async (page) => {
  const kim = visitorOf(team, { name: "Kim Larsen" });
  await kim.say("Do you have gift cards?");
  await row(page, "Kim Larsen").waitFor();
  // Those who have waited longer are above.
  const above = await row(page, "Kim Larsen").evaluate((own) => [...document.querySelectorAll("a.row")].indexOf(own));
  for (let opened = 0; opened <= above; opened += 1) await page.keyboard.press("j");
  await page.getByRole("heading", { name: "Kim Larsen" }).first().waitFor();
  await articles(page).first().waitFor();
  await page.keyboard.press("r");
  await eventually(async () =>
    assert.equal(await field(page).evaluate((element) => element === document.activeElement), true),
  );
  await page.keyboard.type("Yes, from ten euros.");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal((await seenBy(kim)).at(-1), "operator: Yes, from ten euros."));
  await page.keyboard.press("Escape");
  await page.keyboard.press("e");
  await eventually(async () => {
    const { status } = await owner.call("GET", `conversations/${kim.conversationId}`);
    assert.equal(status, "closed");
  });
});
