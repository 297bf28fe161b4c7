// Hostile text in every field that a visitor, a page or synced content can fill, on every page of the console.

import assert from "node:assert/strict";
import { eventually } from "./chat.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { CALLS, naughty, origin, payloads } from "./corpora.mjs";
import { parts } from "./hostile.mjs";
import { visitorOf } from "./team.mjs";

/** The number of hostile visitors. */
const VISITORS = 40;
/** Maximum characters of a message of the contract, with room for the longest payload that is added last. */
const MESSAGE_LENGTH = 3900;
/** The pages that show what visitors and pages have sent, besides the conversations. */
const PAGES = [
  "/console/inbox?view=all",
  "/console/inbox?view=waiting",
  "/console/inbox?q=alert",
  "/console/reports",
  "/console/publishing",
  "/console/publishing/rules",
  "/console/settings/assistant",
  "/console/settings/audit",
];

withTeam({ names: ["Maren"], testTimeoutMs: 300_000, waitTimeoutMs: 10_000 });

/** Counts payloads that run, and collects what the policy would have blocked. It runs in the page before anything else. */
function watch(calls) {
  window.executions = 0;
  window.violations = [];
  for (const name of calls) window[name] = () => (window.executions += 1);
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI, sample }) =>
    window.violations.push(`${effectiveDirective} ${blockedURI} ${sample}`),
  );
}

/** Returns elements and attributes that no page of the console has, and links with other schemes. It runs in the page. */
function strange() {
  const forbidden =
    "script,iframe,object,embed,base,meta[http-equiv],link:not([rel=icon],[rel=stylesheet],[rel=modulepreload],[rel=preload],[rel=manifest])";
  const found = [...document.body.querySelectorAll(forbidden)].map((element) => element.outerHTML.slice(0, 120));
  for (const element of document.body.querySelectorAll("*"))
    for (const { name, value } of element.attributes) {
      if (/^on|^(srcdoc|formaction|ping|background)$/.test(name)) found.push(`${element.localName} has ${name}`);
      const address = ["href", "src", "action"].includes(name) && element.namespaceURI.endsWith("xhtml");
      const isKnown =
        /^(https?:|mailto:|tel:|blob:|data:image\/svg\+xml|[/#?]|$)/i.test(value) || !/^[^/?#]*:/.test(value);
      if (address && !isKnown) found.push(`${element.localName} leads to ${value.slice(0, 80)}`);
    }
  return found;
}

/** Opens pages of the console without a policy that would block what gets through; violations are reported only. */
async function openWatched(path) {
  const { page, context } = await open("about:blank");
  await context.addInitScript(watch, CALLS);
  await page.route("**/console/**", async (route) => {
    if (route.request().resourceType() !== "document") return route.fallback();
    const response = await route.fetch();
    const { "content-security-policy": policy, ...headers } = response.headers();
    return route.fulfill({ response, headers: { ...headers, "content-security-policy-report-only": policy } });
  });
  await page.goto(new URL(path, team.address).href);
  return page;
}

async function isHarmless(page, where) {
  assert.deepEqual(await page.evaluate(strange), [], where);
  assert.equal(await page.evaluate(() => window.executions), 0, where);
  assert.deepEqual(await page.evaluate(() => window.violations), [], where);
}

/** Joins texts up to the length of a message. */
function filled(texts) {
  let message = "";
  for (const text of texts) if (message.length + text.length < MESSAGE_LENGTH) message += `${text}\n\n`;
  // A message needs a character that is seen.
  return `${message}.`;
}

test("No text of visitors, pages or synced content runs or becomes more than text", async (t) => {
  t.diagnostic(origin);
  const chunks = parts([...payloads, ...new Set(naughty)], VISITORS);
  const ids = [];
  let accepted = 0;
  for (const [index, chunk] of chunks.entries()) {
    const at = (place) => chunk[place % chunk.length].slice(0, 400);
    const profile = {
      name: at(0),
      email: at(1),
      phone: at(2),
      company: at(3),
      wechat: at(4),
      whatsapp: at(5),
      country: at(6),
    };
    const visitor = visitorOf(team, profile);
    await visitor.say(index % 3 === 0 ? `Can I talk to a real person? ${filled(chunk)}` : filled(chunk), {
      sourcePage: at(7),
      locale: "en",
    });
    const event = { visitorId: visitor.visitorId, conversationId: visitor.conversationId };
    const events = [8, 9, 10].map((place) => ({
      ...event,
      eventType: place === 8 ? "page_view" : at(place),
      path: at(place + 1),
      title: at(place + 2),
      eventData: { label: at(place + 3) },
    }));
    const tracked = await fetch(`${team.address}/connector/${team.site.id}/events`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ events }),
    });
    accepted += (await tracked.json()).data?.accepted ?? 0;
    ids.push(visitor.conversationId);
  }
  assert.ok(accepted >= chunks.length, `${accepted} events of ${chunks.length} visitors were accepted`);
  const lines = chunks.map((chunk) => chunk[0].replaceAll(/\p{Cc}/gu, " ").trim());
  await team.operators[0].call("PUT", `sites/${team.site.id}/publishing-rules`, {
    version: 0,
    otherwise: "publish",
    hourlyLimit: 5,
    rules: lines.slice(0, 20).map((line, index) => ({
      name: [...`${index} ${line}`].slice(0, 80).join("").trim(),
      paths: [[...`/${index}/${line}`].slice(0, 200).join("").trim()],
      action: "publish",
    })),
  });
  const { token } = await team.admin("token", "create", "--site", team.site.id);
  const items = chunks.slice(0, 20).map((chunk, index) => ({
    type: "page",
    externalId: `page-${index}`,
    locale: "en",
    title: chunk[0].slice(0, 300),
    summary: chunk[1 % chunk.length].slice(0, 300),
    path: `/page-${index}`,
    content: filled(chunk),
    data: { label: chunk[2 % chunk.length].slice(0, 300) },
  }));
  const synced = await fetch(`${team.address}/api/connector/v1/content/sync`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ snapshotId: "hostile", page: 1, complete: true, items }),
  });
  assert.equal(synced.status, 200, await synced.text());

  const page = await openWatched(PAGES[0]);
  for (const id of ids) {
    await page.goto(new URL(`/console/inbox/${id}?view=all`, team.address).href);
    await page.getByRole("log").getByRole("article").first().waitFor({ timeout: 30_000 });
    await page.getByRole("complementary", { name: "Visitor" }).waitFor();
    await eventually(async () => assert.equal(await page.locator("[aria-busy=true]").count(), 0));
    await isHarmless(page, `conversation ${id}`);
  }
  for (const path of PAGES) {
    await page.goto(new URL(path, team.address).href);
    await page.getByRole("main").waitFor();
    await eventually(async () => assert.equal(await page.locator("[aria-busy=true]").count(), 0));
    await isHarmless(page, path);
  }
});
