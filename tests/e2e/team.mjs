// A service with a team of operators and a site, and visitors who write to it without a browser.

import assert from "node:assert/strict";
import { closeQuietly } from "./context.mjs";
import { operatorOf, startService } from "./service.mjs";

export const PASSWORD = "seven green kettles on a shelf";
const SHOP = "https://shop.example";

/**
 * Starts a service with a site and an operator for each name, the first one as the owner, the others with the role `role`.
 * Returns what `startService` returns, the `site`, its `scriptTag`, and the `operators`, each with `id`, `name`, `email`,
 * `call(…)` and `cookie()`. `origins` are the origins of the pages that may use the proxy paths.
 */
export async function startTeam(
  names = ["Maren", "Noor", "Tom"],
  { role = "agent", origins = [SHOP], ...options } = {},
) {
  const service = await startService(options);
  const operators = [];
  for (const name of names) {
    const email = `${name.toLowerCase()}@shop.example`;
    const invite = () => operators[0].call("POST", "invitations", { email, role });
    const ownerLink = operators.length === 0 ? service.ownerLink : (await invite()).link;
    const operator = await operatorOf({ ...service, ownerLink }, { name, email, password: PASSWORD });
    const { operator: own } = await operator.call("GET", "session");
    operators.push({ ...operator, id: own.id, name, email });
  }
  const allowed = origins.flatMap((origin) => ["--origin", origin]);
  const { site, scriptTag } = await service.admin("site", "create", "--name", "The pot shop", ...allowed);
  return { ...service, site, scriptTag, operators };
}

/** Returns a visitor of the site, whose `say(message)` begins or continues a conversation, and whose `poll()` reads it. */
export function visitorOf({ address, site }, profile) {
  const visitor = { visitorId: `v-${crypto.randomUUID()}`, ...profile };
  const base = `${address}/connector/${site.id}/chat/messages`;
  const read = async (response) => {
    const answer = await response.json();
    assert.equal(response.status, 200, JSON.stringify(answer));
    return answer.data;
  };
  return {
    ...visitor,
    conversationId: undefined,
    async say(message, more = {}) {
      const body = JSON.stringify({ message, visitor, conversationId: this.conversationId, ...more });
      const headers = { "Content-Type": "application/json" };
      const data = await read(await fetch(base, { method: "POST", headers, body }));
      this.conversationId = data.conversationId;
      return data;
    },
    /** Returns the messages after the one with this id, or all. */
    async poll(after = "") {
      const query = new URLSearchParams({ conversationId: this.conversationId, ...(after && { after }) });
      return (await read(await fetch(`${base}?${query}`))).messages;
    },
  };
}

/**
 * Opens a page of the console in a browser of its own, signed in as an operator, or as nobody. Returns the `page`, the `errors`
 * that it showed, and `close()`. `options` are those of a browser context, and `prepare(page)` before anything is loaded.
 */
export async function openConsole(browser, { address }, operator, path = "/console/", { prepare, ...options } = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: "reduce",
    ...options,
  });
  context.setDefaultTimeout(10_000);
  if (operator) await context.addCookies([{ ...operator.cookie(), url: address, httpOnly: true, sameSite: "Strict" }]);
  const page = await context.newPage();
  const errors = [];
  // A refused request, or one without a network, is an error to the browser's console only: Chromium's, then Firefox's.
  const isRefusal = (text) => /status of (4\d\d|503)|net::ERR_|^Firefox can’t establish a connection/.test(text);
  page.on("console", (line) => line.type() === "error" && !isRefusal(line.text()) && errors.push(line.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  await prepare?.(page);
  await page.goto(new URL(path, address).href);
  return { page, errors, context, close: () => closeQuietly(context) };
}
