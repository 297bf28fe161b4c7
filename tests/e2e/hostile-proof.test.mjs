// The hostile texts run where a page inserts them as HTML, and the harness notices them in the shop. Without this, tests
// that find them harmless would prove nothing.

import assert from "node:assert/strict";
import { eventually, openChat, part } from "./chat.mjs";
import { CALLS, payloads } from "./corpora.mjs";
import { test } from "./harness.mjs";
import { LISTS, isHarmless, parts, watched } from "./hostile.mjs";

/**
 * Inserts each text as HTML in a context of its own, and returns which of them ran: without interaction, and after every
 * interaction that they wait for. A sandboxed frame prevents navigation of the page.
 */
async function insertAsHtml({ texts, calls }) {
  const frame = document.createElement("iframe");
  frame.sandbox = "allow-scripts allow-same-origin";
  document.body.append(frame);
  const [inner, body] = [frame.contentWindow, frame.contentDocument.body];
  const ran = { alone: new Set(), byHand: new Set() };
  let hand;
  const called = () => {
    const at = inner.event?.target?.closest?.("[data-place]");
    if (hand !== undefined) ran.byHand.add(hand);
    else if (at) ran.alone.add(Number(at.dataset.place));
  };
  // The texts may also call the functions of the outer page.
  for (const name of calls) window[name] = inner[name] = called;
  const places = texts.map((html, place) => {
    const element = document.createElement("div");
    element.dataset.place = place;
    body.append(element);
    element.innerHTML = html;
    return element;
  });
  // When this request has failed, so have theirs, and animations have started.
  await new Promise((resolve) => Object.assign(new Image(), { onerror: resolve, src: "https://nowhere.example/" }));
  for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
  for (hand = 0; hand < places.length; hand += 1) {
    for (const element of places[hand].querySelectorAll("*")) {
      // A form's fields may shadow its methods.
      for (const name of Element.prototype.getAttributeNames.call(element)) {
        if (name.startsWith("on")) EventTarget.prototype.dispatchEvent.call(element, new inner.Event(name.slice(2)));
      }
    }
  }
  frame.remove();
  return { alone: [...ran.alone], byHand: [...ran.byHand] };
}

test("The hostile texts run and are counted where a page inserts them as HTML", async ({ visit, remark }) => {
  const context = await (await visit()).context().browser().newContext();
  // Removing a frame inside a frame crashes Chromium.
  const texts = payloads.filter((text) => !/srcdoc/i.test(text));
  const [alone, ran] = [new Set(), new Set()];
  try {
    await context.setOffline(true);
    const page = await context.newPage();
    for (const some of parts(texts, Math.ceil(texts.length / 150))) {
      const result = await page.evaluate(insertAsHtml, { texts: some, calls: CALLS });
      for (const place of result.alone) alone.add(some[place]);
      for (const place of [...result.alone, ...result.byHand]) ran.add(some[place]);
    }
  } finally {
    await context.close();
  }
  remark(`${ran.size} of ${texts.length} ran, ${alone.size} of them by themselves`);
  // The others are addresses, target other browsers, or are not meant to run.
  assert.ok(ran.size > texts.length / 2, `${ran.size} of ${texts.length} ran`);
  assert.ok(alone.size > 200, `${alone.size} ran without interaction`);
});

test("The harness notices scripts, requests and elements of hostile text in the demo site", async ({
  visit,
  recordOf,
}) => {
  const page = await visit({ prepare: watched });
  await openChat(page);
  await isHarmless(page);
  await part(page, "message")
    .first()
    .locator(".cw-bubble")
    .evaluate((bubble) => {
      bubble.innerHTML = '<img src="//evil.example/x.png" onerror="alert(1)"><a href="javascript:alert(1)">x</a>';
    });
  await eventually(async () => assert.equal(await page.evaluate(() => window.executions), 1));
  assert.deepEqual(await page.evaluate((lists) => window.strange(lists), LISTS), [
    "IMG is not on the list",
    "IMG loads //evil.example/x.png",
    "IMG has onerror",
    "A leads to javascript:alert(1)",
  ]);
  const policies = ["require-trusted-types-for", "script-src-attr", "img-src"];
  await recordOf(page).complainsOf(...policies, "request to another origin");
});
