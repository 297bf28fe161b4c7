// Plays every scene at every size, in light and dark, and draws a strip of each into target/film/.
//
// `--scene TEXT` selects scenes by a text in their title, `--size NAME` a size, `--scheme NAME` a scheme; `--no-pictures`
// only checks; `--record` writes the announcements to tests/film/announcements.json.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { launch } from "../tests/e2e/demo.mjs";
import { readAnnouncements, recordAnnouncements } from "../tests/film/announcements.mjs";
import { allScenes } from "../tests/film/scene.mjs";
import { SCHEMES, SIZES } from "../tests/film/sizes.mjs";
import { openStage, playInChromium, problemsOf } from "../tests/film/stage.mjs";
import { drawStrip, indexPage } from "../tests/film/strip.mjs";
import { buildIfStale } from "./build.mjs";
import { buildConnector } from "./connector.mjs";
import { Advice, chromium, main, root, say, setupBuild } from "./setup.mjs";

const folder = join(root, "target", "film");
const STAGES = 2;
/** The size and scheme whose announcements are recorded. */
const RECORDED = ["desktop", "light"];

const { values: flags } = parseArgs({
  options: {
    scene: { type: "string" },
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
  const scenes = (await allScenes()).filter(
    ({ title }) => !flags.scene || title.toLowerCase().includes(flags.scene.toLowerCase()),
  );
  if (scenes.length === 0) throw new Advice(`no scene has "${flags.scene}" in its title`);
  const sizes = choose(Object.keys(SIZES), flags.size, "size");
  const schemes = choose(SCHEMES, flags.scheme, "scheme");
  return scenes.flatMap((scene) =>
    sizes
      .filter((size) => !scene.sizes || scene.sizes.includes(size))
      .flatMap((size) => schemes.map((scheme) => ({ scene, size, scheme }))),
  );
}

/** Builds the widget and the command, unless the environment names both. */
async function prepare() {
  const { WIDGET_DIR, SITE_CONNECTOR } = process.env;
  if (WIDGET_DIR && SITE_CONNECTOR) return;
  if (WIDGET_DIR || SITE_CONNECTOR)
    throw new Advice("invalid environment: set both WIDGET_DIR and SITE_CONNECTOR, or neither");
  setupBuild();
  process.env.CHROMIUM ??= chromium().browser;
  await buildIfStale();
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
  const work = async () => {
    const stage = await openStage();
    try {
      for (let next = waiting.shift(); next; next = waiting.shift()) {
        const { scene, size, scheme } = next;
        const pictures = !flags["no-pictures"];
        const played = await playInChromium(stage, browser, scene, size, scheme, { pictures, recorded });
        next.problems = problemsOf(played);
        if (size === RECORDED[0] && scheme === RECORDED[1] && next.problems.length === 0)
          announced[scene.title] = played.announced;
        console.log(`${next.problems.length > 0 ? "✗" : "✓"} ${scene.title} (${size}, ${scheme})`);
        for (const problem of next.problems) console.log(`    ${problem}`);
        if (!pictures) continue;
        next.file = `${slug(scene.title)}-${size}-${scheme}.png`;
        const width = SIZES[size].clip?.width ?? SIZES[size].viewport.width;
        const strip = await drawStrip(browser, { title: scene.title, size, scheme, steps: played.steps, width });
        writeFileSync(join(folder, next.file), strip);
      }
    } finally {
      await stage.stop();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(STAGES, plays.length) }, work));
  } finally {
    await browser.close();
  }
  if (flags.record) recordAnnouncements(announced);
  if (!flags["no-pictures"]) writeFileSync(join(folder, "index.html"), indexPage(plays));
  const failed = plays.filter(({ problems }) => problems.length > 0).length;
  if (!flags["no-pictures"]) say("target/film/index.html shows the strips");
  console.log(`\n${plays.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
});
