// Scenes, and how they are played: action, wait, check, picture.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";

const scenes = [];

/**
 * Defines a scene by its title and script. The script gets the actors `visitor`, `operator` and `service`, the function
 * `step`, and `screen` with `touch` and `full` (a full-screen window) of the size. Options:
 * - `main`: the scene is also played in Firefox and WebKit, so it may use only the members of `Visitor`.
 * - `options`: attributes of the widget's script tag, without `data-`.
 * - `arrive(page, visitor)`: a function that is called before anything loads.
 * - `sizes`: the sizes of the scene; all by default.
 * - `points`: the points of the design review that the scene shows.
 */
export function scene(title, options, script = options) {
  scenes.push({ title, ...(script === options ? {} : options), script });
}

/** Imports all scenes, in the order of their files. */
export async function allScenes() {
  const folder = new URL("scenes/", import.meta.url);
  for (const file of readdirSync(folder).sort()) if (file.endsWith(".mjs")) await import(new URL(file, folder));
  const titles = scenes.map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length, "each scene has a unique title");
  return scenes;
}

const list = (value) => [value ?? []].flat();
/** Splits a target into a part or selector and the text after the colon, if any. */
function parts(each) {
  const [, target, text] = /^(.*?)(?:: (.*))?$/s.exec(each);
  return [target, text];
}

/**
 * Waits for the conditions of a step:
 * - `shows`: parts that are wholly visible; `"notice: No answer"` is one that contains the text.
 * - `has`: parts that are anywhere in the window.
 * - `hides`: parts that are absent.
 * - `newest`: a text in the newest message.
 * - `focus`: the part with the focus.
 * - `title`: a pattern for the page's title.
 * - `check(visitor)`: another check, repeated until it passes.
 */
async function waitFor(visitor, { shows, has, hides, newest, focus, title, check }) {
  if (newest) await visitor.until(async () => assert.match((await visitor.textOf("message")) ?? "", newest));
  for (const each of list(has)) await visitor.has(...parts(each));
  for (const each of list(hides)) await visitor.misses(...parts(each));
  for (const each of list(shows)) await visitor.sees(...parts(each));
  if (focus) await visitor.hasFocus(focus);
  if (title) await visitor.until(async () => assert.match(await visitor.evaluate(() => document.title), title));
  if (check) await visitor.until(() => check(visitor));
}

/**
 * Plays a scene with these actors. Returns its `steps`, each with a caption, problems and an optional picture, and the
 * `announced` texts. A step whose condition is not met is the last one.
 */
export async function play({ script }, actors, { picture } = {}) {
  const steps = [];
  const { visitor } = actors;
  async function step(caption, action, { relaxed = [], of: seen = visitor, ...expects } = {}) {
    const problems = [];
    const shot = { caption, problems };
    steps.push(shot);
    seen.acted = seen.hurries = visitor.hurries = false;
    try {
      await action();
      seen.hurries ||= visitor.hurries;
      await waitFor(seen, expects);
      seen.hurries = visitor.hurries = false;
      problems.push(...(await seen.judge(relaxed)));
    } catch (error) {
      problems.push(error.message.split("\n")[0]);
      // The problems and the picture of the failed step are reported as well.
      problems.push(...(await seen.judge(relaxed).catch(() => [])));
      throw Object.assign(new Error(error.message, { cause: error }), { reported: true });
    } finally {
      if (picture) shot.picture = await picture(seen).catch(() => undefined);
    }
  }
  try {
    await script({ ...actors, step });
  } catch (error) {
    if (!error.reported) steps.push({ caption: "the scene failed", problems: [error.stack] });
  }
  return { steps, announced: visitor.announced };
}
