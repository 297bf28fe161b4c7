// Chromium, Firefox and WebKit, each with its own driver.

import { readFileSync } from "node:fs";
import webdriver from "selenium-webdriver";
import remote from "selenium-webdriver/remote/index.js";
import { startScreen } from "./screen.mjs";

const { CHROMIUM, CHROMEDRIVER, FIREFOX, GECKODRIVER } = process.env;
/** The capabilities of the wasm-pack tests. */
const { "goog:chromeOptions": chromeOptions } = JSON.parse(
  readFileSync(new URL("../../webdriver.json", import.meta.url)),
);

/** The title, driver and capabilities of each browser. */
const BROWSERS = {
  chromium: {
    title: "Chromium",
    driver: CHROMEDRIVER ?? "chromedriver",
    wish: {
      browserName: "chrome",
      "goog:chromeOptions": { ...chromeOptions, binary: CHROMIUM ?? "/usr/bin/chromium" },
    },
  },
  firefox: {
    title: "Firefox",
    driver: GECKODRIVER ?? "geckodriver",
    wish: {
      browserName: "firefox",
      "moz:firefoxOptions": { binary: FIREFOX ?? "/usr/bin/firefox-esr", args: ["-headless"] },
    },
  },
  // It has no headless mode, so it gets a virtual screen.
  webkit: { title: "WebKit", driver: "WebKitWebDriver", wish: { browserName: "MiniBrowser" }, needsScreen: true },
};

const NAME = process.env.BROWSER ?? "chromium";
const { driver, wish, needsScreen } =
  BROWSERS[NAME] ?? fail(`BROWSER is ${NAME}, and none of ${Object.keys(BROWSERS).join(", ")}`);

function fail(why) {
  throw new Error(why);
}

/** The title of the browser that `BROWSER` names. */
export const TITLE = BROWSERS[NAME].title;

/** Starts the browser. Returns the `browser` of selenium-webdriver, its first window as `home`, and `stop()`. */
export async function launch() {
  const screen = needsScreen && (await startScreen());
  const env = { ...process.env, ...screen?.env };
  const service = new remote.DriverService.Builder(driver).setLoopback(true).setEnvironment(env).build();
  const end = async () => {
    await service.kill();
    if (screen) screen.stop();
  };
  try {
    const browser = await new webdriver.Builder()
      .usingServer(await service.start())
      .withCapabilities(wish)
      .build();
    return { browser, home: await browser.getWindowHandle(), stop: () => browser.quit().finally(end) };
  } catch (error) {
    await end();
    throw error;
  }
}
