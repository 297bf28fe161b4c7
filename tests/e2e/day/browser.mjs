// The browser that `BROWSER` names, Chromium by default. Firefox is driven by the last Playwright that knows Firefox ESR.

import { launch as launchChromium } from "../demo.mjs";

export const BROWSER = process.env.BROWSER ?? "chromium";

const LAUNCH = {
  chromium: () => launchChromium(),
  async firefox() {
    const { firefox } = await import("playwright-firefox");
    return firefox.launch({ channel: "moz-firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr" });
  },
};

/** Launches the browser. */
export function launch() {
  const start = LAUNCH[BROWSER];
  if (!start) throw new Error(`invalid BROWSER: expected ${Object.keys(LAUNCH).join(" or ")}, got ${BROWSER}`);
  return start();
}
