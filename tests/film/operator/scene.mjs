// Scenes of operators in the console: action, wait, check, picture.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { eventually } from "../../e2e/chat.mjs";
import { hiddenBy, layoutProblems } from "./layout.mjs";

const scenes = [];
/** The time in which a view comes to rest, in milliseconds. */
const SETTLE_TIMEOUT_MS = 8_000;

/**
 * Defines a scene by its title and script. The script gets the `page`, the `team`, `step`, `screen` with `isTouch` and
 * `name`, `visitor(profile)`, and `open(path)`. Options:
 * - `isNew`: the service is a new one, without conversations.
 * - `signedOut`: nobody is signed in.
 * - `context`: options of the browser context.
 */
export function operatorScene(title, options, script = options) {
  scenes.push({ title, ...(script === options ? {} : options), script });
}

/** Imports all scenes, in the order of their files. */
export async function allOperatorScenes() {
  const folder = new URL("scenes/", import.meta.url);
  for (const file of readdirSync(folder).sort()) if (file.endsWith(".mjs")) await import(new URL(file, folder));
  return scenes;
}

/**
 * Plays a scene. Returns its steps, each with a caption, problems, and optionally a picture. A step whose elements are
 * not in view is the last one.
 */
export async function play({ script }, actors, { pictures = false } = {}) {
  const steps = [];
  const { page, screen } = actors;
  async function step(caption, action, { shows = [], mayScroll = false } = {}) {
    const shot = { caption, problems: [] };
    steps.push(shot);
    try {
      await action();
      for (const locator of shows) {
        await locator.first().waitFor();
        await eventually(async () => assert.equal(await locator.first().evaluate(hiddenBy), null), SETTLE_TIMEOUT_MS);
      }
      await eventually(async () => {
        shot.problems = await page.evaluate(layoutProblems, { isTouch: screen.isTouch, mayScroll });
        if (shot.problems.length > 0) throw new Error("the view has problems");
      }, 1_000).catch(() => {});
    } catch (error) {
      shot.problems.push(error.message.split("\n").slice(0, 4).join(" "));
      throw Object.assign(new Error(error.message, { cause: error }), { isReported: true });
    } finally {
      if (pictures) shot.picture = await page.screenshot({ animations: "disabled" }).catch(() => undefined);
    }
  }
  try {
    await script({ ...actors, step });
  } catch (error) {
    if (!error.isReported) steps.push({ caption: "the scene failed", problems: [error.stack] });
  }
  return { steps };
}
