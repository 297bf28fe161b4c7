// The gallery: every state in every theme at an address of its own, and always the same.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { eventually, messages, part } from "./chat.mjs";
import { look, SCHEMES, STATE_NAMES, THEMES } from "./gallery.mjs";
import { test } from "./harness.mjs";

test("The gallery lists every theme in both schemes and every state", async ({ visit }) => {
  const page = await visit({ path: "/gallery.html" });
  await page.getByRole("table").waitFor();
  const presets = readdirSync(new URL("../../themes", import.meta.url)).map((file) => file.replace(".css", ""));
  assert.deepEqual([...THEMES].sort(), presets.sort());
  const links = await page.getByRole("cell").getByRole("link").evaluateAll((links) => links.map(({ href }) => href));
  const listed = links.map((href) => Object.fromEntries(new URL(href).searchParams));
  const all = STATE_NAMES.flatMap((state) => THEMES.flatMap((theme) => SCHEMES.map((scheme) => ({ state, theme, scheme }))));
  const named = ({ state, theme, scheme }) => `${state} ${theme} ${scheme}`;
  assert.deepEqual(listed.map(named).sort(), all.map(named).sort());
});

test("Every state of the gallery is reached, without a word to the proxy, and leaves nothing behind", async ({
  visit,
  site,
  recordOf,
}) => {
  const page = await visit({ path: "/gallery.html" });
  for (const state of STATE_NAMES) await look(page, site, state);
  assert.deepEqual(recordOf(page).paths().filter((request) => request.includes("/connector")), []);
  await page.goto(`${site}/icon.svg`);
  assert.equal(await page.evaluate(() => localStorage.length), 0);
});

test("A page of the gallery shows the same each time", async ({ visit, site }) => {
  const page = await visit({ path: "/gallery.html" });
  const shown = async () => {
    await look(page, site, "failed");
    return [...(await messages(page)), ...(await part(page, "log").locator(".cw-time, .cw-day").allTextContents())];
  };
  const first = await shown();
  assert.match(first.at(-1), /9:17/);
  assert.deepEqual(await shown(), first);
});

test("Inline, the window is as large as the element that it stands in, and shows the newest message", async ({
  visit,
  site,
}) => {
  const page = await visit({ path: "/gallery.html" });
  await look(page, site, "inline");
  assert.deepEqual(await part(page, "window").boundingBox(), await page.locator("#container").boundingBox());
  const isInSight = () =>
    part(page, "message").last().evaluate((message) => {
      const log = message.closest("[part=log]").getBoundingClientRect();
      return message.getBoundingClientRect().bottom <= log.bottom;
    });
  await eventually(async () => assert.ok(await isInSight()));
});
