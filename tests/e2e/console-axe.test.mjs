// Accessibility and layout of the operators' console: axe on each page in light and dark, wide and on a phone, and nothing that
// is wider than the screen, in both directions of writing.

import assert from "node:assert/strict";
import { AXE, pageFindings } from "./axe.mjs";
import { eventually } from "./chat.mjs";
import { browser, open, team, test, withTeam } from "./console-harness.mjs";
import { openConsole, visitorOf } from "./team.mjs";

const WIDE = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
const NARROW = { width: 320, height: 640 };
const LONG = "Donaudampfschifffahrtsgesellschaftskapitän";

/** The console of the owner. */
let opened;
let visitor;

withTeam({ fill });

/** Creates an entry of each list, so that no page is empty, and opens the console of the owner. */
async function fill() {
  const [{ call }, noor] = team.operators;
  const { id } = team.site;
  visitor = visitorOf(team, { name: `Anna ${LONG} ${LONG}`, email: `${LONG}@example.com`, company: LONG.repeat(2) });
  await visitor.say("Can I talk to a real person?");
  await visitor.say(`See https://shop.example/${"a-long-path-".repeat(12)}?q=${LONG.repeat(3)}`);
  const arabic = visitorOf(team, { name: "يوسف" });
  await arabic.say("هل تشحنون إلى القاهرة؟", { locale: "ar" });
  const conversation = `conversations/${visitor.conversationId}`;
  await noor.call("POST", `${conversation}/messages`, { text: "A **reply**:\n\n1. one\n2. two\n\n`code`" }, key());
  await noor.call("POST", `${conversation}/notes`, { text: `A note about ${LONG}` }, key());
  await call("POST", `sites/${id}/answers`, {
    question: `Do you ship ${LONG}?`,
    answer: "Yes. ".repeat(40),
    locale: "",
  });
  await call("POST", `sites/${id}/tokens`, { name: `web server ${LONG}` });
  await call("POST", "invitations", {
    email: `${LONG.toLowerCase().replaceAll("ä", "a")}@shop.example`,
    role: "agent",
  });
  for (const color of ["grey", "red", "orange", "yellow", "green", "teal", "blue", "violet"])
    await call("POST", "labels", { name: `${color} ${LONG.slice(0, 30)}`, color });
  await call("POST", "replies", { shortcut: "thanks", text: `Thank you ${LONG.repeat(3)}`, locale: "en" });
  const path = `/${LONG}/*`.repeat(3);
  await call("PUT", `sites/${id}/publishing-rules`, {
    version: 0,
    otherwise: "publish",
    hourlyLimit: 5,
    rules: [
      { name: `Blog ${LONG}`, kind: "overlay", paths: ["/blog", path], action: "publish", despiteProblems: true },
      { name: "Legal", paths: ["/legal"], locales: ["de", "en"], fields: ["title"], maxChange: 200, disabled: true },
    ],
  });
  await call("POST", `sites/${id}/reviews`, {
    title: `News ${LONG}`,
    path: `/${LONG.repeat(3)}`,
    content: "<p>x</p>",
  });
  await call("POST", "webhooks", { url: `https://hooks.example/${LONG.repeat(3)}`, events: [] });
  opened = await openConsole(browser, team, team.operators[0], "/console/");
  opened.context.setDefaultTimeout(30_000);
  await opened.context.addInitScript(AXE);
}

const key = () => ({ "Idempotency-Key": crypto.randomUUID() });

const heading = (name) => (page) => page.getByRole("heading", { level: 1, name, exact: true });
const settings = (section, name, ready = heading(name)) => [`settings: ${name}`, `settings/${section}`, ready];
/** A row of a list, which is there when the list is loaded. */
const rowOf = (text) => (page) => page.getByRole("main").getByRole("listitem").filter({ hasText: text }).last();

/** The pages: a name, the path below `/console/`, and what is there when the page is. */
const PAGES = [
  ["the inbox", "inbox", (page) => page.getByRole("link", { name: "يوسف" })],
  [
    "an open conversation",
    () => `inbox/${visitor.conversationId}`,
    (page) => page.getByRole("log", { name: "Messages" }).getByText("A note about"),
  ],
  ["reports", "reports", (page) => page.getByRole("img", { name: /Bar chart/ })],
  ["publishing", "publishing", rowOf(LONG)],
  ["rules for publishing", "publishing/rules", rowOf(`News ${LONG}`)],
  ["writing an article", "publishing/write", (page) => page.getByRole("textbox").first()],
  ["the own account", "account", (page) => page.getByText("This one")],
  settings("site", "The pot shop"),
  settings("widget", "Widget", (page) => page.frameLocator("iframe").locator("body")),
  settings("assistant", "Assistant"),
  settings("knowledge", "Knowledge", rowOf(LONG)),
  [
    "settings: Website",
    () => `settings/knowledge/${team.site.id}/website`,
    (page) => page.getByText("No website is read yet."),
  ],
  ["settings: Ask it", () => `settings/knowledge/${team.site.id}/ask`, (page) => page.getByRole("textbox")],
  [
    "settings: Tests",
    () => `settings/knowledge/${team.site.id}/tests`,
    (page) => page.getByText("No test questions yet."),
  ],
  settings("access", "Tokens and licenses", rowOf(LONG)),
  settings("retention", "Retention"),
  settings("sites", "Sites", rowOf("The pot shop")),
  settings("team", "Team", rowOf(LONG.slice(0, 8).toLowerCase())),
  settings("labels", "Labels", rowOf("violet")),
  settings("replies", "Canned replies", rowOf(LONG)),
  settings("webhooks", "Webhooks", rowOf("hooks.example")),
  settings("quotas", "Quotas", rowOf("The pot shop")),
  settings("email", "E-mail notifications", (page) => page.getByRole("switch", { name: "A visitor waits" })),
  settings("audit", "Audit log", (page) => page.getByRole("row").filter({ hasText: "webhook.create" })),
  ["the list of settings on a phone", "settings", (page) => page.getByRole("navigation", { name: "Settings" })],
];

/** Opens a page of the console, and waits until it is loaded. */
async function show([, path, ready], viewport) {
  const { page } = opened;
  await page.setViewportSize(viewport);
  await page.goto(`${team.address}/console/${typeof path === "string" ? path : path()}`);
  await ready(page).first().waitFor({ state: "attached" });
  await page.locator(".loading-rows").waitFor({ state: "detached" });
  return page;
}

/** Shows what is behind "More options". It runs in the page. */
function unfold() {
  for (const details of document.querySelectorAll("details")) details.open = true;
}

/**
 * Returns the elements that reach beyond the sides of the screen, whether the page scrolls under its rail, and the
 * boxes that scroll sideways without being reachable by the keyboard. It runs in the page.
 */
function findTooWide() {
  const name = (element) =>
    `${element.localName}.${[...element.classList].join(".")} ${(element.textContent ?? "").trim().slice(0, 40)}`;
  // A strip of links scrolls to the one with the focus.
  const mayScroll = "[tabindex='0'], nav, nav ul, textarea, input, select, pre";
  const found = [];
  if (document.documentElement.scrollWidth > innerWidth)
    found.push(`the page: ${document.documentElement.scrollWidth}`);
  const { scrollHeight } = document.documentElement;
  if (document.querySelector(".rail") && scrollHeight > innerHeight) found.push(`the page is ${scrollHeight} px high`);
  const isCut = (element) => {
    for (let box = element; box; box = box.parentElement) {
      const { overflowX, textOverflow, position, clipPath } = getComputedStyle(box);
      if (box.matches(`.for-readers, .skip, ${mayScroll}`) && overflowX !== "visible") return true;
      if (box.matches(".for-readers, .skip") || textOverflow === "ellipsis") return true;
      if (position === "absolute" && clipPath !== "none") return true;
    }
    return false;
  };
  for (const element of document.body.querySelectorAll("*")) {
    const { overflowX, visibility } = getComputedStyle(element);
    const rect = element.getBoundingClientRect();
    if (rect.width === 0 || rect.height === 0 || visibility === "hidden" || element.closest("svg svg, svg > *"))
      continue;
    const scrolls = ["auto", "scroll"].includes(overflowX) && element.scrollWidth > element.clientWidth + 1;
    if (scrolls && !element.matches(mayScroll)) found.push(`scrolls: ${name(element)}`);
    if ((rect.left < -1 || rect.right > innerWidth + 1) && !isCut(element))
      found.push(`${Math.round(rect.left)} to ${Math.round(rect.right)}: ${name(element)}`);
  }
  return found;
}

/**
 * Returns the screens of a page for axe: each width, and each colour scheme, once. The next page has the other pairs, so that
 * all pages together have every pair. Colours do not depend on the width, nor the layout on colours.
 */
const screensOf = (index) => [
  [WIDE, index % 2 === 0 ? "light" : "dark"],
  [PHONE, index % 2 === 0 ? "dark" : "light"],
];

/** Asserts that axe reports nothing on a page as it is, on this screen. */
async function hasNoFindings(page, name, viewport, colorScheme) {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  // Colours change in a transition of no length, in the next frame.
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.deepEqual(await pageFindings(page), [], `${name}, ${colorScheme}, ${viewport.width} px`);
}

for (const [index, shown] of PAGES.entries()) {
  const [name] = shown;
  test(`axe reports nothing, and nothing is too wide: ${name}`, async () => {
    opened.errors.length = 0;
    for (const [viewport, colorScheme] of screensOf(index)) {
      if (name.endsWith("on a phone") && viewport === WIDE) continue;
      await hasNoFindings(await show(shown, viewport), name, viewport, colorScheme);
    }
    const { page } = opened;
    await page.evaluate(unfold);
    for (const viewport of [NARROW, PHONE, WIDE]) {
      await page.setViewportSize(viewport);
      for (const direction of ["ltr", "rtl"]) {
        await page.evaluate((direction) => (document.documentElement.dir = direction), direction);
        await eventually(
          async () => assert.deepEqual(await page.evaluate(findTooWide), [], `${direction}, ${viewport.width} px`),
          3_000,
        );
      }
    }
    assert.deepEqual(opened.errors, []);
  });
}

/** Asserts that axe reports nothing on a page as it is, and that nothing is too wide. */
async function isInOrder(page, name, index) {
  for (const [viewport, colorScheme] of screensOf(index)) {
    await hasNoFindings(page, name, viewport, colorScheme);
    assert.deepEqual(await page.evaluate(findTooWide), [], `${name}, ${viewport.width} px`);
  }
}

test("axe reports nothing in the forms of accounts", async () => {
  const { link } = await team.operators[0].call("POST", "invitations", { email: "ada@shop.example", role: "agent" });
  const { page, context } = await open("/console/icon.svg", null);
  await context.addInitScript(AXE);
  for (const [index, [path, name]] of [
    ["/console/", "Sign in"],
    ["/console/forgot", "Forgot your password?"],
    [link, "Create your account"],
  ].entries()) {
    await page.goto("about:blank");
    await page.goto(new URL(path, team.address).href);
    await page.getByRole("heading", { name }).waitFor();
    await isInOrder(page, name, index);
  }
});

test("axe reports nothing in dialogs and menus", async () => {
  const { page } = opened;
  opened.errors.length = 0;
  for (const [index, [path, button, role]] of [
    ["settings/team", "Invite somebody", "dialog"],
    ["settings/labels", "Add a label", "dialog"],
    ["publishing/rules", "Add a rule", "dialog"],
    ["settings/webhooks", "Add a webhook", "dialog"],
    ["settings/access", "Revoke web server", "dialog"],
    ["account", ": your state and account", "menu"],
  ].entries()) {
    await page.setViewportSize(WIDE);
    await page.goto(`${team.address}/console/${path}`);
    await page.getByRole("button", { name: button }).click();
    await page.getByRole(role).waitFor();
    await isInOrder(page, button, index);
  }
  assert.deepEqual(opened.errors, []);
});
