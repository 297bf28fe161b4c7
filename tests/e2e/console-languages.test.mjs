// The operators' console in its languages: the browser's or the chosen one, from right to left, and short enough for a phone.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { visitorOf } from "./team.mjs";

const folder = fileURLToPath(new URL("../../crates/console/texts", import.meta.url));
const textsIn = (tag, file) => JSON.parse(readFileSync(`${folder}/${tag}/${file}.json`, "utf8"));
const LANGUAGES = readdirSync(folder);
const PHONE = { width: 390, height: 844 };

withTeam({
  names: ["Maren"],
  fill: () => visitorOf(team, { name: "Anna" }).say("Do you deliver to Norway, please?"),
  testTimeoutMs: 180_000,
  waitTimeoutMs: 10_000,
});

const openIn = (path, options) => open(path, undefined, options);

/** Returns the names of the rail that are cut off, and by how much the page is too wide. It runs in the page. */
function excess() {
  const names = [...document.querySelectorAll(".rail-name")];
  const cut = names.filter((name) => name.scrollWidth > name.clientWidth + 1).map((name) => name.textContent);
  return { cut, overflow: document.documentElement.scrollWidth - innerWidth };
}

test("Each language names the pages in full on a phone and on a desktop", async () => {
  for (const locale of LANGUAGES) {
    const { page, close } = await openIn("/console/inbox?view=open", { locale, viewport: PHONE });
    await page.locator(".inbox-rows .row").first().click();
    await page.locator(".message").first().waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), locale);
    assert.equal(await page.locator("html").getAttribute("dir"), ["ar", "he"].includes(locale) ? "rtl" : "ltr");
    const settings = page.locator(".rail-name").last();
    assert.equal(await settings.textContent(), textsIn(locale, "shell").settings);
    assert.deepEqual(await page.evaluate(excess), { cut: [], overflow: 0 }, `${locale} on a phone`);
    const actions = await page.locator(".talk-actions").boundingBox();
    const last = await page.locator(".talk-actions > :last-child").boundingBox();
    assert.ok(last.x >= 0 && last.x + last.width <= PHONE.width, `${locale}: the last action is in view`);
    assert.ok(actions.width <= PHONE.width, locale);
    await page.setViewportSize({ width: 1280, height: 800 });
    assert.deepEqual(await page.evaluate(excess), { cut: [], overflow: 0 }, `${locale} on a desktop`);
    await close();
  }
});

test("A visitor's text has its own direction in a console from right to left", async () => {
  const { page } = await openIn("/console/inbox?view=open", { locale: "ar-EG" });
  const row = page.locator(".inbox-rows .row").first();
  await row.click();
  const direction = (locator) => locator.evaluate((element) => getComputedStyle(element).direction);
  await page.locator(".message").first().waitFor();
  assert.equal(await direction(page.locator("html")), "rtl");
  assert.equal(await direction(page.locator("[data-role=visitor] .rich").first()), "ltr");
  assert.equal(await direction(row.locator(".row-text")), "ltr");
});

test("The browser's first language that the console has is used, and English counts", async () => {
  for (const [languages, expected] of [
    [["sv", "de-AT"], "de"],
    [["en-GB", "de"], "en"],
    [["sv"], "en"],
  ]) {
    const { page, context } = await open("/livez");
    await context.addInitScript((languages) => {
      Object.defineProperty(navigator, "languages", { get: () => languages });
    }, languages);
    await page.goto(new URL("/console/", team.address).href);
    await page.locator(".rail-name").first().waitFor();
    assert.equal(await page.locator("html").getAttribute("lang"), expected);
  }
});

test("The chosen language stays in this browser until the browser's is chosen again", async () => {
  const { page } = await openIn("/console/account", { locale: "en-US" });
  await page.getByLabel("Language").selectOption("de");
  await page.getByRole("heading", { name: textsIn("de", "account").title }).waitFor();
  await page.goto(new URL("/console/reports", team.address).href);
  await page
    .getByRole("heading", { name: textsIn("de", "reports").title })
    .first()
    .waitFor();
  await page.goto(new URL("/console/account", team.address).href);
  await page.getByLabel(textsIn("de", "account").language).selectOption("");
  await page.getByRole("heading", { name: "Your account" }).waitFor();
});

test("Texts that do not load leave the console in English", async () => {
  const { page, context } = await openIn("/livez", { locale: "de-DE" });
  await context.route("**/console/texts/*.json", (route) => route.fulfill({ status: 200, body: "<!doctype html>" }));
  await page.goto(new URL("/console/account", team.address).href);
  await page.getByRole("heading", { name: "Your account" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
});
