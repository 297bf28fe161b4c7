// The widget where it cannot load, or where its module crashes.

import assert from "node:assert/strict";
import { ask, delivered, eventually, focused, openChat, part, ready, say, stored, WASM, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const QUESTION = "How long does delivery take?";
const CONTACT = "mailto:help@kiln.example";

/** Makes the module crash on its next request, by a page that replaces a built-in function with a faulty one. */
const breakModule = (page, times = Infinity) =>
  page.evaluate((times) => {
    const real = Array.of;
    Array.of = (...items) => {
      if (times > 0 && items[0] instanceof Promise) {
        times -= 1;
        throw new Error("no arrays today");
      }
      return real.apply(Array, items);
    };
  }, times);

/** Records the codes of the error events. */
const recordErrors = (page) =>
  page.evaluate(() => {
    window.codes = [];
    (window.chatWidget ||= []).push(["on", "error", ({ code }) => window.codes.push(code)]);
  });
const errorCodes = (page) => page.evaluate(() => window.codes);

test("A module that crashes is replaced by a new instance with the stored conversation, and the page sees no error", async ({
  visit,
  server,
  recordOf,
}) => {
  const page = await visit();
  recordOf(page).tolerate("chat widget: the module broke");
  await openChat(page);
  await ask(page, QUESTION);
  await recordErrors(page);
  await breakModule(page, 1);
  await say(page, "And to Norway?");
  await eventually(async () => assert.deepEqual(await errorCodes(page), ["BROKEN"]));
  await delivered(page);
  await eventually(async () =>
    assert.equal((await server.messages()).filter((line) => line.endsWith("And to Norway?")).length, 1),
  );
  await eventually(async () =>
    assert.equal(await part(page, "message-visitor").getByText("And to Norway?").count(), 1),
  );
  assert.equal(await page.locator("chat-widget > [slot=announcer]").count(), 1);
  assert.equal(await focused(page), "input", "the input keeps the focus");
  await part(page, "close").click();
  await part(page, "window").waitFor({ state: "detached" });
  await openChat(page);
  await ask(page, QUESTION);
});

test("The code that replaces a crashed module is loaded before the crash, so missing files do not matter", async ({
  visit,
  recordOf,
}) => {
  const page = await visit();
  recordOf(page).tolerate("chat widget: the module broke");
  await openChat(page);
  await ask(page, QUESTION);
  await eventually(() => assert.equal(recordOf(page).of("/chat-widget/recover.mjs").length, 1));
  await recordOf(page).settle();
  await page.route("**/chat-widget/recover.mjs", (route) => route.abort());
  await breakModule(page, 1);
  await say(page, "And to Norway?");
  await delivered(page);
});

test("On a phone the page scrolls again after a crash, once the window is closed", async ({ visit, recordOf }) => {
  const page = await visit({ viewport: { width: 390, height: 800 } });
  recordOf(page).tolerate("chat widget: the module broke");
  const overflow = () => page.evaluate(() => document.documentElement.style.overflow);
  await openChat(page);
  await recordErrors(page);
  await breakModule(page, 1);
  await say(page, QUESTION);
  await eventually(async () => assert.deepEqual(await errorCodes(page), ["BROKEN"]));
  await delivered(page);
  assert.equal(await overflow(), "hidden");
  await part(page, "close").click();
  await part(page, "window").waitFor({ state: "detached" });
  assert.equal(await overflow(), "");
});

test("Repeated crashes end in an error message with the site's contact link, and destroy() removes it", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: withOptions(`data-contact="${CONTACT}"`) });
  recordOf(page).tolerate("chat widget: the module broke");
  await openChat(page);
  await recordErrors(page);
  await breakModule(page);
  await say(page, QUESTION);
  await eventually(async () => assert.deepEqual(await errorCodes(page), ["BROKEN", "BROKEN", "BROKEN"]));
  await part(page, "window").waitFor({ state: "detached" });
  const link = part(page, "notice").getByRole("link", { name: "Contact us" });
  assert.equal(await link.getAttribute("href"), CONTACT);
  assert.equal(
    await page.evaluate(() => document.querySelector("chat-widget").shadowRoot.activeElement.getAttribute("part")),
    "notice",
  );
  await part(page, "launcher").click();
  assert.equal(await link.count(), 0);
  await part(page, "launcher").click();
  await part(page, "notice").getByText("The chat is not available right now.").waitFor();
  assert.equal(await part(page, "launcher").getAttribute("aria-expanded"), "true");
  assert.ok(
    Object.keys(await stored(page)).some((key) => key.startsWith("chat-widget:outbox:")),
    "the message is stored",
  );
  await page.evaluate(() => window.chatWidget.destroy());
  assert.equal(await page.locator("chat-widget").count(), 0);
});

test("The page's own launcher shows the error message after repeated crashes", async ({ visit, recordOf }) => {
  const page = await visit({ prepare: withOptions(`data-launcher=".brand" data-contact="${CONTACT}"`) });
  recordOf(page).tolerate("chat widget: the module broke");
  await page.evaluate(() =>
    document.querySelector(".brand").addEventListener("click", (event) => event.preventDefault()),
  );
  await ready(page);
  await recordErrors(page);
  await breakModule(page);
  await page.evaluate((text) => window.chatWidget.sendMessage(text), QUESTION);
  await eventually(async () => assert.deepEqual(await errorCodes(page), ["BROKEN", "BROKEN", "BROKEN"]));
  await eventually(async () => {
    await page.locator(".brand").click();
    assert.equal(await part(page, "notice").getByText("The chat is not available right now.").count(), 1);
  });
  assert.equal(await part(page, "notice").getByRole("link", { name: "Contact us" }).getAttribute("href"), CONTACT);
});

test("The identified visitor is sent with messages after a crash", async ({ visit, recordOf }) => {
  const page = await visit();
  recordOf(page).tolerate("chat widget: the module broke");
  await openChat(page);
  await page.evaluate(() => window.chatWidget.identify({ name: "Ada" }));
  await recordErrors(page);
  await breakModule(page, 1);
  await say(page, QUESTION);
  await eventually(async () => assert.deepEqual(await errorCodes(page), ["BROKEN"]));
  await delivered(page);
  const sent = page.waitForRequest(/\/chat\/messages$/);
  await say(page, "And to Norway?");
  assert.equal((await sent).postDataJSON().visitor.name, "Ada");
});

test("Under a policy that forbids WebAssembly, a click shows the error message and the link, and the error event says why", async ({
  visit,
  recordOf,
}) => {
  const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'";
  const page = await visit({
    prepare: withOptions(`data-load="intent" data-locale="de" data-contact="${CONTACT}"`, {
      "content-security-policy": policy,
    }),
  });
  for (const text of ["chat widget: the module did not load", "wasm-eval", "Content Security Policy"])
    recordOf(page).tolerate(text);
  await recordErrors(page);
  await part(page, "launcher").click();
  await part(page, "notice").getByRole("link", { name: "Kontakt" }).waitFor();
  assert.equal((await errorCodes(page)).at(0), "NOT_LOADED");
  assert.equal(await part(page, "launcher").count(), 1);
});

test("A contact option that is not an http, mailto or tel URL makes no link", async ({ visit, recordOf }) => {
  const page = await visit({
    prepare: withOptions(`data-load="intent" data-offset='{"x":0,"y":0}' data-contact="javascript:alert(1)"`),
  });
  for (const text of ["chat widget: the module did not load", 'data-contact="javascript:alert(1)" is not an address'])
    recordOf(page).tolerate(text);
  await page.route(WASM, (route) => route.fulfill({ status: 404 }));
  await part(page, "launcher").click();
  await part(page, "notice").waitFor();
  assert.equal(await part(page, "notice").getByRole("link").count(), 0);
  const [note, launcher] = await Promise.all(["notice", "launcher"].map((name) => part(page, name).boundingBox()));
  assert.equal(launcher.y - (note.y + note.height), 20, "it stands above the launcher, also in the page's very corner");
  await page.unroute(WASM);
  await openChat(page);
  assert.equal(await part(page, "notice").count(), 0);
});

test("After a failed load, the next click loads the chat", async ({ visit, recordOf }) => {
  const page = await visit({ prepare: withOptions('data-load="intent"') });
  recordOf(page).tolerate("chat widget: the module did not load");
  const files = "**/chat-widget/chat-widget.mjs";
  await page.route(files, (route) => route.abort());
  await part(page, "launcher").click();
  await part(page, "notice").waitFor();
  await page.unroute(files);
  await openChat(page);
  assert.equal(await part(page, "notice").count(), 0);
});

test("After a failed load, a click on the page's own launcher shows the error message, and the next one retries", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({
    prepare: async (page) => {
      await withOptions(`data-load="intent" data-launcher=".brand" data-contact="${CONTACT}"`)(page);
      // Before the page is loaded, since it may prefetch the module.
      await page.route(WASM, (route) => route.fulfill({ status: 404 }));
    },
  });
  recordOf(page).tolerate("chat widget: the module did not load");
  await page.evaluate(() =>
    document.querySelector(".brand").addEventListener("click", (event) => event.preventDefault()),
  );
  await page.locator(".brand").click();
  await part(page, "notice").getByText("The chat is not available right now.").waitFor();
  await page.unroute(WASM);
  await page.locator(".brand").click();
  await part(page, "input").waitFor();
  assert.equal(await part(page, "notice").count(), 0);
});

test("Without a shadow root the error message is shown as well, and the next attempt replaces it with the chat", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({
    prepare: async (page) => {
      await withOptions('data-load="intent" data-launcher=".brand" data-isolate="false"')(page);
      await page.route(WASM, (route) => route.fulfill({ status: 404 }));
    },
  });
  recordOf(page).tolerate("chat widget: the module did not load");
  await page.evaluate(() =>
    document.querySelector(".brand").addEventListener("click", (event) => event.preventDefault()),
  );
  await page.locator(".brand").click();
  await part(page, "notice").waitFor();
  await page.unroute(WASM);
  await page.locator(".brand").click();
  await part(page, "input").waitFor();
  assert.equal(await page.evaluate(() => document.querySelector("chat-widget").shadowRoot), null);
});

test("Where only the script tag's file loads, no error escapes, and the error event names the missing file", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({
    prepare: async (page) => {
      recordOf(page).tolerate("chat widget: the module did not load");
      await withOptions('data-load="intent"')(page);
      await page.route("**/chat-widget/*.mjs", (route) => route.abort());
    },
  });
  await part(page, "launcher").waitFor();
  await page.evaluate(() => {
    window.errors = [];
    window.chatWidget.on("error", ({ code, message }) => {
      window.errors.push(`${code} ${message}`);
      throw new Error("of the page's own handler");
    });
  });
  recordOf(page).tolerate("of the page's own handler");
  await part(page, "launcher").click();
  await eventually(async () => assert.equal(await part(page, "launcher").getAttribute("aria-busy"), null));
  assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/error-state.mjs"));
  const { origin } = new URL(page.url());
  const errors = () => page.evaluate(() => window.errors);
  await eventually(async () => assert.ok((await errors()).length > 0));
  assert.match((await errors())[0], new RegExp(`^NOT_LOADED .*chat-widget\\.mjs \\(${origin}\\)$`));
  // The last fallback is a classic script, which Trusted Types block.
  await recordOf(page).complainsOf("TrustedScriptURL", "require-trusted-types-for");
});

test("An element whose module cannot be loaded shows the error message in its place", async ({ visit, recordOf }) => {
  const body = `<chat-widget inline proxy="/connector" contact="${CONTACT}"></chat-widget><script type="module" src="/chat-widget/element.mjs"></script>`;
  const page = await visit({
    prepare: async (page) => {
      recordOf(page).tolerate("no module, but 404");
      await page.route(WASM, (route) => route.fulfill({ status: 404 }));
      await pageOf(body)(page);
    },
  });
  await part(page, "notice").getByText("The chat is not available right now.").waitFor();
  assert.equal(await part(page, "notice").getByRole("link").getAttribute("href"), CONTACT);
  assert.equal(recordOf(page).of("/chat-widget/chat-widget.wasm").length, 1);
});

test("Without a reachable proxy the window opens, a message can be retried, and the page gets an error event", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({
    clock: true,
    prepare: (page) => page.route("**/connector/**", (route) => route.abort("blockedbyclient")),
  });
  await page.clock.runFor(2000);
  await recordErrors(page);
  await openChat(page);
  await say(page, QUESTION);
  await eventually(async () => {
    await page.clock.runFor(10_000);
    assert.equal(await part(page, "message-failed").count(), 1);
  }, 30_000);
  await part(page, "retry").waitFor();
  assert.ok((await errorCodes(page)).length > 0);
});
