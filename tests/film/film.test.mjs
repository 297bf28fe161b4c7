// Every scene without pictures: on a desktop in light, and on a phone with an open keyboard in dark.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { launch } from "../e2e/demo.mjs";
import { readAnnouncements } from "./announcements.mjs";
import { allScenes } from "./scene.mjs";
import { openStage, playInChromium, problemsOf } from "./stage.mjs";

const SCREENS = [
  ["desktop", "light"],
  ["keyboard", "dark"],
];
const STAGES = 2;
/** The timeout of a scene, in milliseconds. */
const SCENE_TIMEOUT_MS = 120_000;

const scenes = await allScenes();
const recorded = readAnnouncements();

let browser;
/** The idle stages. */
const free = [];
const opened = [];

async function onStage(work) {
  browser ??= launch();
  let stage = free.pop();
  if (!stage) {
    stage = openStage();
    opened.push(stage);
  }
  try {
    return await work(await stage, await browser);
  } finally {
    free.push(stage);
  }
}

after(async () => {
  await (await browser)?.close();
  for (const stage of opened) await (await stage.catch(() => undefined))?.stop();
});

test("Announcements are recorded for exactly the existing scenes", () => {
  assert.deepEqual(Object.keys(recorded).sort(), scenes.map(({ title }) => title).sort(), "npm run film -- --record");
});

for (const [size, scheme] of SCREENS) {
  describe(`${size}, ${scheme}`, { concurrency: STAGES }, () => {
    for (const scene of scenes) {
      if (scene.sizes && !scene.sizes.includes(size)) continue;
      test(scene.title, { timeout: SCENE_TIMEOUT_MS }, () =>
        onStage(async (stage, browser) => {
          assert.deepEqual(problemsOf(await playInChromium(stage, browser, scene, size, scheme, { recorded })), []);
        }),
      );
    }
  });
}
