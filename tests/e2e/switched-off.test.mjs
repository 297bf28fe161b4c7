// A config that disables the chat hides the widget and stops all requests.

import assert from "node:assert/strict";
import { CONFIG, ask, eventually, hold, openChat, part, stored, advanceClock, allFilesLoaded } from "./chat.mjs";
import { test } from "./harness.mjs";

const isGone = async (page) => assert.equal(await page.locator("chat-widget").count(), 0);

/** Waits until the loader has stored a config that disables the chat. */
const isRefused = (page) =>
  eventually(async () => {
    const { enabled, widgetEnabled } = (await stored(page))["chat-widget:config"].data.config;
    assert.ok(!enabled || !widgetEnabled);
  });

test("With enabled: false a new visitor sees nothing, and no module is loaded", async ({ visit, server, recordOf }) => {
  await server.setFaults({ config: { enabled: false } });
  const page = await visit({ clock: true });
  await isRefused(page);
  await page.waitForLoadState("load");
  await advanceClock(page, { minutes: 1 });
  await page.evaluate(() => void window.chatWidget.open());
  await advanceClock(page, { minutes: 1 });
  await isGone(page);
  assert.deepEqual(recordOf(page).moduleFiles(), []);
});

test("With widgetEnabled: false a visitor with a conversation sees nothing", async ({ visit, server, recordOf }) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await allFilesLoaded(page);
  await server.setFaults({ config: { widgetEnabled: false } });
  const before = recordOf(page).moduleFiles().length;
  await page.reload();
  await isRefused(page);
  await isGone(page);
  const soFar = recordOf(page).requests.length;
  await advanceClock(page, { minutes: 2 });
  await isGone(page);
  assert.deepEqual(recordOf(page).moduleFiles().slice(before), []);
  assert.deepEqual(recordOf(page).paths().slice(soFar), [], "no further request is sent");
});

test("A returning visitor sees the launcher before the config arrives, and loses it if the config disables the chat", async ({
  visit,
  server,
  recordOf,
}) => {
  const page = await visit();
  await allFilesLoaded(page);
  await server.setFaults({ config: { enabled: false } });
  const config = await hold(page, CONFIG);
  const before = recordOf(page).moduleFiles().length;
  await page.reload({ waitUntil: "commit" });
  await config.requested;
  // Not even after the second that a new visitor waits.
  await part(page, "launcher").waitFor({ timeout: 900 });
  config.release();
  await eventually(() => isGone(page));
  assert.deepEqual(recordOf(page).moduleFiles().slice(before), []);
});

test("A late config that disables the chat removes it and stops all requests", async ({ visit, server, recordOf }) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await server.setFaults({ config: { enabled: false } });
  const config = await hold(page, CONFIG);
  await page.reload();
  await page.clock.runFor(2000);
  await allFilesLoaded(page);
  config.release();
  await part(page, "launcher").waitFor({ state: "detached" });
  const soFar = recordOf(page).requests.length;
  await advanceClock(page, { minutes: 2 });
  assert.equal(await part(page, "launcher").count(), 0);
  assert.deepEqual(recordOf(page).paths().slice(soFar), []);
});

test("reloadConfig() removes a disabled widget, and restores an enabled one", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await server.setFaults({ config: { widgetEnabled: false } });
  await page.evaluate(() => window.chatWidget.reloadConfig());
  await part(page, "launcher").waitFor({ state: "detached" });
  assert.equal(await part(page, "window").count(), 0);
  await server.clearFaults();
  await page.evaluate(() => window.chatWidget.reloadConfig());
  await part(page, "launcher").waitFor();
});

test("Without a config response the launcher appears after a second and the chat works", async ({ visit, server }) => {
  await server.setFaults({ only: "config", status: 500 });
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  assert.equal((await server.conversation()).messages.length, 2);
});
