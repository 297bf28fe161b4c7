// Scenes and how they are played: action, wait, check, picture.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";

const scenes = [];

/**
 * A scene: a sentence, and what happens in it. The script gets the actors `visitor`, `operator` and `service`, `step`, and
 * `screen`, which says about the size whether it has `touch` and whether the window is `full`. Options:
 * - `main`: it is also played in Firefox and WebKit, so that it uses nothing but what `Visitor` has.
 * - `options`: attributes of the widget's script tag, without `data-`.
 * - `arrive(page, visitor)`: is called before anything is loaded.
 * - `sizes`: the sizes on which it is played, all if none are given.
 * - `points`: the points of the design review that it shows.
 */
export function scene(title, options, script = options) {
  scenes.push({ title, ...(script === options ? {} : options), script });
}

/** All scenes, in the order of their files. */
export async function allScenes() {
  const folder = new URL("scenes/", import.meta.url);
  for (const file of readdirSync(folder).sort()) if (file.endsWith(".mjs")) await import(new URL(file, folder));
  const titles = scenes.map(({ title }) => title);
  assert.equal(new Set(titles).size, titles.length, "each scene has a title of its own");
  return scenes;
}

const list = (value) => [value ?? []].flat();
/** A part or a selector, and the text after a colon, if there is one. */
function parts(each) {
  const [, target, text] = /^(.*?)(?:: (.*))?$/s.exec(each);
  return [target, text];
}

/**
 * What a step waits for:
 * - `shows`: parts that are inside of what can be seen, as a whole; `"notice: No answer"` is one with a text in it.
 * - `has`: those that are in the window, wherever that is.
 * - `hides`: those that are not there.
 * - `newest`: a text in the newest message.
 * - `focus`: the part with the focus.
 * - `title`: a pattern for the page's title.
 * - `check(visitor)`: whatever else must be true, tried until it is.
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
 * Plays a scene with these actors. Gives its `steps`, each with a caption, its problems and perhaps a picture, and what was
 * `announced`. The first step whose condition does not come about is the last one.
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
      // What can be seen is worth knowing all the same.
      problems.push(...(await seen.judge(relaxed).catch(() => [])));
      throw Object.assign(new Error(error.message, { cause: error }), { told: true });
    } finally {
      if (picture) shot.picture = await picture(seen).catch(() => undefined);
    }
  }
  try {
    await script({ ...actors, step });
  } catch (error) {
    if (!error.told) steps.push({ caption: "the scene broke", problems: [error.stack] });
  }
  return { steps, announced: visitor.announced };
}
