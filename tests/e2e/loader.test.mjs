// The script tag: its first request, the load of the module, and early clicks.

import assert from "node:assert/strict";
import { CONFIG, TAG, WASM, ask, compiled, delivered, eventually, focused } from "./chat.mjs";
import { nextFrame, openChat, part, ready, shopWith, visitHolding, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";

test("The first request to the proxy is for the config, and is sent once", async ({ visit, recordOf }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, "How long does delivery take?");
  const requests = recordOf(page).requests.filter(({ path }) => path.startsWith("/connector/"));
  assert.equal(requests[0].path, "/connector/chat/config");
  assert.equal(requests[0].search, "?locale=en-US");
  assert.equal(recordOf(page).of("/connector/chat/config").length, 1);
});

test("A click before the module loads opens the window with the input focused once it has loaded", async ({
  visit,
  server,
}) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await part(page, "launcher").click();
  await wasm.requested;
  assert.equal(await part(page, "window").count(), 0);
  assert.equal(await part(page, "launcher").getAttribute("aria-busy"), "true");
  wasm.release();
  await part(page, "window").waitFor();
  await eventually(async () => assert.equal(await focused(page), "input"));
  await page.keyboard.type("How long does delivery take?");
  await page.keyboard.press("Enter");
  await delivered(page);
  assert.equal((await server.conversation()).messages.length, 2);
});

test("A press during which the module loads counts as a click", async ({ visit }) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await part(page, "launcher").hover();
  await page.mouse.down();
  await wasm.requested;
  wasm.release();
  await compiled(page);
  await page.mouse.up();
  await part(page, "window").waitFor();
  await eventually(async () => assert.equal(await focused(page), "input"));
});

test("A second click while the module loads leaves the window open", async ({ visit }) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await part(page, "launcher").click();
  await wasm.requested;
  await part(page, "launcher").click();
  wasm.release();
  await ready(page);
  await part(page, "window").waitFor();
});

test("The files of the window are fetched after the page has loaded, and nothing of them runs", async ({
  visit,
  recordOf,
}) => {
  const watchCompilation = () => {
    for (const name of ["compileStreaming", "instantiateStreaming", "compile", "instantiate"])
      WebAssembly[name] = () => (window.compiled = true);
  };
  const prepare = (page) => page.addInitScript(watchCompilation);
  const [page, picture] = await visitHolding(visit, "**/hero.svg", { prepare });
  await part(page, "launcher").waitFor();
  assert.deepEqual(recordOf(page).moduleFiles(), []);
  picture.release();
  await eventually(() => assert.equal(recordOf(page).windowFiles().length, 3));
  await recordOf(page).settle();
  await nextFrame(page);
  const seen = await page.evaluate(() => ({
    state: window.chatWidget.state,
    compiled: window.compiled,
    loaded: performance.getEntriesByType("navigation")[0].loadEventStart,
    files: performance
      .getEntriesByType("resource")
      .filter(({ name }) => /\.(mjs|wasm)$/.test(name))
      .map(({ name, startTime, initiatorType }) => ({ name, startTime, initiatorType })),
  }));
  assert.deepEqual([seen.state, seen.compiled], [undefined, undefined]);
  assert.ok(seen.files.length >= 3, "the module, the WebAssembly and the theme");
  for (const { name, startTime, initiatorType } of seen.files) {
    assert.ok(startTime >= seen.loaded, `${name} waited for the page`);
    if (/chat-widget\.(mjs|wasm)$|themes/.test(name)) assert.equal(initiatorType, "fetch", name);
  }
});

for (const [intent, show] of [
  ["hovering the launcher", (page) => part(page, "launcher").hover()],
  ["chatWidget.open()", (page) => page.evaluate(() => window.chatWidget.open())],
]) {
  test(`The module loads before the page on intent: ${intent}`, async ({ visit }) => {
    const [page, picture] = await visitHolding(visit, "**/hero.svg");
    await part(page, "launcher").waitFor();
    await show(page);
    await ready(page);
    assert.notEqual(await page.evaluate(() => document.readyState), "complete");
    picture.release();
  });
}

test('With load="intent" the module comes on intent, and not before', async ({ visit, recordOf }) => {
  const page = await visit({ clock: true, prepare: withOptions('data-load="intent"') });
  await page.waitForLoadState("load");
  await part(page, "launcher").waitFor();
  await page.clock.runFor(60_000);
  await eventually(() => assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/companion.mjs")));
  await page.clock.runFor(60_000);
  assert.deepEqual(recordOf(page).windowFiles(), []);
  await openChat(page);
});

test("With Save-Data the module loads on intent only", async ({ visit, recordOf }) => {
  const saves = () => Object.defineProperty(navigator.connection, "saveData", { get: () => true });
  const page = await visit({ clock: true, prepare: (page) => page.addInitScript(saves) });
  await page.waitForLoadState("load");
  await part(page, "launcher").waitFor();
  await page.clock.runFor(60_000);
  await eventually(() => assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/companion.mjs")));
  await page.clock.runFor(60_000);
  assert.deepEqual(recordOf(page).windowFiles(), []);
  await openChat(page);
});

/** Returns the visible properties of the launcher. */
const look = (page) =>
  part(page, "launcher").evaluate((button) => {
    const box = (element) => {
      const { x, y, width, height } = element.getBoundingClientRect();
      return [x, y, width, height];
    };
    const { backgroundColor, color, borderRadius, boxShadow, position, zIndex, cursor } = getComputedStyle(button);
    return {
      box: box(button),
      icon: box(button.querySelector("svg")),
      drawing: [...button.querySelectorAll("path")].map((path) => path.getAttribute("d")),
      style: { backgroundColor, color, borderRadius, boxShadow, position, zIndex, cursor },
      label: button.getAttribute("aria-label"),
    };
  });

for (const [setup, attributes = "", options] of [
  ["with default options"],
  [
    "with offsets, a z-index and a token",
    `data-offset='{"x":40,"y":72}' data-z-index="50" data-theme-tokens='{"accent":"rgb(107, 47, 179)"}'`,
  ],
  ["in the corner, at z-index 0", `data-offset='{"x":0,"y":0}' data-z-index="0"`],
  ["with a custom theme", `data-theme="custom" data-theme-tokens='{"accent":"rgb(107, 47, 179)"}'`],
  [
    "on the other side, in the visitor's colour scheme",
    'data-position="start" data-theme="light_amber" data-color-scheme="auto"',
    { colorScheme: "dark" },
  ],
  ["in a right-to-left language", 'data-locale="he-IL"'],
]) {
  test(`The loader's launcher looks like the module's ${setup}`, async ({ visit }) => {
    const [page, wasm] = await visitHolding(visit, WASM, { prepare: withOptions(attributes), ...options });
    await part(page, "launcher").waitFor();
    const painted = await look(page);
    const button = await part(page, "launcher").elementHandle();
    wasm.release();
    await ready(page);
    assert.equal(await button.evaluate(({ isConnected }) => isConnected), false, "the module's own button");
    const taken = await look(page);
    // The loader has English texts only.
    if (/locale/.test(attributes)) taken.label = painted.label;
    assert.deepEqual(taken, painted);
  });
}

test("A click on the page's own launcher before the module loads opens the window, and closing returns the focus", async ({
  visit,
}) => {
  const button = '<button id="help"><b>Help</b></button><main';
  const prepare = shopWith((html) =>
    html.replace("data-proxy=", 'data-launcher="#help" data-proxy=').replace("<main", button),
  );
  const [page, wasm] = await visitHolding(visit, WASM, { prepare });
  await page.evaluate(() => {
    window.pressed = 0;
    document.getElementById("help").addEventListener("click", () => (window.pressed += 1));
  });
  await page.locator("#help b").click();
  await wasm.requested;
  assert.equal(await part(page, "window").count(), 0);
  wasm.release();
  await part(page, "window").waitFor();
  await eventually(async () => assert.equal(await focused(page), "input"));
  assert.equal(await page.locator("#help").getAttribute("aria-expanded"), "true");
  assert.equal(await page.evaluate(() => window.pressed), 1, "the page gets one click");
  // Also after the options have changed.
  await page.evaluate(() => window.chatWidget.ready.then((widget) => widget.setTheme("rose")));
  await page.keyboard.press("Escape");
  await part(page, "window").waitFor({ state: "detached" });
  await page.locator("#help:focus").waitFor();
  assert.equal(await page.locator("#help").getAttribute("aria-expanded"), "false");
  // The early click has been handled.
  await page.evaluate(() => window.chatWidget.ready.then((widget) => widget.setTheme("blue")));
  assert.equal(await part(page, "window").count(), 0);
});

test("A focused launcher keeps the focus when the module takes over", async ({ visit }) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await wasm.requested;
  await part(page, "launcher").focus();
  wasm.release();
  await ready(page);
  assert.equal(await focused(page), "launcher");
  await page.keyboard.press("Enter");
  await part(page, "window").waitFor();
});

test("The next click retries a failed module load", async ({ visit, recordOf }) => {
  const [page, wasm] = await visitHolding(visit, WASM, { failure: "failed" });
  recordOf(page).tolerate("chat widget: the module did not load");
  await part(page, "launcher").click();
  await wasm.requested;
  wasm.release();
  await eventually(async () => assert.equal(await part(page, "launcher").getAttribute("aria-busy"), null));
  assert.equal(await part(page, "window").count(), 0);
  await page.unroute(WASM);
  await openChat(page);
});

test("A page that has the script tag twice has one widget", async ({ visit }) => {
  const prepare = shopWith((html) => html.replace(TAG, "$&$&"));
  const page = await visit({ prepare });
  await openChat(page);
  assert.equal(await page.locator("chat-widget").count(), 1);
  assert.equal(await part(page, "launcher").count(), 1);
});

test("A script tag without a proxy says what is missing, and touches nothing", async ({ visit, recordOf }) => {
  const prepare = shopWith((html) => html.replace(' data-proxy="/connector"', ""));
  const page = await visit({ prepare });
  await page.waitForLoadState("load");
  await eventually(() => assert.equal(recordOf(page).complaints.length, 1));
  assert.match(recordOf(page).takeComplaints()[0], /the script tag needs data-proxy="/);
  assert.equal(await page.locator("chat-widget").count(), 0);
  assert.deepEqual(recordOf(page).of("/connector/chat/config"), []);
});

test("The launcher appears after a second without a config", async ({ visit }) => {
  const [page, config] = await visitHolding(visit, CONFIG);
  await config.requested;
  await part(page, "launcher").waitFor();
  config.release();
});
