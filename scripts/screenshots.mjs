// Takes screenshots of the gallery into target/screenshots/, and draws the sheet of the themes for the README.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, startDemo } from "../tests/e2e/demo.mjs";
import { look, SCHEMES, STATE_NAMES, THEMES } from "../tests/e2e/gallery.mjs";
import { buildConnector } from "./connector.mjs";
import { requireSteps } from "./run-steps.mjs";
import { chromium, main, root, say, setupBuild } from "./setup.mjs";

const folder = join(root, "target", "screenshots");
const SHEET = join(root, "docs", "pictures", "themes.png");
const DESKTOP = { viewport: { width: 1280, height: 800 } };
const PHONE = { viewport: { width: 375, height: 667 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 };
/** The smallest window that does not fill the screen, and its position on the page. */
const CELL = { viewport: { width: 480, height: 480 }, deviceScaleFactor: 0.6 };
const CLIP = { x: 64, y: 0, width: 416, height: 480 };
const COLUMNS = 3;

/** Calls `take(page, name)` for pages of the gallery, each `[state, theme, scheme]`, on this screen. */
async function pictures(browser, site, screen, shown, take) {
  const context = await browser.newContext({ ...screen, reducedMotion: "reduce" });
  const page = await context.newPage();
  for (const [state, theme, scheme] of shown) {
    await look(page, site, state, { theme, scheme });
    await take(page, `${state}-${theme}-${scheme}`);
  }
  await context.close();
}

/** Returns the HTML of the picture of all themes, light and dark, side by side. */
function sheet(cells) {
  const figures = THEMES.map((theme) => {
    const images = SCHEMES.map(
      (scheme) => `<img src="data:image/png;base64,${cells.get(`short-${theme}-${scheme}`)}">`,
    );
    return `<figure>${images.join("")}<figcaption>${theme}</figcaption></figure>`;
  });
  const style =
    `body { display: grid; grid-template-columns: repeat(${COLUMNS}, max-content); gap: 18px; margin: 18px; background: #fff; }` +
    "figure { margin: 0; } img { vertical-align: top; }" +
    "figcaption { padding-top: 4px; font: 600 15px/20px system-ui, sans-serif; color: #333; }";
  return `<!doctype html><title>Themes</title><style>${style}</style>${figures.join("")}`;
}

await main(async () => {
  setupBuild();
  process.env.CHROMIUM ??= chromium().browser;
  await requireSteps("build:dist");
  buildConnector();
  rmSync(folder, { recursive: true, force: true });
  const every = [
    ...STATE_NAMES.map((state) => [state, "teal", "light"]),
    ...THEMES.flatMap((theme) => SCHEMES.map((scheme) => ["conversation", theme, scheme])),
  ].filter((page, index, all) => all.findIndex((other) => other.join() === page.join()) === index);
  const cells = new Map();
  const demo = await startDemo();
  const browser = await launch();
  try {
    for (const [name, screen] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
      mkdirSync(join(folder, name), { recursive: true });
      say(`taking ${every.length} pictures for target/screenshots/${name}/`);
      await pictures(browser, demo.site, screen, every, (page, picture) =>
        page.screenshot({ path: join(folder, name, `${picture}.png`) }),
      );
    }
    say("drawing the sheet of the themes");
    const shown = THEMES.flatMap((theme) => SCHEMES.map((scheme) => ["short", theme, scheme]));
    await pictures(browser, demo.site, CELL, shown, async (page, picture) => {
      await page.evaluate(() => (document.querySelector("main").hidden = true));
      cells.set(picture, (await page.screenshot({ clip: CLIP })).toString("base64"));
    });
    const page = await browser.newPage({ viewport: { width: 100, height: 100 } });
    await page.setContent(sheet(cells));
    writeFileSync(SHEET, await page.screenshot({ fullPage: true }));
    say(`docs/pictures/themes.png has ${Math.round(readFileSync(SHEET).length / 1000)} KB`);
  } finally {
    await browser.close();
    await demo.stop();
  }
});
