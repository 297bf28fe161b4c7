// Plays every scene of visitors and operators at every size, in light and dark, and draws a strip of each into target/film/.
//
// `--scene TEXT` selects scenes by a text in their title, `--of visitors` or `--of operators` those of one side, `--size NAME`
// a size, `--scheme NAME` a scheme; `--no-pictures` only checks; `--record` writes the announcements to
// tests/film/announcements.json.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "../tests/e2e/demo.mjs";
import { readAnnouncements, recordAnnouncements } from "../tests/film/announcements.mjs";
import { allOperatorScenes } from "../tests/film/operator/scene.mjs";
import { OPERATOR_SIZES, openOperatorStage } from "../tests/film/operator/stage.mjs";
import { allScenes } from "../tests/film/scene.mjs";
import { SCHEMES, SIZES } from "../tests/film/sizes.mjs";
import { openStage, playInChromium, problemsOf } from "../tests/film/stage.mjs";
import { drawStrip, indexPage } from "../tests/film/strip.mjs";
import { buildConnector } from "./connector.mjs";
import { requireSteps } from "./run-steps.mjs";
import { Advice, chromium, main, root, say, setupBuild } from "./setup.mjs";

const folder = join(root, "target", "film");
const STAGES = 2;
/** The size and scheme whose announcements are recorded. */
const RECORDED = ["desktop", "light"];

const { values: flags } = parseArgs({
  options: {
    scene: { type: "string" },
    of: { type: "string" },
    size: { type: "string" },
    scheme: { type: "string" },
    "no-pictures": { type: "boolean", default: false },
    record: { type: "boolean", default: false },
  },
});

const slug = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

/** Returns every combination that the flags select. */
async function wanted() {
  const choose = (names, name, what) => {
    if (name !== undefined && !names.includes(name))
      throw new Advice(`invalid ${what}: expected ${names.join(", ")}, got ${name}`);
    return name === undefined ? names : [name];
  };
  const sides = choose(["visitors", "operators"], flags.of, "side");
  const found = { visitors: await allScenes(), operators: await allOperatorScenes() };
  const scenes = sides
    .flatMap((side) => found[side].map((scene) => ({ side, scene })))
    .filter(({ scene }) => !flags.scene || scene.title.toLowerCase().includes(flags.scene.toLowerCase()));
  if (scenes.length === 0) throw new Advice(`no scene has "${flags.scene}" in its title`);
  const sizes = choose(Object.keys(SIZES), flags.size, "size");
  const schemes = choose(SCHEMES, flags.scheme, "scheme");
  const mayPlay = ({ side, scene }, size) =>
    (!scene.sizes || scene.sizes.includes(size)) && (side === "visitors" || OPERATOR_SIZES.includes(size));
  return scenes.flatMap((one) =>
    sizes.filter((size) => mayPlay(one, size)).flatMap((size) => schemes.map((scheme) => ({ ...one, size, scheme }))),
  );
}

/** The width of each picture in a strip, in pixels. */
const widthOf = ({ side, size }) =>
  side === "operators" && size === "desktop" ? 900 : (SIZES[size].clip?.width ?? SIZES[size].viewport.width);

/** Builds the widget and the command, unless the environment names both. */
async function prepare() {
  const { WIDGET_DIR, SITE_CONNECTOR } = process.env;
  if (WIDGET_DIR && SITE_CONNECTOR) return;
  if (WIDGET_DIR || SITE_CONNECTOR)
    throw new Advice("invalid environment: set both WIDGET_DIR and SITE_CONNECTOR, or neither");
  setupBuild();
  process.env.CHROMIUM ??= chromium().browser;
  await requireSteps("build:dist", "build:console");
  buildConnector();
}

await main(async () => {
  const plays = await wanted();
  await prepare();
  mkdirSync(folder, { recursive: true });
  say(`playing ${plays.length} times`);
  const browser = await launch();
  const waiting = [...plays];
  const announced = {};
  const recorded = flags.record ? undefined : readAnnouncements();
  const pictures = !flags["no-pictures"];
  let operators;
  const work = async () => {
    const stage = await openStage();
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { side, scene, size, scheme } = next;
        const played =
          side === "visitors"
            ? await playInChromium(stage, browser, scene, size, scheme, { pictures, recorded })
            : await (await (operators ??= openOperatorStage())).play(browser, scene, size, scheme, { pictures });
        next.problems = problemsOf(played);
        if (side === "visitors" && size === RECORDED[0] && scheme === RECORDED[1] && next.problems.length === 0)
          announced[scene.title] = played.announced;
        console.log(`${next.problems.length > 0 ? "✗" : "✓"} ${scene.title} (${size}, ${scheme})`);
        for (const problem of next.problems) console.log(`    ${problem}`);
        if (!pictures) continue;
        next.file = `${slug(scene.title)}-${size}-${scheme}.png`;
        const { title } = scene;
        const strip = await drawStrip(browser, { title, size, scheme, steps: played.steps, width: widthOf(next) });
        writeFileSync(join(folder, next.file), strip);
      }
    } finally {
      await stage.stop();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(STAGES, plays.length) }, work));
  } finally {
    await (await operators)?.stop();
    await browser.close();
  }
  if (flags.record) recordAnnouncements(announced);
  if (!flags["no-pictures"]) writeFileSync(join(folder, "index.html"), indexPage(plays));
  const failed = plays.filter(({ problems }) => problems.length > 0).length;
  if (!flags["no-pictures"]) say("target/film/index.html shows the strips");
  console.log(`\n${plays.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
