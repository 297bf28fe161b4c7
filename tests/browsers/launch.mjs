// Chromium, Firefox and WebKit, each behind the driver that its makers wrote for it.

import { readFileSync } from "node:fs";
import webdriver from "selenium-webdriver";
import remote from "selenium-webdriver/remote/index.js";
import { startScreen } from "./screen.mjs";

const { CHROMIUM, CHROMEDRIVER, FIREFOX, GECKODRIVER } = process.env;
/** As for the tests of wasm-pack. */
const { "goog:chromeOptions": chromeOptions } = JSON.parse(
  readFileSync(new URL("../../webdriver.json", import.meta.url)),
);

/** The title of each, its driver, and what that is asked for. */
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
  // It cannot be without a window, so that it gets a screen.
  webkit: { title: "WebKit", driver: "WebKitWebDriver", wish: { browserName: "MiniBrowser" }, needsScreen: true },
};

const NAME = process.env.BROWSER ?? "chromium";
const { driver, wish, needsScreen } =
  BROWSERS[NAME] ?? fail(`BROWSER is ${NAME}, and none of ${Object.keys(BROWSERS).join(", ")}`);

function fail(why) {
  throw new Error(why);
}

/** The browser that the environment asks for with `BROWSER`. */
export const TITLE = BROWSERS[NAME].title;

/** Starts it. Gives the `browser`, as selenium-webdriver knows it, its first window as `home`, and `stop()`. */
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
