// `window.chatWidget`: controls, state and events.

import assert from "node:assert/strict";
import { WASM, ask, compiled, delivered, eventually, focused } from "./chat.mjs";
import { openChat, part, ready, advanceClock, allFilesLoaded, visitHolding } from "./chat.mjs";
import { test } from "./harness.mjs";

/** Records these events of the widget in the page. */
const listen = (page, names) =>
  page.evaluate((names) => {
    window.emitted = [];
    for (const name of names) window.chatWidget.on(name, (detail) => window.emitted.push([name, detail]));
  }, names);
const emitted = (page) => page.evaluate(() => window.emitted);

test("Calls pushed before the script loads are executed once it has loaded", async ({ visit, server }) => {
  const queue = () => {
    window.emitted = [];
    (window.chatWidget ||= []).push(["on", "message", (message) => window.emitted.push(message.role)]);
    window.chatWidget.push(["open"]);
    window.chatWidget.push(["sendMessage", "How long does delivery take?"]);
  };
  const page = await visit({ prepare: (page) => page.addInitScript(queue) });
  await part(page, "window").waitFor();
  await delivered(page);
  assert.equal((await server.messages())[0], "visitor: How long does delivery take?");
  await eventually(async () => assert.deepEqual(await emitted(page), ["visitor", "assistant"]));
  // And push() still works.
  await page.evaluate(() => window.chatWidget.push(["close"]));
  await part(page, "window").waitFor({ state: "detached" });
});

test("Calls made before the module loads are executed in order once it has loaded", async ({ visit }) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await part(page, "launcher").waitFor();
  await page.evaluate(() => {
    const { chatWidget } = window;
    chatWidget.open();
    chatWidget.setDraft("Are you open");
    chatWidget.close();
    chatWidget.toggle();
    chatWidget.setDraft("Are you open on Saturday?");
  });
  assert.equal(await page.evaluate(() => window.chatWidget.state), undefined);
  wasm.release();
  await part(page, "window").waitFor();
  assert.equal(await part(page, "input").inputValue(), "Are you open on Saturday?");
});

test("open(), close() and toggle() change the window and the state alike", async ({ visit, server }) => {
  const page = await visit();
  await ready(page);
  await page.evaluate(() => window.chatWidget.ready.then(() => {}));
  const state = () => page.evaluate(() => window.chatWidget.state);
  assert.equal((await state()).open, false);
  await page.evaluate(() => window.chatWidget.open());
  await part(page, "window").waitFor();
  assert.equal((await state()).open, true);
  await page.evaluate(() => window.chatWidget.close());
  await part(page, "window").waitFor({ state: "detached" });
  await page.evaluate(() => window.chatWidget.toggle());
  await ask(page, "How long does delivery take?");
  const { id, visitor } = await server.conversation();
  await eventually(async () =>
    assert.deepEqual(await state(), {
      open: true,
      unread: 0,
      operatorOnline: false,
      visitorId: visitor.visitorId,
      conversationId: id,
    }),
  );
});

test("The controller and the element emit open, message, lead, presence and close", async ({ visit, server }) => {
  const page = await visit();
  await ready(page);
  await listen(page, ["open", "message", "lead", "presence", "close"]);
  await page.evaluate(() => {
    window.bubbled = [];
    const record = ({ type, target }) => window.bubbled.push(`${type} from ${target.localName}`);
    for (const name of ["open", "message", "close"]) document.addEventListener(`chat-widget:${name}`, record);
  });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await eventually(async () => assert.ok((await emitted(page)).some(([name]) => name === "presence")));
  await part(page, "close").click();

  const all = await emitted(page);
  const detailsOf = (name) => all.filter(([event]) => event === name).map(([, detail]) => detail);
  const [question, answer] = (await server.conversation()).messages;
  assert.deepEqual(detailsOf("open"), [{}]);
  assert.deepEqual(detailsOf("message"), [
    { id: question.id, role: "visitor", content: question.content },
    { id: answer.id, role: "assistant", content: answer.content },
  ]);
  const [{ hasContact, needsHandoff }, ...more] = detailsOf("lead");
  assert.deepEqual([hasContact, needsHandoff, more], [false, false, []]);
  assert.deepEqual(detailsOf("presence"), [{ operatorOnline: false }]);
  assert.deepEqual(detailsOf("close"), [{}]);
  assert.deepEqual(
    await page.evaluate(() => window.bubbled),
    ["open", "message", "message", "close"].map((name) => `chat-widget:${name} from chat-widget`),
  );
});

test("Each message is emitted once, and none is emitted again after a reload", async ({ visit, server, recordOf }) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1 } });
  const page = await visit();
  await ready(page);
  await listen(page, ["message"]);
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await server.operatorSays("Anna here.");
  await part(page, "message-operator").waitFor();
  const reads = () => recordOf(page).of("/connector/chat/messages", "GET").length;
  const soFar = reads();
  await eventually(() => assert.ok(reads() >= soFar + 2));
  assert.deepEqual(
    (await emitted(page)).map(([, { role }]) => role),
    ["visitor", "assistant", "operator"],
  );

  await page.reload();
  await ready(page);
  await listen(page, ["message"]);
  await openChat(page);
  await part(page, "message-operator").waitFor();
  assert.deepEqual(await emitted(page), []);
});

test("once() fires once, and the function that on() returns unsubscribes", async ({ visit }) => {
  const page = await visit();
  await part(page, "launcher").waitFor();
  await page.evaluate(() => {
    window.emitted = [];
    window.chatWidget.once("open", () => window.emitted.push("once"));
    const off = window.chatWidget.on("open", () => window.emitted.push("until off"));
    window.chatWidget.on("close", off);
  });
  await ready(page);
  for (const name of ["open", "close", "open", "close"]) await page.evaluate((name) => window.chatWidget[name](), name);
  assert.deepEqual(await emitted(page), ["once", "until off"]);
});

test("A handler that throws affects neither the widget nor the other handlers", async ({ visit, recordOf }) => {
  const page = await visit();
  recordOf(page).tolerate("a handler of open threw");
  await ready(page);
  await page.evaluate(() =>
    window.chatWidget.on("open", () => {
      throw new Error("the page's own mistake");
    }),
  );
  await listen(page, ["open"]);
  await openChat(page);
  assert.deepEqual(await emitted(page), [["open", {}]]);
  await ask(page, "How long does delivery take?");
});

test("open() does not move the focus", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  await page.getByRole("link", { name: "Help" }).focus();
  await page.evaluate(() => window.chatWidget.open());
  await part(page, "input").waitFor();
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.equal(await focused(page), "page");
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Help");
});

test("hide() hides the widget, and show() shows it again", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  await page.evaluate(() => window.chatWidget.hide());
  await part(page, "launcher").waitFor({ state: "hidden" });
  await page.evaluate(() => window.chatWidget.show());
  await part(page, "launcher").waitFor();
});

test("destroy() leaves no element, no global and no request behind", async ({ visit, recordOf, server }) => {
  await server.setFaults({ presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } });
  const page = await visit({ clock: true });
  await openChat(page);
  await ask(page, "How long does delivery take?");
  await allFilesLoaded(page);
  await listen(page, ["destroy"]);
  await page.evaluate(() => (window.controller = window.chatWidget).destroy());
  assert.deepEqual(await emitted(page), [["destroy", {}]]);
  assert.equal(await page.locator("chat-widget").count(), 0);
  assert.equal(await page.evaluate(() => "chatWidget" in window), false);
  const soFar = recordOf(page).requests.length;
  await advanceClock(page, { minutes: 5 });
  await page.evaluate(() => {
    window.controller.open();
    window.controller.sendMessage("Is anybody there?");
    window.controller.destroy();
  });
  await advanceClock(page, { minutes: 1 });
  assert.deepEqual(recordOf(page).paths().slice(soFar), []);
  assert.equal((await server.sends()).length, 1);
});

test("destroy() before the module loads prevents the load", async ({ visit, recordOf }) => {
  const [page, wasm] = await visitHolding(visit, WASM);
  await part(page, "launcher").click();
  await wasm.requested;
  await page.evaluate(() => window.chatWidget.destroy());
  wasm.release();
  await compiled(page);
  assert.equal(await page.locator("chat-widget").count(), 0);
  assert.deepEqual(recordOf(page).of("/connector/chat/messages"), []);
});
