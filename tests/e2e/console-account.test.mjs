// Accounts in the operators' console: one-time links, signing in and out, what stays in the browser, and the own account.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { text } from "node:stream/consumers";
import { after } from "node:test";
import { eventually } from "./chat.mjs";
import { isInView } from "./console.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { startService } from "./service.mjs";
import { PASSWORD, visitorOf } from "./team.mjs";

/** A service without an account. */
let fresh;

withTeam({ names: ["Maren", "Noor", "Tom", "Ida"], fill: async () => (fresh = await startService()) });
after(() => fresh?.stop());

const operator = (name) => team.operators.find((one) => one.name === name);

/** The pages that only operators see. */
const sections = (page) => page.getByRole("navigation", { name: "Sections" });
/** The list of an inbox. */
const inbox = (page) => page.getByRole("region", { name: "Conversations" });
const entry = (page, name) => inbox(page).getByRole("link", { name });
const composer = (page) => page.getByRole("form", { name: "Write" }).getByRole("textbox");
/** What a form says about a refusal. */
const problem = (page) => page.getByRole("alert").filter({ hasText: /\S/ });

async function signIn(page, { email, password = PASSWORD }) {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

/** Chooses an entry of the operator's own menu. */
async function chooseInOwnMenu(page, name, role = "menuitem") {
  await page.getByRole("button", { name: /: your state and account$/ }).click();
  await page.getByRole(role, { name }).click();
}

async function signOut(page) {
  await chooseInOwnMenu(page, "Sign out");
  await page.getByText("You are signed out.").waitFor();
}

/** Deletes the session of a page by the API, as a colleague or a changed password would. */
const endSession = (page) =>
  page.evaluate(() =>
    fetch("/api/admin/v1/session", { method: "DELETE", headers: { "Content-Type": "application/json" }, body: "{}" }),
  );

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

test("The first owner sets up an account by the one-time link, which does not work again", async () => {
  const secret = new URL(fresh.ownerLink, fresh.address).hash.replace("#setup=", "");
  const { page } = await open(fresh.ownerLink, null, { service: fresh });
  await page.getByRole("heading", { name: "Create the first account" }).waitFor();
  assert.ok(!page.url().includes(secret), "the secret is not in the address any more");
  assert.equal(
    await page.getByRole("textbox", { name: "Your name" }).evaluate((it) => it === document.activeElement),
    true,
  );
  await page.getByRole("textbox", { name: "Your name" }).fill("Maren");
  await page.getByRole("textbox", { name: "E-mail" }).fill("maren@shop.example");
  await page.getByRole("textbox", { name: "New password" }).fill("aaaaaaaaaaaa");
  await page.getByRole("button", { name: "Continue" }).click();
  await problem(page)
    .getByText(/password/i)
    .waitFor();
  assert.equal(await sections(page).count(), 0);
  assert.equal(await page.getByRole("textbox", { name: "Your name" }).inputValue(), "Maren", "what was typed stays");
  await page.getByRole("textbox", { name: "New password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("navigation", { name: "Views" }).waitFor();
  assert.equal(new URL(page.url()).hash, "");
  await page.goBack();
  assert.ok(!page.url().includes(secret), "the secret is not in the history");

  const again = await open(fresh.ownerLink, null, { service: fresh });
  await again.page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.match(await again.page.getByRole("status").first().innerText(), /link/i);
  assert.ok(!again.page.url().includes(secret));
  await signIn(again.page, { email: "maren@shop.example", password: "a wrong password" });
  await problem(again.page).waitFor();
  assert.equal(await sections(again.page).count(), 0);
  assert.equal(await again.page.getByRole("textbox", { name: "E-mail" }).inputValue(), "maren@shop.example");
  await signIn(again.page, { email: "maren@shop.example" });
  await again.page.getByRole("navigation", { name: "Views" }).waitFor();
});

test("An invited person creates an account for the address that was invited, and sees what agents see", async () => {
  const { link } = await operator("Maren").call("POST", "invitations", { email: "olga@shop.example", role: "agent" });
  const { page } = await open(link, null);
  await page.getByRole("heading", { name: "Create your account" }).waitFor();
  const email = page.getByRole("textbox", { name: "E-mail" });
  assert.equal(await email.inputValue(), "olga@shop.example");
  assert.equal(await email.isEditable(), false);
  await page.getByRole("textbox", { name: "Your name" }).fill("Olga");
  await page.getByRole("textbox", { name: "New password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await sections(page).getByRole("link", { name: "Inbox" }).waitFor();
  assert.equal(await sections(page).getByRole("link", { name: "Publishing" }).count(), 0);
});

test("Signing in takes nothing but the keyboard, and leads to the page that was asked for", async () => {
  const visitor = visitorOf(team, { name: "Emil" });
  await visitor.say("Is the mug dishwasher-safe?");
  const path = `/console/inbox/${visitor.conversationId}`;
  const { page } = await open(path, null);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await page.locator("input[type=email]:focus").waitFor();
  await page.keyboard.type("maren@shop.example");
  await page.keyboard.press("Tab");
  await page.keyboard.type(PASSWORD);
  await page.keyboard.press("Enter");
  await page.getByRole("log", { name: "Messages" }).getByText("Is the mug dishwasher-safe?").waitFor();
  assert.equal(new URL(page.url()).pathname, path);
});

test("A link for a new password replaces the old one, and without e-mail the form says who has it", async () => {
  const { link } = await operator("Maren").call("POST", `operators/${operator("Ida").id}/password-link`);
  const { page } = await open("/console/", null);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByRole("heading", { name: "Forgot your password?" }).waitFor();
  await page.getByRole("textbox", { name: "E-mail" }).fill("ida@shop.example");
  await page.getByRole("button", { name: "Send the link" }).click();
  await page.getByText("This service cannot send e-mails. Ask an owner for a link.").waitFor();
  await page.getByRole("link", { name: "Back to signing in" }).click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();

  // The page is the same one, so that only its hash changes.
  await page.goto("about:blank");
  await page.goto(new URL(link, team.address).href);
  await page.getByRole("heading", { name: "Choose a new password" }).waitFor();
  assert.equal(await page.getByRole("textbox", { name: "E-mail" }).inputValue(), "ida@shop.example");
  await page.getByRole("textbox", { name: "New password" }).fill("nine blue ladders in the rain");
  await page.getByRole("button", { name: "Continue" }).click();
  await eventually(async () =>
    assert.ok((await page.getByText("The password is changed.").count()) || (await sections(page).count())),
  );
  if (await sections(page).count()) await signOut(page);
  await signIn(page, { email: "ida@shop.example" });
  await problem(page).waitFor();
  await signIn(page, { email: "ida@shop.example", password: "nine blue ladders in the rain" });
  await inbox(page).waitFor();
});

test("Signing out leaves nothing to read, and signs a second tab out as well", async () => {
  const visitor = visitorOf(team, { name: "Dora Quist", email: "dora@example.com" });
  await visitor.say("My order number is 4711");
  const path = `/console/inbox/${visitor.conversationId}`;
  const { page, context } = await open("/console/", null);
  await signIn(page, { email: "maren@shop.example" });
  await entry(page, "Dora Quist").click();
  await page.getByRole("log", { name: "Messages" }).getByText("My order number is 4711").waitFor();
  const second = await context.newPage();
  await second.goto(`${team.address}/console/`);
  await entry(second, "Dora Quist").waitFor();

  await signOut(page);
  await second.getByText("Your session has ended.").waitFor();
  for (const tab of [page, second]) {
    const text = await tab.evaluate(() => document.documentElement.outerHTML);
    for (const word of ["Dora", "4711", "dora@example.com", "Maren"]) assert.ok(!text.includes(word), word);
    assert.equal(await sections(tab).count(), 0);
  }
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
  for (const word of ["Dora", "4711"]) assert.ok(!stored.includes(word), stored);
  // Neither a further message, going back, nor a reload brings anything back.
  await visitor.say("Is anybody there?");
  await page.goBack();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  assert.equal(await page.getByText(/Dora|4711/).count(), 0);
  await page.goto(`${team.address}${path}`);
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  for (const tab of [page, second]) assert.equal(await tab.getByText(/Dora|4711|Is anybody there/).count(), 0);
});

test("A draft outlives the end of the session", async () => {
  const visitor = visitorOf(team, { name: "Gus" });
  await visitor.say("Do you have lids?");
  const path = `/console/inbox/${visitor.conversationId}`;
  const { page } = await open(path, null);
  await signIn(page, { email: "noor@shop.example" });
  await composer(page).fill("We have lids in");
  await endSession(page);
  await page.getByText("Your session has ended. Sign in again: what you typed is still here.").waitFor();
  assert.equal(await composer(page).count(), 0);
  await signIn(page, { email: "noor@shop.example" });
  await page.getByRole("heading", { name: "Gus" }).waitFor();
  await eventually(async () => assert.equal(await composer(page).inputValue(), "We have lids in"));

  // It is the operator's own.
  await endSession(page);
  await page.getByText("Your session has ended.").waitFor();
  await signIn(page, { email: "tom@shop.example" });
  await page.getByRole("heading", { name: "Gus" }).waitFor();
  assert.equal(await composer(page).inputValue(), "");
});

test("Preferences and the colours are stored, and the availability is shown to colleagues", async () => {
  const noor = operator("Noor");
  const { page } = await open("/console/account", noor);
  const form = page.getByRole("form", { name: "Sounds and notifications" });
  const sound = form.getByRole("checkbox", { name: "Play a sound" });
  await eventually(async () => assert.equal(await sound.isChecked(), true));
  await sound.uncheck();
  await form.getByRole("checkbox", { name: "Have quiet hours" }).check();
  await form.getByLabel("From", { exact: true }).fill("21:30");
  await form.getByLabel("To", { exact: true }).fill("07:15");
  await form.getByRole("button", { name: "Save" }).click();
  await page.getByRole("region", { name: "Notices" }).getByText("Saved").waitFor();
  const stored = await noor.call("GET", "preferences");
  assert.deepEqual([stored.sound, stored.quietHours.fromMinute, stored.quietHours.toMinute], [false, 1290, 435]);

  await page.getByRole("radio", { name: "Dark" }).check();
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const dark = await background();
  await page.reload();
  await eventually(async () => assert.equal(await form.getByLabel("From", { exact: true }).inputValue(), "21:30"));
  assert.equal(await sound.isChecked(), false);
  assert.equal(await page.getByRole("radio", { name: "Dark" }).isChecked(), true);
  assert.equal(await background(), dark);
  await page.getByRole("radio", { name: "Light" }).check();
  assert.notEqual(await background(), dark);

  const availability = async () => (await noor.call("GET", "preferences")).availability;
  for (const [name, expected] of [
    ["Away", "away"],
    ["Offline", "offline"],
    ["Online while you use the console", "automatic"],
  ]) {
    await chooseInOwnMenu(page, name, "menuitemcheckbox");
    await eventually(async () => assert.equal(await availability(), expected));
    await page.getByRole("button", { name: /: your state and account$/ }).click();
    assert.equal(await page.getByRole("menuitemcheckbox", { name }).getAttribute("aria-checked"), "true");
    await page.keyboard.press("Escape");
    assert.equal(await page.getByRole("menu").count(), 0);
  }
  assert.equal((await noor.call("GET", "preferences")).quietHours.fromMinute, 1290, "the quiet hours stay");
});

test("Changing the password ends all other sessions", async () => {
  const { link } = await operator("Maren").call("POST", "invitations", { email: "vera@shop.example", role: "agent" });
  const { page: first } = await open(link, null);
  await first.getByRole("textbox", { name: "Your name" }).fill("Vera");
  await first.getByRole("textbox", { name: "New password" }).fill(PASSWORD);
  await first.getByRole("button", { name: "Continue" }).click();
  await inbox(first).waitFor();
  const { page } = await open("/console/account", null);
  await signIn(page, { email: "vera@shop.example" });
  const card = page.getByRole("region", { name: "Password" });
  const list = page.getByRole("region", { name: "Sessions" }).getByRole("listitem");
  await eventually(async () => assert.equal(await list.count(), 2));
  await card.getByRole("textbox", { name: "Current password" }).fill("not this one at all");
  await card.getByRole("textbox", { name: "New password" }).fill("nine blue ladders in the rain");
  await card.getByRole("button", { name: "Change the password" }).click();
  await problem(card).waitFor();
  await card.getByRole("textbox", { name: "Current password" }).fill(PASSWORD);
  await card.getByRole("button", { name: "Change the password" }).click();
  await page.getByText("The password is changed. All your other sessions have ended.").waitFor();
  assert.equal(await problem(card).count(), 0);
  await first.getByText("Your session has ended.").waitFor();
});

test("Operators change their own name, which visitors see", async () => {
  const { page } = await open("/console/account", operator("Noor"));
  const card = page.getByRole("region", { name: "Your name" });
  const name = card.getByRole("textbox", { name: "Name" });
  await name.fill(" ");
  await card.getByRole("button", { name: "Save" }).click();
  await problem(card).waitFor();
  await name.fill("  Noor Haddad ");
  await page.keyboard.press("Enter");
  await page.getByText("Noor Haddad,").waitFor();
  assert.equal(await name.inputValue(), "Noor Haddad");
  const visitor = visitorOf(team, { name: "Lena" });
  await visitor.say("Do you have bowls?");
  await operator("Noor").call(
    "POST",
    `conversations/${visitor.conversationId}/messages`,
    { text: "Yes." },
    {
      "Idempotency-Key": crypto.randomUUID(),
    },
  );
  assert.equal((await visitor.poll()).at(-1).author.name, "Noor Haddad");
});

test("The browser can install the console", async () => {
  const { page } = await open("/console/account");
  const devtools = await page.context().newCDPSession(page);
  const { url, errors, manifest } = await devtools.send("Page.getAppManifest");
  assert.ok(url.endsWith("/console/console.webmanifest"));
  assert.deepEqual(errors, []);
  assert.equal(manifest.display, "kStandalone");
  const { installabilityErrors } = await devtools.send("Page.getInstallabilityErrors");
  // Each test has a browser profile that keeps nothing.
  assert.deepEqual(
    installabilityErrors.map(({ errorId }) => errorId),
    ["in-incognito"],
  );
});

test("With an authenticator app, signing in asks for its code, or takes a recovery code", async () => {
  const { page } = await open("/console/account", operator("Tom"));
  const card = page.getByRole("region", { name: "Authenticator app" });
  await card.getByText("With an app, nobody signs in with your password alone.").waitFor();
  await card.getByRole("textbox", { name: "Current password" }).fill(PASSWORD);
  await card.getByRole("button", { name: "Set up an app" }).click();
  await isInView(card.getByRole("img", { name: "QR code for the authenticator app" }), "main");
  const secret = (await card.locator(".secret").innerText()).replaceAll(/\s/g, "");
  assert.match(await card.getByRole("link", { name: "Open the app on this device" }).getAttribute("href"), /^otpauth:/);
  await card.getByRole("textbox", { name: "The code that the app shows" }).fill(codeOf(secret));
  await card.getByRole("button", { name: "Continue" }).click();
  await card.getByRole("listitem").first().waitFor();
  const codes = await card.getByRole("listitem").allInnerTexts();
  const [recovery] = codes;
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    card.getByRole("link", { name: "Download" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "recovery-codes.txt");
  assert.equal(await text(await download.createReadStream()), codes.join("\n"));
  await card.getByRole("button", { name: "I have kept them" }).click();
  await card.getByText("Signing in asks for a code of your app.").waitFor();
  assert.equal(await card.getByText(recovery).count(), 0);

  await signOut(page);
  await signIn(page, { email: "tom@shop.example" });
  const code = page.getByRole("textbox", { name: "Code of your authenticator app, or a recovery code" });
  await code.waitFor();
  await eventually(async () => assert.equal(await code.evaluate((it) => it === document.activeElement), true));
  assert.equal(await sections(page).count(), 0);
  await code.fill("000000");
  await page.keyboard.press("Enter");
  await problem(page).waitFor();
  assert.equal(await sections(page).count(), 0);
  await code.fill(recovery);
  await page.keyboard.press("Enter");
  await sections(page).waitFor();

  // A recovery code works once.
  await signOut(page);
  await signIn(page, { email: "tom@shop.example" });
  await code.fill(recovery);
  await page.keyboard.press("Enter");
  await problem(page).waitFor();
  assert.equal(await sections(page).count(), 0);
});
test("Signing out sends the reply that could still be taken back, and removes what was begun", async () => {
  const visitor = visitorOf(team, { name: "Hugo" });
  await visitor.say("Is the large bowl in stock?");
  const { page } = await open(`/console/inbox/${visitor.conversationId}`, null);
  await signIn(page, { email: "maren@shop.example" });
  await composer(page).fill("Yes, three of them.");
  await page.keyboard.press("Enter");
  await composer(page).fill("Hugo's number is 555");
  await signOut(page);
  await eventually(async () => assert.equal((await visitor.poll()).at(-1).content, "Yes, three of them."));
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  for (const word of ["three of them", "555"]) assert.ok(!stored.includes(word), stored);
  await signIn(page, { email: "maren@shop.example" });
  await page.getByRole("heading", { name: "Hugo" }).waitFor();
  assert.equal(await composer(page).inputValue(), "");
});
