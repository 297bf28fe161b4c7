// Option changes on a mounted widget, data about the visitor, reports and consent.

import assert from "node:assert/strict";
import { ask, background, eventually, focused, openChat, part } from "./chat.mjs";
import { ready, say, stored, allFilesLoaded, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";

const QUESTION = "How long does delivery take?";

/** Calls a control with these arguments. */
const control = (page, name, ...args) =>
  page.evaluate(([name, args]) => window.chatWidget[name](...args), [name, args]);

/** Advances the page's clock until events are sent, waits until the service has this number of them, and returns them. */
async function reported(page, server, count) {
  await page.clock.fastForward(3_500);
  await eventually(async () =>
    assert.ok((await server.events()).length >= count, JSON.stringify(await server.events())),
  );
  return server.events();
}

test("setTheme() changes the theme of an open window and emits theme", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "input").fill("And to Norway?");
  await page.evaluate(() => {
    window.themes = [];
    window.chatWidget.on("theme", ({ theme }) => window.themes.push(theme));
  });
  const before = await background(page, "launcher");
  await control(page, "setTheme", "rose");
  await eventually(async () => assert.deepEqual(await page.evaluate(() => window.themes), ["rose"]));
  const rose = await background(page, "launcher");
  assert.notEqual(rose, before);
  assert.equal(await part(page, "input").inputValue(), "And to Norway?");
  assert.equal(await focused(page), "input");
  assert.equal(await part(page, "message").count(), 3);

  await control(page, "setTheme", "custom", { accent: "rgb(1, 2, 3)", "accent-hover": "rgb(1, 2, 3)" });
  await eventually(async () => assert.equal(await background(page, "launcher"), "rgb(1, 2, 3)"));
  await control(page, "setTheme", "teal");
  await eventually(
    async () => assert.equal(await background(page, "launcher"), before),
    undefined,
    "the tokens are removed with their theme",
  );
});

test("The last of several concurrent setTheme() calls wins", async ({ visit }) => {
  const page = await visit();
  await ready(page);
  const teal = await background(page, "launcher");
  await page.evaluate(async () => {
    const widget = await window.chatWidget.ready;
    await Promise.all(["rose", "blue", "amber", "teal"].map((theme) => widget.setTheme(theme)));
  });
  await page.evaluate(() => new Promise(requestAnimationFrame));
  assert.equal(await background(page, "launcher"), teal);
});

test("Changing options does not take the focus from the page", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await page.locator("a[href]").first().focus();
  await control(page, "setTheme", "rose");
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  assert.equal(await focused(page), "page");
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "A");
});

test("An unknown theme is rejected, and the next change succeeds", async ({ visit, recordOf }) => {
  const page = await visit();
  await ready(page);
  recordOf(page).tolerate("404");
  const refusal = await page.evaluate(() =>
    window.chatWidget.ready.then((widget) => widget.setTheme("pink")).catch(() => "refused"),
  );
  assert.equal(refusal, "refused");
  const before = await background(page, "launcher");
  await page.evaluate(() => window.chatWidget.ready.then((widget) => widget.setTheme("rose")));
  assert.notEqual(await background(page, "launcher"), before);
});

test("setLocale() changes texts, direction and the language sent to the service, and keeps the draft", async ({
  visit,
  server,
}) => {
  const page = await visit();
  await openChat(page);
  await part(page, "input").fill(QUESTION);
  await control(page, "setLocale", "ar");
  await part(page, "window").locator('xpath=ancestor::*[@dir="rtl"]').waitFor({ state: "attached" });
  assert.equal(await focused(page), "input");
  assert.equal(await part(page, "input").inputValue(), QUESTION);
  const sent = page.waitForRequest(/\/chat\/messages$/);
  await part(page, "input").press("Enter");
  assert.equal((await sent).postDataJSON().locale, "ar");
  await part(page, "message-assistant").nth(1).waitFor();
  await control(page, "setLocale", "en");
  await part(page, "message-visitor").getByText("Delivered").waitFor();
  assert.equal((await server.messages())[0], `visitor: ${QUESTION}`);
});

test("update() changes other options, and rejects an invalid one without changing anything", async ({ visit }) => {
  const page = await visit();
  await openChat(page);
  await control(page, "update", {
    suggestedQuestions: ["Do you ship?"],
    position: "start",
    offset: { x: 40 },
    operatorName: "Maren",
  });
  await eventually(async () => assert.deepEqual(await part(page, "suggestion").allTextContents(), ["Do you ship?"]));
  assert.equal((await part(page, "launcher").boundingBox()).x, 40);
  await control(page, "update", { offset: undefined, position: undefined });
  await eventually(async () => assert.ok((await part(page, "launcher").boundingBox()).x > 500));
  const refusal = await page.evaluate(() =>
    window.chatWidget.ready.then((widget) => widget.update({ position: "top" })).catch(String),
  );
  assert.equal(refusal, 'TypeError: chat widget: the option position must be one of end, start, not "top"');
  await control(page, "update", { suggestedQuestions: [] });
  await part(page, "suggestions").waitFor({ state: "detached" });
});

test("identify() sends the profile with the next message", async ({ visit, server }) => {
  const page = await visit();
  await openChat(page);
  await control(page, "identify", { name: "Ingrid Solberg", company: "Fjord Inn" });
  await ask(page, QUESTION);
  const { visitor } = await server.conversation();
  assert.deepEqual([visitor.name, visitor.company], ["Ingrid Solberg", "Fjord Inn"]);
});

test("Details given by the visitor are not overwritten by the visitor option on another change", async ({
  visit,
  server,
}) => {
  const page = await visit({ prepare: withOptions(`data-visitor='{"name":"Guest","company":"Fjord Inn"}'`) });
  await openChat(page);
  await control(page, "identify", { name: "Ingrid Solberg" });
  await page.evaluate(() => window.chatWidget.ready.then((widget) => widget.setTheme("rose")));
  await ask(page, QUESTION);
  const named = async () => {
    const { visitor } = await server.conversation();
    return [visitor.name, visitor.company];
  };
  assert.deepEqual(await named(), ["Ingrid Solberg", "Fjord Inn"]);
  await page.evaluate(() =>
    window.chatWidget.ready.then((widget) => widget.update({ visitor: { company: "Fjord Hotel" } })),
  );
  await ask(page, "And to Norway?");
  assert.deepEqual(await named(), ["Ingrid Solberg", "Fjord Hotel"]);
});

test("Page views, single-page navigations, calls to action and tracked events are reported", async ({
  visit,
  server,
}) => {
  const page = await visit({ clock: true });
  await allFilesLoaded(page);
  const go = async (path, title) => {
    await page.evaluate(
      ([path, title]) => {
        history.pushState({}, "", path);
        document.title = title;
      },
      [path, title],
    );
  };
  await go("/workshops?month=5", "Workshops");
  await reported(page, server, 2);
  await go("/workshops?month=5#top", "The same page");
  await page.evaluate(() => {
    const button = document.createElement("button");
    button.dataset.chatCta = "Book now";
    button.append(document.createElement("b"));
    document.body.append(button);
    button.firstChild.click();
    window.chatWidget.track("video_played", { seconds: 12 });
  });
  const events = await reported(page, server, 4);
  const views = events.filter(({ eventType }) => eventType === "page_view");
  assert.deepEqual(views.map(({ path, title }) => [path, title])[1], ["/workshops", "Workshops"]);
  assert.equal(views.length, 2, "a fragment is not a page view");
  assert.deepEqual(events.find(({ eventType }) => eventType === "cta_clicked").eventData, { label: "Book now" });
  assert.deepEqual(events.find(({ eventType }) => eventType === "video_played").eventData, { seconds: 12 });
});

test("Consent given before the widget loads does not report events twice", async ({ visit, server }) => {
  const page = await visit({ clock: true, prepare: withOptions('data-consent="required"') });
  await page.evaluate(() => (window.chatWidget ||= []).push(["grantConsent"]));
  await allFilesLoaded(page);
  await page.evaluate(() => history.pushState({}, "", "/pots"));
  await reported(page, server, 2);
  await page.evaluate(() => window.chatWidget.track("asked_last"));
  const events = await reported(page, server, 3);
  assert.deepEqual(
    events.map(({ eventType }) => eventType),
    ["page_view", "page_view", "asked_last"],
  );
});

test("Without the Navigation API history is patched, and destroy() restores it", async ({ visit, server }) => {
  const withoutNavigation = () => Object.defineProperty(window, "navigation", { value: undefined });
  const page = await visit({ clock: true, prepare: (page) => page.addInitScript(withoutNavigation) });
  await allFilesLoaded(page);
  await page.evaluate(() => history.pushState({}, "", "/pots"));
  const events = await reported(page, server, 2);
  assert.deepEqual(
    events.map(({ path }) => path),
    ["/", "/pots"],
  );
  await control(page, "destroy");
  assert.deepEqual(
    await page.evaluate(() => [Object.keys(history), history.pushState === History.prototype.pushState]),
    [[], true],
  );
});

for (const [setting, attributes, prepare] of [
  ["events: manual", 'data-events="manual"'],
  ["Global Privacy Control", "", () => Object.defineProperty(navigator, "globalPrivacyControl", { value: true })],
]) {
  test(`With ${setting} no event is reported automatically`, async ({ visit, server, recordOf }) => {
    const page = await visit({
      clock: true,
      prepare: async (page) => {
        await withOptions(attributes)(page);
        if (prepare) await page.addInitScript(prepare);
      },
    });
    await allFilesLoaded(page);
    await openChat(page);
    await ask(page, QUESTION);
    await page.evaluate(() => history.pushState({}, "", "/pots"));
    if (!prepare) {
      await control(page, "track", "quiz_done");
      assert.deepEqual(
        (await reported(page, server, 1)).map(({ eventType }) => eventType),
        ["quiz_done"],
      );
    } else {
      await control(page, "track", "quiz_done");
      await page.goto("about:blank");
      assert.deepEqual(recordOf(page).of("/connector/events"), []);
    }
  });
}

const kept = async (page) => [Object.keys(await stored(page)), await page.evaluate(() => Object.keys(sessionStorage))];

test("Without consent the chat works, and nothing is stored or reported", async ({ visit, server, recordOf }) => {
  const page = await visit({ clock: true, prepare: withOptions('data-consent="required"') });
  await openChat(page);
  await ask(page, QUESTION);
  await part(page, "input").fill("A draft");
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide")));
  assert.deepEqual(await kept(page), [[], []]);
  assert.deepEqual(recordOf(page).of("/connector/events"), []);
  await page.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow")));

  await control(page, "grantConsent");
  await eventually(async () => assert.ok((await stored(page))["chat-widget:conversation"]?.conversationId));
  await ask(page, "And to Norway?");
  assert.deepEqual(
    (await reported(page, server, 1)).map(({ eventType }) => eventType),
    ["page_view"],
  );
  const visitors = (await server.conversations()).map(({ visitor }) => visitor.visitorId);
  assert.equal(visitors.length, 1, "the conversation continued");
  assert.equal((await stored(page))["chat-widget:visitor"].visitorId, visitors[0]);
});

test("A visitor who consented on an earlier page finds the conversation after grantConsent()", async ({
  visit,
  server,
}) => {
  const page = await visit();
  await openChat(page);
  await ask(page, QUESTION);
  await withOptions('data-consent="required"')(page);
  await page.reload();
  // Without consent, the window does not reopen after a reload.
  await part(page, "launcher").click();
  await part(page, "input").waitFor();
  assert.equal(await part(page, "message-visitor").count(), 0, "the visitor was not asked yet");
  await control(page, "grantConsent");
  await part(page, "message-visitor").waitFor();
  await say(page, "And to Norway?");
  await eventually(async () => assert.equal((await server.conversation()).messages.length, 4));
});
