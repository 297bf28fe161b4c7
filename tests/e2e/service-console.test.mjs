// The console of the service: the first owner's link, signing in, and answering a visitor.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { pageFindings, withAxe } from "./axe.mjs";
import { eventually } from "./chat.mjs";
import { launch } from "./demo.mjs";
import { startService } from "./service.mjs";

const PASSWORD = "seven green kettles on a shelf";
const EMAIL = "maren@shop.example";
const TIMEOUT = { timeout: 90_000 };

let service;
let browser;
let site;

before(async () => {
  [service, browser] = await Promise.all([startService(), launch()]);
});

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Opens a page of the console in a new browser context. Returns it with the errors that it showed. */
async function open(path = "/", viewport = { width: 1280, height: 800 }) {
  const context = await browser.newContext({ viewport, reducedMotion: "reduce" });
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  const errors = [];
  // A refused attempt to sign in is an error to the browser's console only.
  page.on(
    "console",
    (message) => message.type() === "error" && !/ 40[013] /.test(message.text()) && errors.push(message.text()),
  );
  page.on("pageerror", (error) => errors.push(String(error)));
  await page.goto(new URL(path, service.address).href);
  return { page, errors, close: () => context.close() };
}

async function signIn(page, password = PASSWORD) {
  const form = page.locator("#sign-in");
  await form.getByLabel("E-mail").fill(EMAIL);
  await form.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Opens the console, signed in. */
async function openSignedIn(path, viewport) {
  const opened = await open(path, viewport);
  await signIn(opened.page);
  await opened.page.locator("#status.online").waitFor({ state: "attached" });
  return opened;
}

/** Sends a visitor's message through the proxy paths. Returns the conversation's id. */
async function say(message, visitor, conversationId) {
  const response = await fetch(`${service.address}/connector/${site.id}/chat/messages`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ message, visitor, conversationId }),
  });
  const answer = await response.json();
  assert.equal(response.status, 200, JSON.stringify(answer));
  return answer.data.conversationId;
}

/** Returns the messages that the visitor sees of a conversation. */
async function seen(conversationId) {
  const query = `conversationId=${conversationId}`;
  const response = await fetch(`${service.address}/connector/${site.id}/chat/messages?${query}`);
  return (await response.json()).data.messages;
}

const entry = (page, name) => page.locator("#conversations .entry").filter({ hasText: name });

test("The first owner sets up an account, creates a site and copies its script tag", TIMEOUT, async () => {
  const { page, errors, close } = await open(new URL(service.ownerLink).pathname + new URL(service.ownerLink).hash);
  await page.getByRole("heading", { name: "Create the first account" }).waitFor();
  assert.equal(new URL(page.url()).hash, "", "the secret is not in the address any more");
  const setup = page.locator("#setup");
  await setup.getByLabel("Your name").fill("Maren");
  await setup.getByLabel("E-mail").fill(EMAIL);
  await setup.getByLabel("Password").fill("aaaaaaaaaaaa");
  await page.getByRole("button", { name: "Continue" }).click();
  await page.locator("#setup .problem:not(:empty)").waitFor();
  await setup.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.locator("#status.online").waitFor();

  await page.getByRole("link", { name: "Sites" }).click();
  await page.locator("#new-site-name").fill("The pot shop");
  await page.getByLabel("Address of its pages").fill("https://shop.example/path");
  await page.getByRole("button", { name: "Create" }).click();
  await page.locator("#new-site .problem:not(:empty)").waitFor();
  await page.getByLabel("Address of its pages").fill("https://Shop.example");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "The pot shop" }).waitFor();
  const { sites } = await service.admin("site", "list");
  [site] = sites;
  assert.deepEqual(site.allowedOrigins, ["https://shop.example"]);
  const { scriptTag } = await service.admin("site", "show", site.id);
  assert.equal(await page.locator("#script-tag").innerText(), scriptTag);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.locator("#copied:not(:empty)").waitFor();

  await page.getByLabel("All languages").fill("Welcome to the shop.");
  await page.getByLabel("Assistant's name").fill("Clover");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  const config = await fetch(`${service.address}/connector/${site.id}/chat/config`);
  const { data } = await config.json();
  assert.deepEqual([data.config.assistantName, data.config.welcomeMessage], ["Clover", "Welcome to the shop."]);
  assert.deepEqual(errors, []);
  await close();
});

test("A used link does not work again, and leads to signing in", TIMEOUT, async () => {
  const { page, close } = await open(new URL(service.ownerLink).pathname + new URL(service.ownerLink).hash);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.match(await page.locator("#account-hint").innerText(), /link/i);
  await signIn(page, "a wrong password");
  await page.locator("#sign-in .problem:not(:empty)").waitFor();
  assert.equal(await page.locator("#frame").isVisible(), false);
  await close();
});

test("An operator answers a visitor, writes a note, takes over and closes the conversation", TIMEOUT, async () => {
  const visitor = { visitorId: "v-anna", name: "Anna <b>Lindqvist</b>", email: "anna@example.com" };
  const id = await say("Can I talk to a real person? <img src=x onerror=alert(1)>", visitor);
  const { page, errors, close } = await openSignedIn("/console/");
  const anna = entry(page, "Anna <b>Lindqvist</b>");
  await anna.getByText("Waiting").waitFor();
  await anna.click();
  await page.getByRole("heading", { name: "Anna <b>Lindqvist</b>" }).waitFor();
  const log = page.locator("#log");
  await log.getByText("<img src=x onerror=alert(1)>").waitFor();
  assert.equal(await log.locator("img, b").count(), 0);
  assert.match(await page.locator("#visitor").innerText(), /anna@example\.com/);

  await page.getByLabel("Your answer").fill("Maren here.");
  await page.keyboard.press("Enter");
  await log.getByText("Maren here.").waitFor();
  assert.equal(await page.getByLabel("Your answer").inputValue(), "");
  await page.getByLabel("Note for colleagues").check();
  await page.getByLabel("Your note").fill("She asked before.");
  await page.getByRole("button", { name: "Add note" }).click();
  await log.getByText("She asked before.").waitFor();
  await eventually(async () => assert.equal((await seen(id)).at(-1).content, "Maren here."));
  assert.ok((await seen(id)).every(({ content }) => !content.includes("She asked")));

  // An answer takes the conversation over for a while.
  const ai = page.locator("#ai-state");
  await ai.getByText(/^The AI is off until/).waitFor();
  await page.getByRole("button", { name: "Let the AI answer" }).click();
  await ai.getByText("The AI answers").waitFor();
  await page.getByRole("button", { name: "Take over" }).click();
  await ai.getByText("The AI is off", { exact: true }).waitFor();
  await page.getByText("Assigned to you").waitFor();

  // A further message arrives by the stream.
  await say("Are you there?", visitor, id);
  await log.getByText("Are you there?").waitFor();

  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.getByRole("button", { name: "Reopen" }).waitFor();
  await anna.waitFor({ state: "detached" });
  await page.getByLabel("Show").selectOption("closed");
  await anna.waitFor();
  assert.deepEqual(errors, []);
  await close();
});

test("A message whose response was lost is stored once when it is sent again", TIMEOUT, async () => {
  const id = await say("How much is a mug?", { visitorId: "v-ben", name: "Ben" });
  const { page, close } = await openSignedIn(`/console/#conversation=${id}`);
  await page.getByRole("heading", { name: "Ben" }).waitFor();
  const pattern = "**/api/admin/v1/conversations/*/messages";
  await page.route(pattern, async (route) => {
    await route.fetch();
    await route.abort();
  });
  await page.getByLabel("Your answer").fill("Twelve euros.");
  await page.getByRole("button", { name: "Send" }).click();
  await page.getByText("Not sent").waitFor();
  assert.equal(await page.getByLabel("Your answer").inputValue(), "Twelve euros.");
  await page.unroute(pattern);
  await page.getByRole("button", { name: "Send" }).click();
  await eventually(async () => assert.equal(await page.getByLabel("Your answer").inputValue(), ""));
  const answers = (await seen(id)).filter(({ content }) => content === "Twelve euros.");
  assert.equal(answers.length, 1);
  await close();
});

test("On a phone, the list, the conversation and the visitor's details each fill the screen", TIMEOUT, async () => {
  await say("Do you ship to Norway?", { visitorId: "v-cleo", name: `Cleo ${"long name ".repeat(15)}` });
  const { page, errors, close } = await openSignedIn("/console/", { width: 360, height: 640 });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await entry(page, "Cleo").waitFor();
  assert.equal(await width(), 360);
  await entry(page, "Cleo").click();
  await page.locator("#log").getByText("Do you ship to Norway?").waitFor();
  assert.equal(await page.locator(".list").isVisible(), false);
  assert.equal(await width(), 360);
  await page.getByRole("button", { name: "About" }).click();
  await page.getByText("v-cleo").waitFor();
  assert.equal(await width(), 360);
  await page.getByRole("button", { name: "Back" }).click();
  await entry(page, "Cleo").waitFor();
  await page.getByRole("link", { name: "Sites" }).click();
  await page.getByRole("heading", { name: "The pot shop" }).waitFor();
  assert.equal(await width(), 360);
  assert.deepEqual(errors, []);
  await close();
});

test("Whoever signs out sees nothing more, and a second tab is signed out as well", TIMEOUT, async () => {
  const { page, close } = await openSignedIn("/console/");
  const second = await page.context().newPage();
  await second.goto(`${service.address}/console/`);
  await second.locator("#status.online").waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  assert.equal(await page.locator("#conversations li").count(), 0);
  await say("Anybody?", { visitorId: "v-dora", name: "Dora" });
  await second.getByText("Your session has ended").waitFor();
  assert.equal(await second.locator("#conversations li").count(), 0);
  await close();
});

test("A draft outlives the end of the session, but not signing out", TIMEOUT, async () => {
  const id = await say("Do you have lids?", { visitorId: "v-gus", name: "Gus" });
  const { page, close } = await openSignedIn(`/console/#conversation=${id}`);
  await page.getByLabel("Your answer").fill("We have lids in");
  // As if the session had ended: by a password change, or in another tab.
  await page.evaluate(() =>
    fetch("/api/admin/v1/session", { method: "DELETE", headers: { "Content-Type": "application/json" }, body: "{}" }),
  );
  await say("Hello?", { visitorId: "v-gus" }, id);
  await page.getByText("Your session has ended").waitFor();
  await signIn(page);
  await eventually(async () => assert.equal(await page.getByLabel("Your answer").inputValue(), "We have lids in"));
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  await signIn(page);
  await page.getByRole("heading", { name: "Gus" }).waitFor();
  assert.equal(await page.getByLabel("Your answer").inputValue(), "");
  await close();
});

test("The whole of an answer is given by keyboard", TIMEOUT, async () => {
  const id = await say("Is the mug dishwasher-safe?", { visitorId: "v-emil", name: "Emil" });
  const { page, close } = await open("/console/");
  const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.className);
  await page.locator("#sign-in-email:focus").waitFor();
  await page.keyboard.type(EMAIL);
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await entry(page, "Emil").waitFor();
  while (!(await entry(page, "Emil").evaluate((element) => element === document.activeElement))) {
    await page.keyboard.press("Tab");
    assert.notEqual(await focused(), "text", "the list comes before the answer");
  }
  await page.keyboard.press("Enter");
  await page.locator("#text:focus").waitFor();
  await page.keyboard.type("Yes.");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal((await seen(id)).at(-1).content, "Yes."));
  assert.equal(await focused(), "text");
  await close();
});

for (const colorScheme of ["light", "dark"]) {
  test(`axe reports no violation in the console, ${colorScheme}`, TIMEOUT, async () => {
    const id = await say("Can I talk to a person?", { visitorId: "v-fay", name: "Fay", email: "fay@example.com" });
    const { page, close } = await open("about:blank");
    await page.emulateMedia({ colorScheme });
    await withAxe(page);
    await page.goto(`${service.address}/console/`);
    await page.locator("#sign-in").waitFor();
    assert.deepEqual(await pageFindings(page), []);
    await signIn(page);
    await entry(page, "Fay").first().waitFor();
    assert.deepEqual(await pageFindings(page), []);
    await page.goto(`${service.address}/console/#conversation=${id}`);
    await page.locator("#log article").first().waitFor();
    assert.deepEqual(await pageFindings(page), []);
    await page.getByRole("link", { name: "Sites" }).click();
    await page.locator("#site-name").waitFor();
    assert.deepEqual(await pageFindings(page), []);
    await close();
  });
}

/** Returns the current code of an authenticator app with this secret (RFC 6238). */
function codeOf(secret) {
  const bits = [...secret].map((letter) =>
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  );
  const key = Buffer.from(
    bits
      .join("")
      .match(/.{8}/g)
      .map((byte) => Number.parseInt(byte, 2)),
  );
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const offset = hash[hash.length - 1] & 15;
  return String((hash.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}

// The last test: from here on, the account has a second factor.
test("An operator with a second factor is asked for its code", TIMEOUT, async () => {
  const { page, close } = await openSignedIn("/console/");
  const call = (path, body) =>
    page.evaluate(
      async ([path, body]) => {
        const headers = { "Content-Type": "application/json" };
        const response = await fetch(`/api/admin/v1/${path}`, { method: "POST", headers, body: JSON.stringify(body) });
        return (await response.json()).data;
      },
      [path, body],
    );
  const { secret, enrolment } = await call("totp", { password: PASSWORD });
  const { recoveryCodes } = await call("totp/confirm", { enrolment, code: codeOf(secret) });
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
  await signIn(page);
  await page.locator("#sign-in-code:focus").waitFor();
  assert.equal(await page.locator("#frame").isVisible(), false);
  await page.locator("#sign-in-code").fill("000000");
  await page.keyboard.press("Enter");
  await page.locator("#sign-in .problem:not(:empty)").waitFor();
  await page.locator("#sign-in-code").fill(recoveryCodes[0]);
  await page.keyboard.press("Enter");
  await page.locator("#status.online").waitFor();
  await close();
});
