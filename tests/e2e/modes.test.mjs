// Forced colours, reduced motion, small screens.

import assert from "node:assert/strict";
import { part } from "./chat.mjs";
import { BLANK, look } from "./gallery.mjs";
import { test } from "./harness.mjs";

/** A very small phone, and a desktop of 1280 by 800 px at 400 %. */
const SMALL = [
  { width: 320, height: 568 },
  { width: 320, height: 200 },
];
/** States that together show each part of the widget. */
const EVERY_KIND = [
  "closed",
  "empty",
  "conversation",
  "operator",
  "failed",
  "offline",
  "blocked",
  "person-offered",
  "contact",
  "form",
  "contact-done",
  "menu",
  "mydata",
  "composer",
  "long",
  "edges",
  "rtl",
];
/** Minimum height of the log for messages: two lines, in pixels. */
const TWO_LINES = 44;

/** Returns the part or class of each element without a visible border. */
const withoutBorder = (locator) =>
  locator.evaluateAll((elements) =>
    elements
      .filter((element) => {
        const { borderTopStyle, borderTopWidth, borderTopColor, backgroundColor } = getComputedStyle(element);
        const drawn = borderTopStyle !== "none" && parseFloat(borderTopWidth) >= 1;
        return !drawn || borderTopColor === backgroundColor;
      })
      .map((element) => element.getAttribute("part") ?? element.className),
  );

/** Returns the focused part of the widget, and the width of the focus ring around it or its field, including a border. */
const ring = (page) =>
  page.evaluate(() => {
    const focused = document.querySelector("chat-widget").shadowRoot.activeElement;
    const width = (element) => {
      const { outlineStyle, outlineWidth, outlineColor, borderTopWidth, borderTopColor } = getComputedStyle(element);
      if (outlineStyle === "none") return 0;
      return parseFloat(outlineWidth) + (borderTopColor === outlineColor ? parseFloat(borderTopWidth) : 0);
    };
    return (
      focused && {
        part: focused.getAttribute("part") ?? focused.localName,
        width: Math.max(width(focused), width(focused.closest(".cw-field") ?? focused.parentElement)),
      }
    );
  });

test("With forced colours every shape has a border", async ({ visit, site }) => {
  const page = await visit({ path: BLANK, forcedColors: "active" });
  const shapes = {
    unread: [part(page, "launcher"), part(page, "badge")],
    operator: [
      part(page, "window"),
      part(page, "launcher"),
      part(page, "message").locator(".cw-bubble"),
      page.locator(".cw-field"),
    ],
    empty: [part(page, "suggestion"), page.locator(".cw-avatar")],
    failed: [part(page, "message-failed").locator(".cw-bubble")],
    blocked: [part(page, "notice")],
  };
  for (const [state, locators] of Object.entries(shapes)) {
    await look(page, site, state);
    for (const locator of locators) {
      assert.ok((await locator.count()) > 0, `${state}: ${locator}`);
      assert.deepEqual(await withoutBorder(locator), [], state);
    }
  }
});

test("With forced colours the borders tell visitor, assistant, operator and failed messages apart", async ({
  visit,
  site,
}) => {
  const page = await visit({ path: BLANK, forcedColors: "active" });
  const border = (name) =>
    part(page, name)
      .last()
      .locator(".cw-bubble")
      .evaluate((bubble) => getComputedStyle(bubble).borderTop.split(" rgb")[0]);
  await look(page, site, "failed");
  assert.equal(await border("message-assistant"), "1px solid");
  assert.equal(await border("message-failed"), "2px dashed");
  assert.equal(
    await part(page, "message-visitor")
      .first()
      .locator(".cw-bubble")
      .evaluate((bubble) => getComputedStyle(bubble).borderTopWidth),
    "2px",
  );
});

for (const forcedColors of ["active", "none"]) {
  test(`The focus is visible on every control, with forced colours ${forcedColors}`, async ({ visit, site }) => {
    const page = await visit({ path: BLANK, forcedColors });
    await look(page, site, "failed");
    await part(page, "menu").focus();
    const seen = [];
    // From the first button to the launcher, the last one.
    while (seen.at(-1) !== "launcher") {
      const { part, width } = await ring(page);
      assert.ok(width >= 2, `${part} has a ring of ${width} px`);
      seen.push(part);
      await page.keyboard.press("Tab");
    }
    assert.deepEqual(seen, ["menu", "close", "log", "a", "retry", "input", "send", "launcher"]);
  });
}

test("With reduced motion nothing is animated, not even the typing indicator", async ({ visit, site }) => {
  const page = await visit({ path: BLANK, reducedMotion: "no-preference" });
  const moving = () =>
    page.evaluate(() => {
      const { shadowRoot } = document.querySelector("chat-widget");
      return shadowRoot.getAnimations().map(({ effect }) => effect.target.className);
    });
  await look(page, site, "typing");
  assert.deepEqual((await moving()).filter((name) => name === "cw-typing-dot").length, 3);
  await page.emulateMedia({ reducedMotion: "reduce" });
  assert.deepEqual(await moving(), []);
  await look(page, site, "typing");
  assert.deepEqual(await moving(), []);
});

/** Returns the elements that are wider than the screen or their box; code and tables scroll in their own boxes. */
const tooWide = (page) =>
  page.evaluate(() => {
    const { shadowRoot } = document.querySelector("chat-widget");
    const scrolls = (element) => /auto|scroll/.test(getComputedStyle(element).overflowX);
    const inOwnBox = (element) => {
      for (let at = element; at; at = at.parentElement) {
        if (scrolls(at) && (at.matches("pre") || at.querySelector(":scope > table, :scope > code"))) return true;
      }
      return false;
    };
    const names = [];
    const { scrollingElement } = document;
    if (scrollingElement.scrollWidth > scrollingElement.clientWidth) names.push("the page");
    for (const element of shadowRoot.querySelectorAll("*")) {
      const { left, right } = element.getBoundingClientRect();
      const name = element.getAttribute("part") ?? element.getAttribute("class") ?? element.localName;
      if (inOwnBox(element)) continue;
      if (left < 0 || right > innerWidth) names.push(`${name} from ${left} to ${right}`);
      // Text with an ellipsis is clipped on purpose.
      const { overflowX, textOverflow } = getComputedStyle(element);
      const holds = element.matches(".cw-bubble") || (overflowX !== "visible" && textOverflow !== "ellipsis");
      if (holds && !element.matches(".cw-hidden") && element.scrollWidth > element.clientWidth) {
        names.push(`${name} has ${element.scrollWidth} px in ${element.clientWidth}`);
      }
    }
    return names;
  });

for (const viewport of SMALL) {
  const size = `${viewport.width} by ${viewport.height} px`;
  test(`At ${size} only code and tables scroll sideways, and the log and the input stay usable`, async ({
    visit,
    site,
  }) => {
    const page = await visit({ path: BLANK, viewport });
    for (const state of EVERY_KIND) {
      await look(page, site, state);
      assert.deepEqual(await tooWide(page), [], state);
      if (["closed", "mydata"].includes(state)) continue;
      const room = await part(page, "log").evaluate(({ clientHeight }) => clientHeight);
      assert.ok(room >= TWO_LINES, `${state}: the log has ${room} px`);
      const end = part(page, state === "blocked" ? "notice" : "composer");
      await end.evaluate((element) => element.scrollIntoView({ block: "end" }));
      const below = await end.evaluate((element) => element.getBoundingClientRect().bottom - innerHeight);
      assert.ok(below < 1, `${state}: ${below} px of the composer are outside the window`);
    }
  });
}
