// The companion: page views and calls to action without the module, and the handover to it.

import assert from "node:assert/strict";
import { REFUSES, WASM, allFilesLoaded, ask, eventually, openChat, part, ready, stored } from "./chat.mjs";
import { shopWith, visitHolding, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";

const EVENTS = "**/connector/events";
/** More than the time for which events wait for others, so that one request has them all. */
const BATCH_MS = 3_500;

/** Returns the stored values whose names begin with `kind`. */
const kept = async (page, kind) =>
  Object.entries(await stored(page)).filter(([key]) => key.startsWith(`chat-widget:${kind}:`));

/** Waits until the companion has stored a number of events that it has not sent. */
const waiting = (page, count = 1) =>
  eventually(async () => assert.equal((await kept(page, "event")).length, count, "events that wait"));

/** Returns the events that have arrived, each with its label or path. */
const arrived = async (server) =>
  (await server.events()).map(({ eventType, eventData, path }) => [eventType, eventData?.label ?? path]);

/** Advances the page's clock until what waits is sent. */
const batchesAreSent = (page) => page.clock.fastForward(BATCH_MS);

/** Waits for the event with this label or path. Returns all events that have arrived. */
async function arrivedWith(page, server, label) {
  await batchesAreSent(page);
  return eventually(async () => {
    const events = await arrived(server);
    assert.ok(
      events.some(([, place]) => place === label),
      JSON.stringify(events),
    );
    return events;
  });
}

/**
 * Waits until these events have arrived, and no others, of those that `isMeant` accepts. Requests may arrive in any order, and
 * the page has several senders.
 */
async function arrivedInAll(page, server, expected, isMeant = () => true) {
  await batchesAreSent(page);
  await eventually(async () => assert.deepEqual((await arrived(server)).filter(isMeant).toSorted(), expected));
}

/** Clicks a call to action with this label, which the page inserts. */
const callToAction = (page, label) =>
  page.evaluate((label) => {
    const button = document.createElement("button");
    button.dataset.chatCta = label;
    document.body.append(button);
    button.click();
    button.remove();
  }, label);

const isStarted = (page) => page.evaluate(() => window.chatWidget.state !== undefined);
const navigate = (page, path) => page.evaluate((path) => history.pushState({}, "", path), path);
const keysOf = (record) => record.of("/connector/events").map(({ headers }) => headers["idempotency-key"]);
const sent = (record, count) =>
  eventually(() => assert.ok(record.of("/connector/events").length >= count, `${count} requests with events`));

test("Page views, navigation and calls to action are reported without the module", async ({
  visit,
  server,
  recordOf,
}) => {
  const page = await visit({ clock: true });
  await waiting(page);
  await navigate(page, "/pots?glaze=blue");
  await waiting(page, 2);
  await navigate(page, "/pots?glaze=blue#top");
  await callToAction(page, "Book now");
  const events = await arrivedWith(page, server, "Book now");
  assert.deepEqual(events, [
    ["page_view", "/"],
    ["page_view", "/pots"],
    ["cta_clicked", "Book now"],
  ]);
  assert.equal(await isStarted(page), false);
  assert.equal(recordOf(page).of("/connector/events").length, 1, "one batch");
  const [{ visitorId, channel, title, url }] = await server.events();
  assert.equal(visitorId, (await stored(page))["chat-widget:visitor"].visitorId);
  assert.deepEqual([channel, title, new URL(url).pathname], ["webchat", await page.title(), "/"]);
  await eventually(async () => assert.deepEqual(await kept(page, "batch"), []));
  assert.deepEqual(await kept(page, "event"), []);
});

test("A module that starts before the events are sent takes them over, and what follows", async ({ visit, server }) => {
  const page = await visit({ clock: true });
  await waiting(page);
  await ready(page);
  await navigate(page, "/pots");
  await callToAction(page, "First");
  await allFilesLoaded(page);
  await callToAction(page, "Second");
  await arrivedInAll(page, server, [
    ["cta_clicked", "First"],
    ["cta_clicked", "Second"],
    ["page_view", "/"],
    ["page_view", "/pots"],
  ]);
  const visitors = new Set((await server.events()).map(({ visitorId }) => visitorId));
  assert.equal(visitors.size, 1);
});

test("Every event of a page on which the module starts arrives once, at whatever moment", async ({ visit, server }) => {
  const [page, wasm] = await visitHolding(visit, WASM, { clock: true });
  await waiting(page);
  await part(page, "launcher").hover();
  await wasm.requested;
  wasm.release();
  // Clicks in every task until the listeners of the page have taken over.
  const clicked = await page.evaluate(async () => {
    const button = document.createElement("button");
    document.body.append(button);
    let count = 0;
    let isOver = false;
    const started = window.chatWidget.ready.then(() => (isOver = true));
    while (!isOver && count < 40) {
      button.dataset.chatCta = `Click ${(count += 1)}`;
      button.click();
      await new Promise((resolve) => setTimeout(resolve));
    }
    await started;
    return count;
  });
  await callToAction(page, "Last");
  const labels = Array.from({ length: clicked }, (_, index) => `Click ${index + 1}`).concat("Last");
  const expected = [...labels.map((label) => ["cta_clicked", label]), ["page_view", "/"]];
  await arrivedInAll(page, server, expected.toSorted());
});

test("A page that is left within three seconds has reported its view", async ({ visit, server, site }) => {
  const page = await visit({ clock: true });
  await waiting(page);
  await page.goto(`${site}/workshops.html`);
  await waiting(page);
  await callToAction(page, "Done");
  await arrivedInAll(page, server, [
    ["cta_clicked", "Done"],
    ["page_view", "/"],
    ["page_view", "/workshops.html"],
  ]);
});

test("What could not be sent is delivered once, with the same key, by the next page", async ({
  visit,
  server,
  recordOf,
  site,
}) => {
  const page = await visit({ clock: true, prepare: (page) => page.route(EVENTS, (route) => route.abort()) });
  await waiting(page);
  await batchesAreSent(page);
  await eventually(async () => assert.equal((await kept(page, "batch")).length, 1));
  await sent(recordOf(page), 1);
  await page.unroute(EVENTS);
  await page.goto(`${site}/help.html`);
  await waiting(page);
  await callToAction(page, "Done");
  await arrivedInAll(page, server, [
    ["cta_clicked", "Done"],
    ["page_view", "/"],
    ["page_view", "/help.html"],
  ]);
  await eventually(async () => assert.deepEqual(await kept(page, "batch"), []));
  const [first] = keysOf(recordOf(page));
  assert.equal(keysOf(recordOf(page)).filter((key) => key === first).length, 2, "the first batch is repeated");
});

test("A batch whose response was lost is repeated by the session, and counted once", async ({
  visit,
  server,
  recordOf,
}) => {
  let onLost;
  const lost = new Promise((resolve) => (onLost = resolve));
  const lose = async (route) => {
    await route.fetch();
    await route.abort();
    onLost();
  };
  const page = await visit({ clock: true, prepare: (page) => page.route(EVENTS, lose) });
  await waiting(page);
  await batchesAreSent(page);
  await lost;
  assert.equal((await server.events()).length, 1);
  await page.unroute(EVENTS);
  await openChat(page);
  await callToAction(page, "Done");
  const events = await arrivedWith(page, server, "Done");
  assert.equal(events.filter(([type]) => type === "page_view").length, 1);
  const [first] = keysOf(recordOf(page));
  assert.equal(keysOf(recordOf(page)).filter((key) => key === first).length, 2);
  await eventually(async () => assert.deepEqual(await kept(page, "batch"), []));
});

test("A session in another tab does not send what a companion sends", async ({ visit, server }) => {
  const first = await visit({ clock: true });
  await openChat(first);
  await ask(first, "How long does delivery take?");
  await first.evaluate(() => dispatchEvent(new PageTransitionEvent("pagehide")));
  await eventually(async () => assert.ok((await server.events()).length >= 2));
  // A tab without the conversation would start the module at once.
  const tab = await visit({ clock: true, beside: first, path: "/help.html", prepare: withoutConversation });
  await waiting(tab);
  // The session reads the event of the living companion.
  await first.evaluate(() => dispatchEvent(new PageTransitionEvent("pageshow")));
  await callToAction(first, "In the session");
  await callToAction(tab, "In the companion");
  await first.evaluate(countKept);
  await arrivedWith(tab, server, "In the companion");
  // The page view and the click, and whatever else the storage had by then. The session has read the first one, and hears of it
  // a moment later than the service.
  await eventually(async () => assert.ok((await first.evaluate(() => window.kept)) >= 2));
  const events = await arrivedWith(first, server, "In the session");
  const once = events.filter(([, place]) => place === "/help.html" || String(place).startsWith("In the"));
  assert.equal(once.length, 3, JSON.stringify(events));
});

/** Counts the events of which a companion says that it sends them. It runs in the page. */
function countKept() {
  window.kept = 0;
  window.companions = new BroadcastChannel("chat-widget:");
  window.companions.onmessage = ({ data }) => {
    if (JSON.parse(data).does === "keep") window.kept += 1;
  };
}

/** Hides the conversation of another tab from the loader. */
const withoutConversation = (page) =>
  page.addInitScript(() => {
    const { keys } = Object;
    Object.keys = (of) => keys(of).filter((key) => key !== "chat-widget:conversation");
  });

for (const [setting, attributes, prepare] of [
  ["without consent", 'data-consent="required"'],
  ["with events: manual", 'data-events="manual"'],
  ["with Global Privacy Control", "", () => Object.defineProperty(navigator, "globalPrivacyControl", { value: true })],
  [
    "while tracking is disabled",
    "",
    () => {
      // A blank page has no storage.
      const tracking = JSON.stringify({ v: 2, offUntil: Date.now() + 60_000 });
      if (location.protocol !== "about:") localStorage.setItem("chat-widget:tracking", tracking);
    },
  ],
]) {
  test(`There is no companion ${setting}`, async ({ visit, recordOf }) => {
    const page = await visit({
      clock: true,
      prepare: async (page) => {
        await withOptions(attributes)(page);
        if (prepare) await page.addInitScript(prepare);
      },
    });
    // The last of the files that an idle page fetches.
    await eventually(() => assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/themes/teal.mjs")));
    await callToAction(page, "Book now");
    assert.ok(!recordOf(page).moduleFiles().includes("/chat-widget/companion.mjs"));
    assert.deepEqual(await kept(page, "event"), []);
    await page.goto("about:blank");
    assert.deepEqual(recordOf(page).of("/connector/events"), []);
  });
}

test("A service that disables tracking gets no events for a day, and what waits is removed", async ({
  visit,
  server,
  recordOf,
  site,
}) => {
  await server.setFaults({ trackingDisabled: true });
  const page = await visit({ clock: true });
  await waiting(page);
  await batchesAreSent(page);
  await eventually(async () => assert.ok((await stored(page))["chat-widget:tracking"]?.offUntil > Date.now()));
  await callToAction(page, "Book now");
  assert.deepEqual([...(await kept(page, "event")), ...(await kept(page, "batch"))], []);
  await page.goto(`${site}/help.html`);
  await eventually(() => assert.ok(recordOf(page).moduleFiles().includes("/chat-widget/themes/teal.mjs")));
  await page.goto("about:blank");
  assert.equal(recordOf(page).of("/connector/events").length, 1);
});

for (const [how, refuse] of Object.entries(REFUSES)) {
  test(`Where storage ${how}, events are reported, and the module goes on with the same visitor`, async ({
    visit,
    server,
  }) => {
    const page = await visit({ clock: true, prepare: (page) => page.addInitScript(refuse) });
    await eventually(async () => {
      await page.clock.fastForward(1000);
      assert.equal((await server.events()).length, 1);
    });
    await callToAction(page, "Early");
    await ready(page);
    await allFilesLoaded(page);
    await callToAction(page, "Late");
    await arrivedWith(page, server, "Late");
    const events = await arrivedWith(page, server, "Early");
    assert.equal(events.length, 3, JSON.stringify(events));
    const { visitorId } = await page.evaluate(() => window.chatWidget.state);
    for (const event of await server.events()) assert.equal(event.visitorId, visitorId);
  });
}

test("Where the module does not load, the companion goes on", async ({ visit, server, recordOf }) => {
  const page = await visit({ clock: true, prepare: (page) => page.route(WASM, (route) => route.abort()) });
  recordOf(page).tolerate("chat widget: the module did not load");
  await waiting(page);
  await part(page, "launcher").click();
  await part(page, "launcher").and(page.locator("[aria-busy]")).waitFor({ state: "detached" });
  await callToAction(page, "Book now");
  const events = await arrivedWith(page, server, "Book now");
  assert.deepEqual(events, [
    ["page_view", "/"],
    ["cta_clicked", "Book now"],
  ]);
});

test("With another widget of the visitor on the page, navigation is reported once", async ({ visit, server }) => {
  const element =
    '<script type="module" src="/chat-widget/element.mjs"></script><chat-widget proxy="/connector" inline></chat-widget></main>';
  const page = await visit({ clock: true, prepare: shopWith((html) => html.replace("</main>", element)) });
  await page.evaluate(async () => {
    await customElements.whenDefined("chat-widget");
    const widget = await document.querySelector("chat-widget[inline]").ready;
    await widget.ready;
  });
  await batchesAreSent(page);
  await eventually(async () => assert.ok((await server.events()).length >= 2));
  assert.equal(await isStarted(page), false);
  await navigate(page, "/pots");
  await callToAction(page, "Book now");
  const later = [
    ["cta_clicked", "Book now"],
    ["page_view", "/pots"],
  ];
  await arrivedInAll(page, server, later, ([, place]) => place !== "/");
});

test("destroy() before the module has started ends the reports", async ({ visit, recordOf, server, site }) => {
  const page = await visit({ clock: true });
  await waiting(page);
  await page.evaluate(() => window.chatWidget.destroy());
  assert.equal((await kept(page, "batch")).length, 1, "the view is left to the next page");
  await callToAction(page, "Book now");
  await navigate(page, "/pots");
  await page.goto(`${site}/help.html`);
  await waiting(page);
  await callToAction(page, "Done");
  await arrivedInAll(page, server, [
    ["cta_clicked", "Done"],
    ["page_view", "/"],
    ["page_view", "/help.html"],
  ]);
  assert.ok(recordOf(page).of("/connector/events").length >= 1);
});
