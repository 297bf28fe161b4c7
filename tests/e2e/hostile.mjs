// The shop as a place where hostile text would be noticed: what runs is counted, and what stands in the widget and may not
// is found.

import assert from "node:assert/strict";
import { ask, openChat } from "./chat.mjs";
import { CALLS } from "./corpora.mjs";

const QUICK = { presence: { suggestedMessageIntervalMs: 1, suggestedPresenceIntervalMs: 1 } };

/** Everything that may stand in a bubble. */
const IN_BUBBLES = "P STRONG EM S CODE PRE A BDI UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD HR DIV BUTTON";
/** What the widget itself is made of. */
const AROUND = "BDI BUTTON DIV FORM H2 HEADER I IMG P PATH SECTION SLOT SPAN SVG TEXTAREA";
/** Where a link may lead; `:` is what a browser makes of an address that it cannot read, and does not follow. */
const SCHEMES = ["http:", "https:", "mailto:", "tel:", ":"];
const ADDRESS = "^(https?://|mailto:|tel:).";
export const LISTS = { elements: [IN_BUBBLES, AROUND], schemes: SCHEMES, address: ADDRESS };

/** A list in so many parts, or fewer. */
export function parts(list, count) {
  const size = Math.ceil(list.length / count);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** Before anything is loaded: whatever a payload does to show that it runs is counted. */
function countExecutions(calls) {
  window.executions = 0;
  for (const name of calls) window[name] = () => (window.executions += 1);
}

/**
 * The shop, whose policy is told of everything and stops nothing: a payload that got through would run, and be reported,
 * and its requests would be made.
 */
export async function watched(page) {
  await page.addInitScript(countExecutions, CALLS);
  await page.addInitScript(`window.strange = ${strange}`);
  await page.route("**/", async (route) => {
    const response = await route.fetch();
    const { "content-security-policy": policy, ...headers } = response.headers();
    await route.fulfill({ response, headers: { ...headers, "content-security-policy-report-only": policy } });
  });
}

/** What stands in the widget and may not, each with where it stands. */
function strange(lists) {
  const [inBubbles, around] = lists.elements.map((names) => new Set(names.split(" ")));
  const leads = new RegExp(lists.address, "i");
  const host = document.querySelector("chat-widget");
  const found = [];
  for (const element of [...host.querySelectorAll("*"), ...host.shadowRoot.querySelectorAll("*")]) {
    const name = element.tagName.toUpperCase();
    const allowed = element.parentElement?.closest(".cw-bubble:not(.cw-typing)") ? inBubbles : around;
    const wrong = [];
    if (!allowed.has(name)) wrong.push("is not on the list");
    for (const { name: attribute, value } of element.attributes) {
      if (/^on|^(srcdoc|srcset|action|formaction|data|background|poster|ping)$|:/.test(attribute))
        wrong.push(`has ${attribute}`);
      if (attribute === "href" && !(leads.test(value) && lists.schemes.includes(element.protocol)))
        wrong.push(`leads to ${value}`);
      if (attribute === "src" && (name !== "IMG" || new URL(element.src).protocol !== "https:"))
        wrong.push(`loads ${value}`);
      if (attribute === "style" && /url|import|expression/.test(value)) wrong.push(`is styled with ${value}`);
    }
    for (const what of wrong) found.push(`${name} ${what}`);
  }
  return found;
}

/** Nothing ran, and nothing stands in the widget that may not. */
export async function isHarmless(page) {
  assert.deepEqual(await page.evaluate((lists) => window.strange(lists), LISTS), []);
  assert.equal(await page.evaluate(() => window.executions), 0);
}

/** A page whose visitor has asked something, at a service that is read often. */
export async function inConversation(visit, server, options) {
  await server.trouble(QUICK);
  const page = await visit(options);
  await openChat(page);
  await ask(page, "Hello");
  return page;
}
