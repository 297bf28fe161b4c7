// The main scenes of the film in the browser that `BROWSER` names, with the checks of each picture.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { play, allScenes } from "../film/scene.mjs";
import { installFilm } from "../film/in-page.mjs";
import { openStage, problemsOf } from "../film/stage.mjs";
import { Visitor } from "../film/visitor.mjs";
import { launch, TITLE } from "./launch.mjs";
import { openShop } from "./shop.mjs";
import { Key, Tab } from "./tab.mjs";

const SCREEN = { width: 1024, height: 800 };
/** The timeout of a scene, including the start of the browser on a busy machine, in milliseconds. */
const SCENE_TIMEOUT_MS = 180_000;
/** WebDriver's keys by Playwright's names. */
const KEYS = { Enter: Key.RETURN, Escape: Key.ESCAPE, Tab: Key.TAB, Space: Key.SPACE };

/** A visitor driven by WebDriver: the clock is real, and pointer and keys are native. */
class DrivenVisitor extends Visitor {
  #browser;
  #tab;

  constructor(browser, tab) {
    super({ name: "desktop", touch: false });
    this.#browser = browser;
    this.#tab = tab;
  }

  get waitTimeout() {
    return Number(process.env.FILM_PATIENCE_MS ?? 30_000);
  }

  evaluate(work, given) {
    return this.#tab.evaluate(work, given);
  }

  goto(path) {
    return this.#tab.goto(path);
  }

  reloadPage() {
    return this.#tab.reload();
  }

  async tap(x, y) {
    await this.#browser
      .actions()
      .move({ x: Math.round(x), y: Math.round(y) })
      .click()
      .perform();
  }

  write(text) {
    return this.#tab.press(text);
  }

  key(name) {
    return this.#tab.press(KEYS[name]);
  }

  async letTimePass() {}

  /** Resizes the window so that the page has this size. */
  async resizes(width, height) {
    const bars = await this.evaluate(() => [outerWidth - innerWidth, outerHeight - innerHeight]);
    await this.#browser
      .manage()
      .window()
      .setRect({ width: width + bars[0], height: height + bars[1] });
    await this.settled();
  }
}

let fixture;

async function begin() {
  const stage = await openStage();
  return { stage, ...(await launch()) };
}

after(async () => {
  const begun = await fixture?.catch(() => undefined);
  if (!begun) return;
  await begun.stop();
  await begun.stage.stop();
});

for (const scene of (await allScenes()).filter(({ main }) => main)) {
  test(`${TITLE}: ${scene.title}`, { timeout: SCENE_TIMEOUT_MS }, async () => {
    const { stage, browser, home } = await (fixture ??= begin());
    let visitor;
    const { service, operator } = await stage.actors(() => visitor && (visitor.hurries = true));
    const shop = await openShop(stage.demo.site, { tag: scene.options ?? {}, first: installFilm });
    // WebKit hides a tab in the background.
    await browser.switchTo().newWindow("window");
    await browser.manage().window().setRect(SCREEN);
    const tab = new Tab(browser, await browser.getWindowHandle(), shop, false);
    visitor = new DrivenVisitor(browser, tab);
    try {
      await tab.goto("/");
      const screen = { name: "desktop", touch: false, full: false };
      assert.deepEqual(problemsOf(await play(scene, { visitor, operator, service, screen })), []);
      await tab.evaluate(() => Promise.all(window.notes.sent));
      assert.deepEqual(shop.complaints, [], "the page had no problem");
    } finally {
      // A page that is left sends requests, which would reach the sandbox of the next scene.
      shop.close();
      await tab.close();
      await browser.switchTo().window(home);
    }
  });
}
