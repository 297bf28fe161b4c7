// The playground: every option as a control, a page with the widget, and code that mounts the same.

import assert from "node:assert/strict";
import { NAMES } from "../../www/demo/gallery/choices.js";
import { pageFindings, withAxe } from "./axe.mjs";
import { background, eventually, part, say } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

/** Texts with special characters of HTML, JSON and JavaScript. */
const AWKWARD = `Ask "the" potter's <b>&amp; Co</b> \\n {x}`;
/** Options with a visible effect, by the names of their fields. */
const CHOSEN = {
  theme: "emerald",
  position: "start",
  "offset.x": "40",
  suggestedQuestions: `Do you ship?\n${AWKWARD}`,
  "greeting.text": "Any questions?",
  "greeting.after": "0",
  replyTime: AWKWARD,
  strings: `write=${AWKWARD}`,
  "visitor.company": AWKWARD,
};
const EMERALD = "rgb(5, 120, 68)";

/** A screen that shows the whole frame. */
const SCREEN = { width: 1280, height: 1100 };

const address = (chosen) => `/playground.html?${new URLSearchParams(chosen)}`;
const control = (page, name) => page.locator(`.options [name="${name}"]`);
const guest = (page) => page.frameLocator(".screen iframe");
const code = (page) => page.locator("#code").textContent();

/** Waits until the widget in the frame has the chosen options. */
const shown = (page) =>
  eventually(async () => {
    const isShown = await page.evaluate(
      (own) => {
        const chosen = new URLSearchParams(location.search);
        for (const name of own) chosen.delete(name);
        return document.querySelector(".screen iframe")?.dataset.shown === chosen.toString();
      },
      ["screen", "service", "code"],
    );
    assert.ok(isShown, "the widget has the choices");
  });

/** Checks that the widget in `scope` looks as `CHOSEN` says. */
async function looksChosen(page, scope) {
  await scope.locator("[part~=preview]").getByText("Any questions?").waitFor();
  assert.equal(await background(scope, "launcher"), EMERALD);
  const launcher = await part(scope, "launcher").boundingBox();
  assert.ok(launcher.x < (await page.viewportSize()).width / 2, "at the start of the lines");
  await part(scope, "launcher").click();
  await part(scope, "suggestion").getByText(AWKWARD, { exact: true }).waitFor();
  assert.equal(await part(scope, "input").getAttribute("placeholder"), AWKWARD);
}

test("Every field of every option has a labelled control", async ({ visit }) => {
  const page = await visit({ path: "/playground.html" });
  await control(page, "theme").waitFor();
  const names = await page.locator(".options [name]").evaluateAll((controls) => controls.map(({ name }) => name));
  assert.deepEqual([...names].sort(), [...NAMES].sort());
  const labels = await page
    .locator(".options [name]")
    .evaluateAll((controls) => controls.map(({ labels }) => labels[0]?.textContent));
  assert.ok(labels.every(Boolean), labels.join());
});

test("The widget shows the chosen options, and the playground's URL reproduces them", async ({ visit }) => {
  const page = await visit({ path: "/playground.html", viewport: SCREEN });
  for (const [name, text] of Object.entries(CHOSEN)) {
    const field = control(page, name);
    if (await field.evaluate((element) => element.localName === "select")) await field.selectOption(text);
    else await field.fill(text);
  }
  await shown(page);
  assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), CHOSEN);
  await looksChosen(page, guest(page));
  const before = await code(page);

  await page.reload();
  await shown(page);
  assert.equal(await code(page), before);
  for (const [name, text] of Object.entries(CHOSEN)) assert.equal(await control(page, name).inputValue(), text, name);
  await looksChosen(page, guest(page));
});

for (const [tab, name] of [
  ["Script tag", "script"],
  ["Element", "element"],
]) {
  test(`The code of the tab "${tab}" mounts a widget with the chosen options`, async ({ visit }) => {
    const page = await visit({ path: address({ ...CHOSEN, code: name }), viewport: SCREEN });
    assert.equal(await page.getByRole("tab", { selected: true }).textContent(), tab);
    const pasted = await visit({ prepare: pageOf(await code(page)) });
    await looksChosen(pasted, pasted);
  });
}

test("The code includes the page's container and launcher, and the widget uses them", async ({ visit }) => {
  const page = await visit({ path: address({ container: "#chat" }) });
  const inline = await visit({ prepare: pageOf(await code(page)) });
  await part(inline, "input").waitFor();
  assert.equal(await part(inline, "launcher").count(), 0);
  await page.goto(new URL(address({ launcher: "#ask" }), page.url()).href);
  const asking = await visit({ prepare: pageOf(await code(page)) });
  await asking.getByRole("button", { name: "Ask us" }).click();
  await part(asking, "input").waitFor();
});

test("The button copies the code and confirms it for a while", async ({ visit }) => {
  const page = await visit({
    path: address({ theme: "rose" }),
    clock: true,
    permissions: ["clipboard-read", "clipboard-write"],
  });
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  await page.getByRole("status").getByText("The code was copied.").waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await code(page));
  await page.clock.runFor(3_000);
  await page.getByRole("button", { name: "Copy", exact: true }).waitFor();
});

test("Arrow keys move between the tabs, and the URL keeps the tab", async ({ visit }) => {
  const page = await visit({ path: "/playground.html" });
  await page.getByRole("tab", { name: "Script tag" }).focus();
  await page.keyboard.press("End");
  assert.match(await code(page), /view! \{ <ChatWidget settings\/> \}/);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  assert.match(await code(page), /<chat-widget proxy="\/connector"><\/chat-widget>/);
  await eventually(() => assert.equal(new URL(page.url()).search, "?code=element"));
  await page.reload();
  assert.match(await code(page), /<chat-widget/);
});

test("The fake service replies, an operator writes, and changing the theme keeps window and conversation", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ path: "/playground.html", viewport: SCREEN });
  await shown(page);
  await part(guest(page), "launcher").click();
  await say(guest(page), "What are your prices?");
  await part(guest(page), "message-assistant").getByText("Meadow mug").waitFor();
  await page.getByRole("button", { name: "A person writes" }).click();
  await part(guest(page), "message-operator").getByText("Maren").waitFor();
  await control(page, "theme").selectOption("emerald");
  await shown(page);
  await part(guest(page), "message-visitor").getByText("What are your prices?").waitFor();
  await eventually(async () => assert.equal(await background(guest(page), "header"), EMERALD));
  assert.deepEqual(
    recordOf(page)
      .paths()
      .filter((path) => path.includes("/connector")),
    [],
  );
});

test("An operator's message to a closed window shows a preview and changes the page's title", async ({ visit }) => {
  const page = await visit({ path: address({ operatorName: "Maren" }), viewport: SCREEN });
  await shown(page);
  const title = await page.locator(".title").textContent();
  await page.getByRole("button", { name: "A person writes" }).click();
  await part(guest(page), "preview").getByText("Good morning, Maren here.").waitFor();
  await eventually(async () => assert.notEqual(await page.locator(".title").textContent(), title));
});

test("The playground can use the demo's own service", async ({ visit, recordOf }) => {
  const page = await visit({ path: "/playground.html" });
  await shown(page);
  await page.locator("[name=service]").selectOption("real");
  await eventually(() => assert.ok(recordOf(page).paths().includes("GET /connector/chat/config")));
});

test("At 320 px the playground does not scroll sideways", async ({ visit }) => {
  const page = await visit({ path: address(CHOSEN), viewport: { width: 320, height: 568 } });
  await shown(page);
  for (const details of await page.locator("details:not([open]) summary").all()) await details.click();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 320);
});

test("axe reports no violation in the playground, light or dark", async ({ visit }) => {
  const page = await visit({ path: address({ theme: "custom", consent: "required" }), prepare: withAxe });
  await shown(page);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    assert.deepEqual(await pageFindings(page), [], colorScheme);
  }
});
