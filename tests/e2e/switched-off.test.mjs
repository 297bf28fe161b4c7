// A site whose config says that there is no chat shows nothing, and loads nothing more.

import assert from "node:assert/strict";
import { CONFIG, ask, eventually, hold, openChat, part, stored, timePasses, whole } from "./chat.mjs";
import { test } from "./harness.mjs";

const isGone = async (page) => assert.equal(await page.locator("chat-widget").count(), 0);

/** Waits until the loader has read a config that says no. */
const isRefused = (page) =>
  eventually(async () => {
    const { enabled, widgetEnabled } = (await stored(page))["chat-widget:config"].data.config;
    assert.ok(!enabled || !widgetEnabled);
  });

for (const name of ["enabled", "widgetEnabled"]) {
  test(`With ${name}: false a new visitor sees nothing, and no module is loaded`, async ({
    visit,
    server,
    recordOf,
  }) => {
    await server.trouble({ config: { [name]: false } });
    const page = await visit({ clock: true });
    await isRefused(page);
    await page.waitForLoadState("load");
    await timePasses(page, { minutes: 1 });
    await page.evaluate(() => void window.chatWidget.open());
    await timePasses(page, { minutes: 1 });
    await isGone(page);
    assert.deepEqual(recordOf(page).moduleFiles(), []);
  });

  test(`With ${name}: false a visitor with a conversation sees nothing`, async ({ visit, server, recordOf }) => {
    const page = await visit({ clock: true });
    await openChat(page);
    await ask(page, "How long does delivery take?");
    await whole(page);
    await server.trouble({ config: { [name]: false } });
    const before = recordOf(page).moduleFiles().length;
    await page.reload();
    await isRefused(page);
    await isGone(page);
    const soFar = recordOf(page).requests.length;
    await timePasses(page, { minutes: 2 });
    await isGone(page);
    assert.deepEqual(recordOf(page).moduleFiles().slice(before), []);
    assert.deepEqual(recordOf(page).paths().slice(soFar), [], "nothing is asked for any more");
  });
}

test("A returning visitor sees the launcher before the config arrives, and loses it if the config disables the chat", async ({
  visit,
  server,
  recordOf,
}) => {
  const page = await visit();
  await whole(page);
  await server.trouble({ config: { enabled: false } });
  const config = await hold(page, CONFIG);
  const before = recordOf(page).moduleFiles().length;
  await page.reload({ waitUntil: "commit" });
  await config.asked;
  // Not after the second that a first visitor waits.
  await part(page, "launcher").waitFor({ timeout: 900 });
  config.release();
  await eventually(() => isGone(page));
  assert.deepEqual(recordOf(page).moduleFiles().slice(before), []);
});

test("A late config that disables the chat removes it and stops all requests", async ({ visit, server, recordOf }) => {
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await server.trouble({ config: { enabled: false } });
  const config = await hold(page, CONFIG);
  await page.reload();
  await page.clock.runFor(2000);
  await whole(page);
  config.release();
  await part(page, "launcher").waitFor({ state: "detached" });
  const soFar = recordOf(page).requests.length;
  await timePasses(page, { minutes: 2 });
  assert.equal(await part(page, "launcher").count(), 0);
  assert.deepEqual(recordOf(page).paths().slice(soFar), []);
});

test("reloadConfig() removes a disabled widget, and restores an enabled one", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await server.trouble({ config: { widgetEnabled: false } });
  await page.evaluate(() => window.chatWidget.reloadConfig());
  await part(page, "launcher").waitFor({ state: "detached" });
  assert.equal(await part(page, "window").count(), 0);
  await server.calm();
  await page.evaluate(() => window.chatWidget.reloadConfig());
  await part(page, "launcher").waitFor();
});

test("Without a config response the launcher appears after a second and the chat works", async ({ visit, server }) => {
  await server.trouble({ only: "config", status: 500 });
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  assert.equal((await server.conversation()).messages.length, 2);
});
