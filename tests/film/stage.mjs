// The stage of the scenes: the real shop, proxy and sandbox, and an AI with scripted replies.

import { startDemo } from "../e2e/demo.mjs";
import { Sandbox } from "../e2e/sandbox.mjs";
import { announcementProblems } from "./announcements.mjs";
import { BrowserVisitor } from "./browser-visitor.mjs";
import { play } from "./scene.mjs";
import { Ai, Operator, Service } from "./service.mjs";
import { isFullScreen, isTouch } from "./sizes.mjs";

/** Starts a stage for one scene at a time, because the sandbox has one service. */
export async function openStage() {
  const ai = await Ai.start();
  const demo = await startDemo(undefined, ["--ai-base", ai.base, "--ai-model", "film"]);
  const sandbox = new Sandbox(demo.sandbox);
  return {
    ai,
    demo,
    sandbox,
    /** Resets the service and returns the actors, which speed up the visitor's clock. */
    async actors(hurry) {
      ai.reset();
      await sandbox.reset();
      const service = new Service(sandbox, ai, hurry);
      await service.isFine();
      return { service, operator: new Operator(sandbox, hurry) };
    },
    async stop() {
      await demo.stop();
      ai.stop();
    },
  };
}

/**
 * Plays a scene in Chromium, at one size and in one scheme. Returns its steps with their problems and optional pictures,
 * and its announcements.
 */
export async function playInChromium(stage, browser, scene, sizeName, scheme, { pictures = false, recorded } = {}) {
  let visitor;
  const { service, operator } = await stage.actors(() => visitor && (visitor.hurries = true));
  const screen = { name: sizeName, touch: isTouch(sizeName), full: isFullScreen(sizeName) };
  const { options, arrive: prepare, path } = scene;
  const setting = { browser, site: stage.demo.site, token: stage.demo.token, sizeName, scheme };
  visitor = await BrowserVisitor.arrive(setting, { options, prepare, path });
  try {
    const picture = pictures ? (seen) => seen.picture() : undefined;
    const played = await play(scene, { visitor, operator, service, screen }, { picture });
    // Whether the typing indicator of an immediate reply is visible depends on the machine.
    if (!stage.ai.hasThought)
      played.announced = visitor.announced = visitor.announced.filter((text) => !/ is writing$/.test(text));
    const last = played.steps.at(-1) ?? { problems: [] };
    const finished = played.steps.every(({ problems }) => problems.length === 0);
    last.problems.push(...(await visitor.complaints()));
    if (finished) last.problems.push(...(await announcementProblems(visitor, scene, recorded)));
    return played;
  } finally {
    await visitor.leaves();
  }
}

/** Returns the problems of a played scene, each with its step. */
export const problemsOf = ({ steps }) =>
  steps.flatMap(({ caption, problems }, index) => problems.map((problem) => `${index + 1}. ${caption}: ${problem}`));
