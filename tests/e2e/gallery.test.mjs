// The gallery: each state and theme at its own URL, always rendered the same, and an overview of all.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { LANGUAGES } from "../../www/demo/gallery/languages.js";
import { SECTIONS } from "../../www/demo/gallery/sections.js";
import { pageFindings, withAxe } from "./axe.mjs";
import { eventually, messages, part } from "./chat.mjs";
import { BLANK, look, SCHEMES, STATE_NAMES, THEMES } from "./gallery.mjs";
import { test } from "./harness.mjs";

const filesOf = (folder, ending) =>
  readdirSync(new URL(`../../${folder}`, import.meta.url)).map((file) => file.replace(ending, ""));

/** Returns the pictures of the overview; a `name` is a state's, or a theme's after `theme-`. */
const pictures = (page) => page.locator(".pictures figure");
const picture = (page, name) => page.locator(`.pictures figure[id="${name}"]`);
/** Waits until a picture shows its state, and returns its frame. */
const frameOf = (shot) => shot.locator("iframe.shown");
const queryOf = (url) => Object.fromEntries(new URL(url).searchParams);

/** Returns whether a rectangle lies within another. */
const isInside = (inner, outer) =>
  inner.width > 0 &&
  inner.height > 0 &&
  inner.x >= outer.x - 1 &&
  inner.y >= outer.y - 1 &&
  inner.x + inner.width <= outer.x + outer.width + 1 &&
  inner.y + inner.height <= outer.y + outer.height + 1;

test("The gallery has every state once", () => {
  assert.deepEqual(SECTIONS.flatMap(({ states }) => states).sort(), [...STATE_NAMES].sort());
});

for (const { title, states } of SECTIONS) {
  test(`The gallery shows the widget in every state of "${title}", sends no request and stores nothing`, async ({
    visit,
    site,
    recordOf,
  }) => {
    const page = await visit({ path: "/gallery.html?scheme=light" });
    await pictures(page).first().waitFor();
    for (const state of states) {
      const figure = picture(page, state);
      await figure.evaluate((element) => element.scrollIntoView({ block: "center" }));
      await frameOf(figure).waitFor();
      assert.ok((await figure.locator("h3").textContent()).length > 3, state);
      assert.ok((await figure.locator("p").textContent()).length > 20, state);
      const shot = await figure.locator(".shot").boundingBox();
      assert.ok(isInside(shot, { x: 0, y: 0, ...page.viewportSize() }), `${state}: the picture is visible`);
      const widget = frameOf(figure).contentFrame();
      const open = await widget.locator("[part~=window]").count();
      const box = await widget.locator(open ? "[part~=window]" : "[part~=launcher]").boundingBox();
      assert.ok(isInside(box, shot), `${state}: ${JSON.stringify({ box, shot })}`);
    }
    assert.deepEqual(
      recordOf(page)
        .paths()
        .filter((request) => request.includes("/connector")),
      [],
    );
    await page.goto(site + BLANK);
    assert.equal(await page.evaluate(() => localStorage.length + sessionStorage.length), 0);
  });
}

test("The gallery shows each of the eleven themes, light and dark", async ({ visit }) => {
  const page = await visit({ path: "/gallery.html" });
  await pictures(page).first().waitFor();
  assert.deepEqual([...THEMES].sort(), filesOf("themes", ".css").sort());
  for (const theme of THEMES) {
    const figure = picture(page, `theme-${theme}`);
    await figure.evaluate((element) => element.scrollIntoView({ block: "center" }));
    await eventually(async () => assert.equal(await frameOf(figure).count(), SCHEMES.length));
    const shown = await frameOf(figure).evaluateAll((frames) => frames.map(({ src }) => src));
    assert.deepEqual(
      shown.map(queryOf).map(({ theme, scheme }) => ({ theme, scheme })),
      SCHEMES.map((scheme) => ({ theme, scheme })),
    );
  }
});

test("The gallery keeps its choices in the URL without history entries, and applies them to its frames", async ({
  visit,
  site,
}) => {
  const page = await visit({ path: "/gallery.html?theme=none" });
  await frameOf(picture(page, "closed")).waitFor();
  const steps = await page.evaluate(() => history.length);
  const chosen = { theme: "light_rose", scheme: "dark", locale: "ar" };
  for (const [name, value] of Object.entries(chosen)) await page.locator(`select[name=${name}]`).selectOption(value);
  assert.deepEqual(queryOf(page.url()), chosen);
  const frame = picture(page, "closed").locator('iframe.shown[src*="locale=ar"]');
  await frame.waitFor();
  await eventually(async () =>
    assert.equal(await picture(page, "closed").locator("iframe").count(), 1, "the previous one was removed"),
  );
  assert.equal(await frame.contentFrame().locator("chat-widget").locator(".cw").getAttribute("dir"), "rtl");
  assert.equal(await page.evaluate(() => history.length), steps);

  await page.reload();
  const title = picture(page, "closed").getByRole("link");
  for (const [name, value] of Object.entries(chosen))
    assert.equal(await page.locator(`select[name=${name}]`).inputValue(), value);
  await title.click();
  await page.locator("html[data-shown=closed]").waitFor();
  assert.deepEqual(queryOf(page.url()), { state: "closed", ...chosen });
  assert.equal(new URL(page.url()).origin, new URL(site).origin);
});

test("The gallery offers every language of the widget", async ({ visit }) => {
  const page = await visit({ path: "/gallery.html" });
  await pictures(page).first().waitFor();
  const offered = await page
    .locator("select[name=locale] option")
    .evaluateAll((options) => options.map(({ value }) => value));
  assert.deepEqual(offered, LANGUAGES);
  assert.deepEqual([...LANGUAGES].sort(), [...filesOf("src/text/locales", ".json"), "en-US"].sort());
});

test("Tab moves through the choices and titles of the gallery, and skips its frames", async ({ visit }) => {
  const page = await visit({ path: "/gallery.html" });
  await frameOf(picture(page, "closed")).waitFor();
  const seen = [];
  for (let step = 0; step < 8; step += 1) {
    await page.keyboard.press("Tab");
    seen.push(await page.evaluate(() => document.activeElement.name || document.activeElement.textContent));
  }
  assert.deepEqual(seen, ["playground", "theme", "scheme", "locale", "screen", "Closed", "Greeting", "Unread"]);
});

test("At 320 px the gallery does not scroll sideways, and loads only nearby frames", async ({ visit, recordOf }) => {
  const page = await visit({ path: "/gallery.html", viewport: { width: 320, height: 568 } });
  await frameOf(picture(page, "closed")).waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
  await recordOf(page).settle();
  assert.ok((await page.locator("iframe").count()) < 5);
});

test("axe reports no violation in the gallery, light or dark", async ({ visit }) => {
  const page = await visit({ path: "/gallery.html", prepare: withAxe });
  await frameOf(picture(page, "closed")).waitFor();
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await pageFindings(page), [], colorScheme);
  }
});

test("Only the gallery, the playground and the documentation may be framed by the site", async ({ visit, site }) => {
  const page = await visit({ path: BLANK });
  const policyOf = async (path) => (await page.request.get(site + path)).headers()["content-security-policy"];
  for (const path of ["/gallery.html", "/playground.html", "/playground-frame.html", "/docs/index.html"]) {
    assert.match(await policyOf(path), /frame-src 'self'; frame-ancestors 'self'$/, path);
  }
  for (const path of ["/", "/help.html", "/chat-widget/chat-widget.js"]) {
    assert.match(await policyOf(path), /^default-src 'none';(?!.*frame-src).* frame-ancestors 'none'$/, path);
  }
});

test("A gallery page renders the same each time", async ({ visit, site }) => {
  const page = await visit({ path: BLANK });
  const shown = async () => {
    await look(page, site, "failed");
    return [...(await messages(page)), ...(await part(page, "log").locator(".cw-time, .cw-day").allTextContents())];
  };
  const first = await shown();
  assert.match(first.at(-1), /9:17/);
  assert.deepEqual(await shown(), first);
});

test("A bare gallery page shows the widget and nothing else", async ({ visit }) => {
  const page = await visit({ path: "/gallery.html?state=short&theme=teal&scheme=dark&bare" });
  await page.locator("html[data-shown=short]").waitFor();
  assert.equal(await page.evaluate(() => document.body.innerText.trim()), "");
  assert.equal(await page.locator("main > *").count(), 0);
  await part(page, "window").waitFor();
});

test("An inline window fills its container and shows the newest message", async ({ visit, site }) => {
  const page = await visit({ path: BLANK });
  await look(page, site, "inline");
  assert.deepEqual(await part(page, "window").boundingBox(), await page.locator("#container").boundingBox());
  const isInSight = () =>
    part(page, "message")
      .last()
      .evaluate((message) => {
        const log = message.closest("[part=log]").getBoundingClientRect();
        return message.getBoundingClientRect().bottom <= log.bottom;
      });
  await eventually(async () => assert.ok(await isInSight()));
});
