// A shop that detects hostile text: it counts payloads that run, and finds forbidden nodes in the widget.

import assert from "node:assert/strict";
import { ask, openChat } from "./chat.mjs";
import { CALLS } from "./corpora.mjs";
import { FAST_POLLING } from "./sandbox.mjs";

/** The elements that a message may contain. */
const IN_BUBBLES = "P STRONG EM S CODE PRE A BDI UL OL LI BLOCKQUOTE TABLE THEAD TBODY TR TH TD HR DIV BUTTON";
/** The elements of the widget itself. */
const AROUND = "BDI BUTTON DIV FORM H2 HEADER I IMG P PATH SECTION SLOT SPAN SVG TEXTAREA";
/** The schemes of links; `:` stands for an address that a browser cannot parse and does not follow. */
const SCHEMES = ["http:", "https:", "mailto:", "tel:", ":"];
const ADDRESS = "^(https?://|mailto:|tel:).";
export const LISTS = { elements: [IN_BUBBLES, AROUND], schemes: SCHEMES, address: ADDRESS };

/** Splits a list into at most this number of parts. */
export function parts(list, count) {
  const size = Math.ceil(list.length / count);
  return Array.from({ length: Math.ceil(list.length / size) }, (_, index) =>
    list.slice(index * size, (index + 1) * size),
  );
}

/** An init script that counts the payloads that run. */
function countExecutions(calls) {
  window.executions = 0;
  for (const name of calls) window[name] = () => (window.executions += 1);
}

/**
 * The shop with a report-only policy: a payload that gets through runs, is reported, and sends its requests.
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

/** Returns the forbidden nodes and attributes in the widget, each with its place. */
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

/** Asserts that no payload ran and that the widget contains no forbidden node. */
export async function isHarmless(page) {
  assert.deepEqual(await page.evaluate((lists) => window.strange(lists), LISTS), []);
  assert.equal(await page.evaluate(() => window.executions), 0);
}

/** Opens a page whose visitor has asked a question, with a short polling interval. */
export async function inConversation(visit, server, options) {
  await server.setFaults(FAST_POLLING);
  const page = await visit(options);
  await openChat(page);
  await ask(page, "Hello");
  return page;
}
