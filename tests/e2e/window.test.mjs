// The window: its placement, drafts, greeting, contact form, data panel and sound.

import assert from "node:assert/strict";
import { text as readText } from "node:stream/consumers";
import { ask, eventually, focused, openChat, openMyData, part, ready, stored, allFilesLoaded } from "./chat.mjs";
import { test } from "./harness.mjs";
import { FAST_POLLING } from "./sandbox.mjs";

const QUESTION = "How long does delivery take?";
const PHONE = { viewport: { width: 375, height: 700 }, isMobile: true, hasTouch: true };

/** Replaces the script tag's widget by one with these options. */
async function mount(page, options) {
  await ready(page);
  await page.evaluate(async (options) => {
    window.chatWidget.destroy();
    const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
    window.mounted = await ChatWidget.mount({ proxy: "/connector", ...options });
  }, options);
}

/** Opens a page whose visitor has asked a question, with fast polling. */
async function inConversation(visit, server) {
  await server.setFaults(FAST_POLLING);
  const page = await visit();
  await openChat(page);
  await ask(page, QUESTION);
  return page;
}

const addToPage = (page, html) =>
  page.evaluate((made) => {
    const element = document.createElement(made.tag);
    element.id = made.id;
    element.textContent = made.text ?? "";
    document.body.prepend(element);
  }, html);

test("In a container the window is inline, always open and as large as the container", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  await addToPage(page, { tag: "div", id: "room" });
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync("#room { width: 400px; height: 500px }");
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  });
  await mount(page, { container: "#room" });
  await part(page, "input").waitFor();
  const { width, height } = await part(page, "window").boundingBox();
  assert.deepEqual([width, height], [400, 500]);
  assert.equal(await part(page, "launcher").count(), 0);
  assert.equal(await part(page, "window").getAttribute("role"), "region");
  await ask(page, QUESTION);
  await part(page, "input").press("Escape");
  await page.evaluate(() => window.mounted.close());
  assert.equal(await part(page, "window").count(), 1, "there is nothing to close");
});

test("A missing container is reported by its selector, and nothing is mounted", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  const refusal = await page.evaluate(async () => {
    window.chatWidget.destroy();
    const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
    return ChatWidget.mount({ proxy: "/connector", container: "#nowhere" }).catch((error) => error.message);
  });
  assert.match(refusal, /container .*#nowhere/);
  assert.equal(await page.locator("chat-widget").count(), 0);
});

test("The page's own launcher opens and closes the window, sets aria-expanded and gets the focus back", async ({
  visit,
}) => {
  const page = await visit();
  await ready(page);
  await addToPage(page, { tag: "button", id: "talk", text: "Talk to us" });
  await mount(page, { launcher: "#talk" });
  const button = page.locator("#talk");
  assert.equal(await part(page, "launcher").count(), 0);
  assert.equal(await button.getAttribute("aria-expanded"), "false");
  await button.click();
  await part(page, "input").waitFor();
  await eventually(async () => assert.equal(await focused(page), "input"));
  assert.equal(await button.getAttribute("aria-expanded"), "true");
  await page.keyboard.press("Escape");
  await part(page, "window").waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await page.evaluate(() => document.activeElement.id), "talk"));
  assert.equal(await button.getAttribute("aria-expanded"), "false");
});

test("With isolate: false the widget looks the same, and destroy() removes its styles", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  const looks = () =>
    part(page, "header").evaluate((header) => {
      const { backgroundColor, color, blockSize } = getComputedStyle(header);
      return [backgroundColor, color, blockSize];
    });
  const isolated = await looks();
  const sheets = () => page.evaluate(() => document.adoptedStyleSheets.length);
  const before = await sheets();
  await mount(page, { isolate: false });
  assert.equal(await page.evaluate(() => document.querySelector("chat-widget").shadowRoot), null);
  await openChat(page);
  assert.deepEqual(await looks(), isolated);
  await ask(page, QUESTION);
  await page.evaluate(() => window.mounted.destroy());
  assert.equal(await sheets(), before);
});

test("The options offset, zIndex and themeTokens take effect", async ({ visit }) => {
  const page = await visit();
  await mount(page, { offset: { x: 40, y: 60 }, zIndex: 7, theme: "custom", themeTokens: { accent: "rgb(1, 2, 3)" } });
  const { x, y, width, height } = await part(page, "launcher").boundingBox();
  assert.deepEqual([1024 - x - width, 720 - y - height], [40, 60]);
  const [stack, colour] = await part(page, "launcher").evaluate((launcher) => {
    const { zIndex, backgroundColor } = getComputedStyle(launcher);
    return [zIndex, backgroundColor];
  });
  assert.deepEqual([stack, colour], ["7", "rgb(1, 2, 3)"]);
});

test("F6 moves the focus into the window and back to the previous element", async ({ visit }) => {
  const page = await visit();
  await allFilesLoaded(page);
  await addToPage(page, { tag: "button", id: "here", text: "Here" });
  await page.locator("#here").focus();
  await page.keyboard.press("F6");
  assert.equal(await focused(page), "launcher");
  await page.keyboard.press("F6");
  assert.equal(await page.evaluate(() => document.activeElement.id), "here");
  await openChat(page);
  await page.locator("#here").focus();
  await page.keyboard.press("F6");
  assert.equal(await focused(page), "input");
});

test("On a phone the window is a modal dialog that traps the focus and locks the page's scrolling", async ({
  visit,
}) => {
  const page = await visit(PHONE);
  await part(page, "launcher").tap();
  await part(page, "input").waitFor();
  const overflow = () => page.evaluate(() => document.documentElement.style.overflow);
  assert.equal(await part(page, "window").getAttribute("aria-modal"), "true");
  assert.equal(await overflow(), "hidden");
  const seen = new Set();
  for (let steps = 0; steps < 12; steps += 1) {
    await page.keyboard.press("Tab");
    seen.add(await focused(page));
  }
  assert.ok(!seen.has("page"), `the focus went to ${[...seen].join(", ")}`);
  assert.ok(seen.has("close") && seen.has("send"), `the focus went to ${[...seen].join(", ")}`);
  await part(page, "close").tap();
  await part(page, "window").waitFor({ state: "detached" });
  assert.equal(await overflow(), "");
  // On a large screen the focus is not trapped.
  await page.setViewportSize({ width: 1000, height: 800 });
  await openChat(page);
  assert.equal(await part(page, "window").getAttribute("aria-modal"), null);
  assert.equal(await overflow(), "");
});

test("A draft survives a reload and is cleared by sending", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await part(page, "input").fill("Is it possible that");
  await page.reload();
  await openChat(page);
  assert.equal(await part(page, "input").inputValue(), "Is it possible that");
  await ask(page, QUESTION);
  await page.reload();
  await openChat(page);
  assert.equal(await part(page, "input").inputValue(), "");
});

test("reset() erases the draft, also after a reload", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await part(page, "input").fill("Is it possible that");
  await page.evaluate(() => window.chatWidget.reset());
  await eventually(async () => assert.equal(await part(page, "input").inputValue(), ""));
  await page.reload();
  await openChat(page);
  assert.equal(await part(page, "input").inputValue(), "");
});

test("A line marks messages that arrived while the window was closed, until it is opened again", async ({
  visit,
  server,
}) => {
  const page = await inConversation(visit, server);
  await part(page, "close").click();
  await server.operatorSays("Anna here.");
  await server.operatorSays("Are you still there?");
  await part(page, "badge").getByText("2", { exact: true }).waitFor();
  await openChat(page);
  const line = part(page, "log").getByText("Unread messages");
  await line.waitFor();
  const below = await line.evaluate((line) => line.parentElement.querySelector(".cw-bubble").textContent);
  assert.equal(below, "Anna here.");
  await part(page, "close").click();
  await openChat(page);
  assert.equal(await line.count(), 0);
});

test("A scrolled-back log keeps its position and shows the number of new messages", async ({ visit, server }) => {
  await server.setFaults(FAST_POLLING);
  const page = await visit({ viewport: { width: 1024, height: 500 } });
  await openChat(page);
  for (const question of [QUESTION, "Are the mugs dishwasher safe?", "Can I book a workshop?"])
    await ask(page, question);
  await part(page, "log").evaluate((log) => (log.scrollTop = 0));
  const jump = page.locator("chat-widget .cw-jump");
  await jump.waitFor();
  await server.operatorSays("Anna here.");
  await eventually(async () => assert.equal(await jump.getAttribute("aria-label"), "1 new message"));
  await server.operatorSays("Hello?");
  await eventually(async () => assert.equal(await jump.getAttribute("aria-label"), "2 new messages"));
  assert.equal(await part(page, "log").evaluate((log) => log.scrollTop), 0);
  await jump.click();
  await jump.waitFor({ state: "detached" });
  await eventually(async () =>
    assert.ok(await part(page, "log").evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 2)),
  );
});

test("A live region outside the shadow root announces new messages once, and no earlier ones", async ({
  visit,
  server,
}) => {
  const page = await inConversation(visit, server);
  await server.operatorSays("Anna here.");
  const spoken = () =>
    page
      .locator("chat-widget > [aria-live]")
      .evaluate((region) => [...region.children].map((child) => child.textContent));
  await eventually(async () => assert.equal((await spoken()).at(-1), "Anna: Anna here."));
  const all = await spoken();
  assert.deepEqual(all.slice(1), ["Anna joined", "Anna: Anna here."]);
  assert.match(all[0], /^Clover: We pack on weekdays and parcels/, "the announcement has no Markdown");
  assert.equal(await part(page, "log").getAttribute("aria-live"), "off");
  await page.reload();
  await openChat(page);
  await part(page, "message-operator").waitFor();
  assert.deepEqual(await spoken(), []);
});

test("The greeting appears beside the closed launcher, opens the window, and stays dismissed", async ({ visit }) => {
  const page = await visit();
  const greet = { greeting: { text: "Shall I help you choose a mug?", after: 0 } };
  await mount(page, greet);
  await part(page, "preview").getByText("Shall I help").waitFor();
  await part(page, "preview").getByRole("button", { name: "Dismiss" }).click();
  await part(page, "preview").waitFor({ state: "detached" });
  assert.equal(await focused(page), "launcher");
  assert.equal((await stored(page))["chat-widget:greeted"], 1);
  await page.evaluate(() => window.mounted.destroy());
  await page.evaluate(() => localStorage.removeItem("chat-widget:greeted"));
  await page.reload();
  await mount(page, greet);
  await part(page, "preview").getByText("Shall I help").click();
  await part(page, "input").waitFor();
  assert.equal(await part(page, "preview").count(), 0);
  assert.equal((await stored(page))["chat-widget:greeted"], 1);
});

test("The contact form appears on a request for a person, validates its input and sends a message", async ({
  visit,
  server,
}) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "Can I talk to a real person?");
  const form = part(page, "form");
  await form.waitFor();
  await form.getByRole("button", { name: "Leave my details" }).click();
  await form.getByText("Please enter an e-mail address or a phone number.").waitFor();
  await form.getByLabel("E-mail").fill("anna@example");
  await form.getByRole("button", { name: "Leave my details" }).click();
  await form.getByText("Please check the e-mail address.").waitFor();
  assert.equal(await form.getByLabel("E-mail").getAttribute("aria-invalid"), "true");
  await part(page, "contact-more").click();
  await form.getByRole("textbox", { name: "Name" }).fill("Anna");
  await form.getByLabel("E-mail").fill("anna@example.com");
  await form.getByRole("button", { name: "Leave my details" }).click();
  await form.waitFor({ state: "detached" });
  await eventually(async () =>
    assert.ok((await server.messages()).includes("visitor: E-mail: anna@example.com\nName: Anna")),
  );
  await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
  await eventually(async () => {
    const lead = (await server.events()).find(({ eventType }) => eventType === "lead_submitted");
    assert.deepEqual(Object.keys(lead.eventData).sort(), ["conversationId", "formType"]);
  }, 20_000);
});

test("The data panel lists stored data, exports it as text, and erases it after a confirmation", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await openMyData(page);
  await part(page, "panel").getByText("Nothing is stored on this device yet.").waitFor();
  await page.keyboard.press("Escape");
  await part(page, "panel").waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await focused(page), "menu", "Escape returns to the open window"));
  await openMyData(page);
  await part(page, "back").click();
  await ask(page, QUESTION);
  await openMyData(page);
  await part(page, "panel").getByText("2 messages in this conversation").waitFor();
  const [download] = await Promise.all([page.waitForEvent("download"), part(page, "download").click()]);
  const text = await readText(await download.createReadStream());
  assert.match(text, /^Conversation with Clover\nhttp.*\n\n/);
  assert.match(text, new RegExp(`20\\d\\d.* You: ${QUESTION.replace("?", "\\?")}\n`));
  await part(page, "forget").click();
  await part(page, "forget-no").click();
  assert.ok((await stored(page))["chat-widget:conversation"], "the first click erases nothing");
  await part(page, "forget").click();
  await part(page, "forget-yes").click();
  await part(page, "panel").waitFor({ state: "detached" });
  await eventually(async () => assert.equal(await part(page, "message-visitor").count(), 0));
  assert.ok(!(await stored(page))["chat-widget:conversation"]?.entries?.length);
});

test("The sound is off until the visitor turns it on, and the choice is stored", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await part(page, "menu").click();
  const sound = page.getByRole("menuitemcheckbox", { name: "Sound" });
  assert.equal(await sound.isChecked(), false);
  await sound.click();
  assert.equal(await sound.isChecked(), true);
  await page.reload();
  await openChat(page);
  await part(page, "menu").click();
  assert.equal(await sound.isChecked(), true);
});

test("The time below a message is on one line", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await ask(page, "And to Norway?");
  const time = part(page, "message-visitor").first().locator(".cw-time");
  assert.match(await time.textContent(), /^\d+:\d\d\s[AP]M$/);
  const [height, line] = await time.evaluate((element) => [
    element.getBoundingClientRect().height,
    Number.parseFloat(getComputedStyle(element).lineHeight),
  ]);
  assert.equal(height, line);
});
