// The plugin's settings page in a browser, with WordPress' own styles: on a desktop, on a phone, and right-to-left.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { withAxe } from "../e2e/axe.mjs";
import { launch } from "../e2e/demo.mjs";
import { startService } from "./service.mjs";
import { PAGE } from "./settings.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

const SIZES = { desktop: { width: 1200, height: 900 }, phone: { width: 390, height: 800 } };

after(async () => {
  stopWordPress();
  await stopAll();
});

/** Returns the problems of the page that a person would see, or that a screen reader would stumble over. */
const problems = (page) =>
  page.evaluate(async () => {
    const found = [];
    const ids = [...document.querySelectorAll(".wrap [id]")].map(({ id }) => id);
    found.push(...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two elements have the id ${id}`));
    for (const element of document.querySelectorAll(".wrap *")) {
      const { left, right, width } = element.getBoundingClientRect();
      if (width > 0 && (left < -1 || right > innerWidth + 1))
        found.push(`${element.outerHTML.slice(0, 80)} is cut off`);
    }
    const menu = document.getElementById("adminmenu").getBoundingClientRect();
    if (getComputedStyle(document.querySelector(".wrap .button-primary")).backgroundColor !== "rgb(34, 113, 177)")
      found.push("WordPress' styles are missing");
    if (innerWidth > 1000 && menu.width < 100) found.push("WordPress' menu is missing");
    if (/(Warning|Notice|Deprecated|Fatal error)<\/b>:/.test(document.documentElement.innerHTML))
      found.push("PHP warns");
    const { violations } = await window.axe.run(".wrap", { resultTypes: ["violations"] });
    return [...found, ...violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`)];
  });

test("The settings are in order in each state, at each size and in both directions", { timeout: 240_000 }, async () => {
  const service = await startService();
  const site = await startWordPress({ version: "6.5" });
  const browser = await launch();
  const pages = [];
  for (const viewport of Object.values(SIZES)) {
    const page = await (await browser.newContext({ viewport, bypassCSP: true })).newPage();
    // Such as the picture of the user, at Gravatar.
    await page.route(
      ({ href }) => !href.startsWith(site.address),
      (route) => route.abort(),
    );
    await withAxe(page);
    await page.goto(`${site.address}/wp-login.php`);
    await page.fill("#user_login", "admin");
    await page.fill("#user_pass", "secret");
    await page.click("#wp-submit");
    pages.push(page);
  }
  const looks = async (state, sentence, locales = [null]) => {
    for (const locale of locales) {
      site.test("locale", locale);
      for (const page of pages) {
        await page.goto(site.address + PAGE);
        const { width } = page.viewportSize();
        assert.equal(await page.getAttribute("html", "dir"), locale && "rtl");
        assert.deepEqual(await problems(page), [], `${state}, ${width} pixels, ${locale ?? "en"}`);
      }
    }
    site.test("locale", null);
    await pages[0].goto(site.address + PAGE);
    await pages[0].getByText(sentence).waitFor();
  };
  await looks("new", "There is no chat on your pages yet.", [null, "ar"]);

  const [page] = pages;
  await page.getByLabel("Address of the service").fill(service.origin);
  await page.getByLabel("License code").fill("SANDBOX-LICENSE");
  await page.getByRole("button", { name: "Activate" }).click();
  await page.getByText("The site is activated.").waitFor();
  await looks("first", "Connected. The first run begins within a minute.");

  await service.add("apply_seo_overlay", { path: `/${"nowhere-".repeat(30)}`, title: "T" }, 1);
  await page.getByRole("button", { name: "Run now" }).click();
  await page.getByText("The jobs have run. The table shows the outcome.").waitFor();
  await page.getByRole("cell", { name: /Failed: .?The site has no page/ }).waitFor();
  await page.getByLabel("Author of new articles").selectOption({ label: "— No author —" });
  await page.getByLabel("Secret of the webhook", { exact: true }).fill("whsec_c2VjcmV0");
  await page.getByRole("button", { name: "Save Changes" }).click();
  await page.getByText("Settings saved.").waitFor();
  await looks("connected", "Connected. Jobs run every minute.", [null, "ar"]);

  await page.getByRole("button", { name: "Pause" }).click();
  await looks("paused", "Paused. The chat goes on.");
  await page.getByRole("button", { name: "Continue" }).click();
  site.php(`update_option('chat_widget_site', ['token' => 'wrong'] + get_option('chat_widget_site')); echo 'null';`);
  await site.run();
  await looks("wrong token", "The service no longer accepts the token of this site.");

  await page.getByText("Disconnect the site").click();
  await page.getByRole("button", { name: "Disconnect" }).click();
  await page.getByText("The site is disconnected.").waitFor();
  await browser.close();
});
