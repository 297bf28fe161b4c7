// Every scene of an operator's day without pictures, on a desktop in light and on a phone in light.

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { launch } from "../e2e/demo.mjs";
import { allOperatorScenes } from "./operator/scene.mjs";
import { OPERATOR_SIZES, openOperatorStage } from "./operator/stage.mjs";
import { problemsOf } from "./stage.mjs";

/** Scenes at the same time. */
const AT_ONCE = 2;
/** The timeout of a scene, in milliseconds. */
const SCENE_TIMEOUT_MS = 120_000;

const scenes = await allOperatorScenes();

let browser;
let stage;

after(async () => {
  await (await browser)?.close();
  await (await stage)?.stop();
});

for (const size of OPERATOR_SIZES) {
  describe(`an operator's day, ${size}`, { concurrency: AT_ONCE }, () => {
    for (const scene of scenes) {
      if (scene.sizes && !scene.sizes.includes(size)) continue;
      test(scene.title, { timeout: SCENE_TIMEOUT_MS }, async () => {
        browser ??= launch();
        stage ??= openOperatorStage();
        assert.deepEqual(problemsOf(await (await stage).play(await browser, scene, size, "light")), []);
      });
    }
  });
}
