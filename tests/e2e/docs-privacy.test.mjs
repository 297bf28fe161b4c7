// The storage keys and the snippets of docs/privacy.md, tried on a page.

import assert from "node:assert/strict";
import { read, snippet } from "../docs-snippets.mjs";
import { SEND, ask, eventually, hold, openChat, part, ready, say, shopWith, stored } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf, pageWith } from "./pages.mjs";

const QUESTION = "How long does delivery take?";

/** Returns the keys in the browser's storage, without their variable parts. */
const kinds = (keys) =>
  [...new Set(keys.map((key) => key.replace(/^(chat-widget:(outbox|event|batch):).*/, "$1…")))].sort();

test("The browser stores exactly the keys of docs/privacy.md, and reset() leaves the documented ones", async ({
  visit,
  server,
}) => {
  const page = await visit({
    clock: true,
    prepare: async (page) => {
      // Includes keys that are stored for a moment only.
      await page.addInitScript(() => {
        const { setItem } = Storage.prototype;
        window.kept = { local: [], session: [] };
        Storage.prototype.setItem = function (key, text) {
          window.kept[this === localStorage ? "local" : "session"].push(key);
          setItem.call(this, key, text);
        };
      });
      await shopWith((html) => html.replace("data-proxy=", 'data-greeting="Hello" data-proxy='))(page);
    },
  });
  await ready(page);
  await page.clock.runFor(10_000);
  await part(page, "preview").getByText("Hello").click();
  await part(page, "input").waitFor();
  await ask(page, QUESTION);
  await part(page, "menu").click();
  await part(page, "sound").click();
  await part(page, "menu-contact").click();
  await part(page, "form").getByLabel("E-mail").fill("ann@example.com");
  await part(page, "contact-send").click();
  await part(page, "contact-done").waitFor();
  await server.setFaults({ trackingDisabled: true });
  await page.evaluate(() => window.chatWidget.track("quiz_done"));
  await page.clock.runFor(10_000);
  await eventually(async () =>
    assert.ok((await page.evaluate(() => window.kept.local)).includes("chat-widget:tracking")),
  );
  await part(page, "input").fill("A draft");
  await eventually(async () => assert.ok((await page.evaluate(() => window.kept.session)).length > 0));

  const kept = await page.evaluate(() => window.kept);
  const text = read("docs/privacy.md");
  const rows = text.split("\n").filter((line) => line.startsWith("| `chat-widget:"));
  const named = rows.flatMap((line) => [...line.split("|")[1].matchAll(/`([^`]+)`/g)].map(([, key]) => key));
  assert.deepEqual(kinds(kept.local), [...named].sort());
  const ofTab = text.match(/In `sessionStorage`.*/)[0].matchAll(/`(chat-widget[^`]+)`/g);
  assert.deepEqual(
    kinds(kept.session),
    [...ofTab].map(([, key]) => key),
  );
  assert.equal(await page.evaluate(() => document.cookie), "");

  await page.evaluate(() => window.chatWidget.reset());
  const left = ["config", "greeted", "sound", "tracking", "visitor"].map((name) => `chat-widget:${name}`);
  await eventually(async () => assert.deepEqual(Object.keys(await stored(page)).sort(), left));
  assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage)), ["chat-widget::open"]);
});

test("A customer's storage keys are named as docs/privacy.md says", async ({ visit }) => {
  const page = await visit({
    prepare: shopWith((html) => html.replace("data-proxy=", 'data-customer-id="ann" data-proxy=')),
  });
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "input").fill("A draft");
  const shared = ["chat-widget:config"];
  const others = async () =>
    Object.keys(await stored(page)).filter((key) => !shared.includes(key) && !key.endsWith("@ann"));
  assert.deepEqual(await others(), []);
  const draft = read("docs/privacy.md").match(/the draft is `([^`]+)`/)[1];
  const ofTab = [draft, draft.replace("draft", "open")];
  await eventually(async () => assert.deepEqual(await page.evaluate(() => Object.keys(sessionStorage).sort()), ofTab));
});

test("The consent page of docs/privacy.md stores nothing before consent, and remembers the choice", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: pageOf(snippet("docs/privacy.md", "Ask for consent: html")) });
  const keys = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("chat-widget:")));
  await openChat(page);
  await ask(page, QUESTION);
  assert.deepEqual([await keys(), recordOf(page).of("/connector/events")], [[], []]);
  await page.getByRole("button", { name: "I agree" }).click();
  await eventually(async () => assert.ok((await keys()).includes("chat-widget:conversation")));
  await page.reload();
  await openChat(page);
  await part(page, "message-visitor").getByText(QUESTION).waitFor();
});

test("The logout of docs/privacy.md erases the conversation", async ({ visit }) => {
  const tag = snippet("docs/site-owner.md", "For site owners: html");
  const page = await visit({
    prepare: pageWith(
      snippet("docs/privacy.md", "What a visitor can do: js"),
      `${tag}<button id="logout">Log out</button>`,
    ),
  });
  await openChat(page);
  await ask(page, QUESTION);
  const { visitorId } = (await stored(page))["chat-widget:visitor"];
  await page.locator("#logout").click();
  await eventually(async () => assert.equal(await part(page, "message-visitor").count(), 0));
  await eventually(async () => assert.notEqual((await stored(page))["chat-widget:visitor"].visitorId, visitorId));
  assert.equal((await stored(page))["chat-widget:conversation"], undefined);
});

test("An unsent message is in the outbox key of docs/privacy.md until it is delivered", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  const send = await hold(page, SEND);
  await say(page, QUESTION);
  await send.requested;
  assert.ok(kinds(Object.keys(await stored(page))).includes("chat-widget:outbox:…"));
  send.release();
  await eventually(async () => assert.ok(!kinds(Object.keys(await stored(page))).includes("chat-widget:outbox:…")));
});
