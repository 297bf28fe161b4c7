// A phone, 375 px wide.

import assert from "node:assert/strict";
import { ask, eventually, part } from "./chat.mjs";
import { test } from "./harness.mjs";

const PHONE = { viewport: { width: 375, height: 812 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };

const box = (page, name) =>
  part(page, name).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height];
  });

/** Returns the distance by which the page can be scrolled sideways. */
const sideways = (page) =>
  page.evaluate(() => document.scrollingElement.scrollWidth - document.documentElement.clientWidth);

async function tapOpen(page) {
  await part(page, "launcher").tap();
  await part(page, "input").waitFor();
  // The window opens with an animation.
  await part(page, "window").evaluate((window) => Promise.all(window.getAnimations().map(({ finished }) => finished)));
}

test("On a phone the window fills the screen without the launcher, with readable text and large targets", async ({
  visit,
}) => {
  const page = await visit(PHONE);
  await part(page, "launcher").waitFor();
  assert.equal(await sideways(page), 0);
  await tapOpen(page);
  assert.deepEqual(await box(page, "window"), [0, 0, 375, 812]);
  assert.equal(await part(page, "launcher").isVisible(), false);
  // Browsers zoom into inputs with text below 16 px.
  assert.equal(await part(page, "input").evaluate((input) => getComputedStyle(input).fontSize), "16px");
  for (const name of ["close", "send"]) {
    const [, , width, height] = await box(page, name);
    assert.ok(width >= 36 && height >= 36, `${name} has ${width} by ${height} px`);
  }
  assert.equal(await sideways(page), 0);
  await ask(page, "How long does delivery take?");
  await part(page, "close").tap();
  await part(page, "window").waitFor({ state: "detached" });
  assert.equal(await part(page, "launcher").isVisible(), true);
});

test("Long words and long lines do not scroll the window sideways", async ({ visit, server }) => {
  const long = `${"Donaudampfschifffahrtsgesellschaft".repeat(12)} https://shop.example/${"path/".repeat(60)}`;
  await server.setFaults({
    config: { assistantName: long, welcomeMessage: long },
    presence: { suggestedMessageIntervalMs: 1 },
  });
  const page = await visit(PHONE);
  await tapOpen(page);
  await ask(page, long);
  await server.operatorSays(long);
  await part(page, "message-operator").waitFor();
  assert.equal(await sideways(page), 0);
  for (const name of ["log", "window"]) {
    const wider = await part(page, name).evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
    assert.equal(wider, 0, name);
  }
});

test("The newest message is in view when the conversation is longer than the screen", async ({ visit }) => {
  const page = await visit(PHONE);
  await tapOpen(page);
  for (const question of ["How long does delivery take?", "Are the mugs dishwasher safe?", "Can I book a workshop?"]) {
    await ask(page, question);
  }
  const isAtEnd = () =>
    part(page, "log").evaluate((log) => {
      const last = [...log.querySelectorAll("[part~=message]")].at(-1).getBoundingClientRect();
      const { top, bottom } = log.getBoundingClientRect();
      return log.scrollHeight > log.clientHeight && last.bottom <= bottom + 1 && last.bottom > top;
    });
  await eventually(async () => assert.equal(await isAtEnd(), true));
});
