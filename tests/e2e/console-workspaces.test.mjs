// Several workspaces with one account in the operators' console: joining by a link, and switching.

import assert from "node:assert/strict";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { operatorOf } from "./service.mjs";
import { PASSWORD } from "./team.mjs";

let second;

withTeam({
  names: ["Maren", "Ida", "Noor"],
  fill: async () => ({ tenant: second } = await team.admin("tenant", "create", "--name", "Second Office")),
});

const ownMenu = (page) => page.getByRole("button", { name: /: your state and account$/ });
const sections = (page) => page.getByRole("navigation", { name: "Sections" });

/** Opens the own menu, and returns its workspace with this name. */
async function workspace(page, name) {
  await ownMenu(page).click();
  return page.getByRole("menuitemcheckbox", { name });
}

/** Returns the name of the tenant of a page's session. */
const tenantOf = (page) =>
  page.evaluate(async () => (await (await fetch("/api/admin/v1/session")).json()).data.tenant.name);

/** Switches a page to another workspace, and waits until it shows it. */
async function switchTo(page, name) {
  const item = await workspace(page, name);
  await Promise.all([page.waitForEvent("load"), item.click()]);
  await sections(page).waitFor();
}

/** Signs in on a page that asks for it. */
async function signIn(page, email) {
  await page.getByRole("textbox", { name: "E-mail" }).fill(email);
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await sections(page).waitFor();
}

/** Invites an address to the workspace of a page's session. Returns the link. */
const invite = (page, email) =>
  page.evaluate(async (email) => {
    const body = JSON.stringify({ email, role: "agent" });
    const headers = { "Content-Type": "application/json" };
    const invited = await fetch("/api/admin/v1/invitations", { method: "POST", headers, body });
    return (await invited.json()).data.link;
  }, email);

test("An owner joins a second workspace with the account that is signed in, and all tabs switch together", async () => {
  const { page, context } = await open("/console/", team.operators[0]);
  await sections(page).waitFor();
  await ownMenu(page).click();
  assert.equal(await page.getByText("Workspaces").count(), 0, "one workspace is no choice");
  const { link } = await team.admin("owner-link", "--tenant", second.id);
  const joining = await context.newPage();
  await joining.goto(link);
  await joining.getByRole("button", { name: "I have an account already" }).click();
  await joining.getByRole("heading", { name: "Join Second Office" }).waitFor();
  await joining.getByText("You are signed in as maren@shop.example.").waitFor();
  assert.equal(await joining.getByRole("button", { name: "I have no account yet" }).count(), 0);
  await Promise.all([page.waitForEvent("load"), joining.getByRole("button", { name: "Join", exact: true }).click()]);
  for (const one of [page, joining]) {
    await sections(one).waitFor();
    assert.equal(await tenantOf(one), "Second Office");
  }
  const current = await workspace(joining, "Second Office");
  assert.equal(await current.getAttribute("aria-checked"), "true");
  await joining.keyboard.press("Escape");
  await Promise.all([page.waitForEvent("load"), switchTo(joining, "Main")]);
  assert.equal(await tenantOf(page), "Main");
  await sections(page).getByRole("link", { name: "Settings" }).click();
  await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor();
});

test("An invited person signs in to the account that they have, and joins with it", async () => {
  const { link: ownerLink } = await team.admin("operator", "confirm", "ida@shop.example");
  await operatorOf({ ...team, ownerLink }, { password: PASSWORD });
  // Switching has ended the session that she had.
  const { page: owner } = await open("/console/", null);
  await signIn(owner, "maren@shop.example");
  assert.equal(await tenantOf(owner), "Main", "the one that was used last");
  await switchTo(owner, "Second Office");
  const { page } = await open(await invite(owner, "ida@shop.example"), null);
  await page.getByRole("button", { name: "I have an account already" }).click();
  await page.getByRole("button", { name: "I have no account yet" }).click();
  await page.getByRole("heading", { name: "Create your account" }).waitFor();
  await page.getByRole("button", { name: "I have an account already" }).click();
  assert.equal(await page.getByRole("textbox", { name: "E-mail" }).inputValue(), "ida@shop.example");
  await page.getByRole("textbox", { name: "Password" }).fill("a wrong password");
  await page.getByRole("button", { name: "Sign in and join" }).click();
  await page.getByRole("alert").filter({ hasText: /wrong/ }).waitFor();
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in and join" }).click();
  await sections(page).waitFor();
  assert.equal(await tenantOf(page), "Second Office");
  await switchTo(page, "Main");
  assert.equal(await tenantOf(page), "Main");
});

test("An account that is not confirmed asks for its link where it cannot join, and signs in once", async () => {
  const { page: owner } = await open("/console/", null);
  await signIn(owner, "maren@shop.example");
  assert.equal(await tenantOf(owner), "Second Office");
  const { page } = await open(await invite(owner, "noor@shop.example"), null);
  const signIns = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === "POST" && pathname === "/api/admin/v1/session") signIns.push(pathname);
  });
  await page.getByRole("button", { name: "I have an account already" }).click();
  const noMail = page.getByRole("status").filter({ hasText: "cannot send e-mails" });
  await page.getByRole("button", { name: "Forgot your password?" }).click();
  await noMail.waitFor();
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in and join" }).click();
  await page.getByText("You are signed in as noor@shop.example.").waitFor();
  const refusal = page.getByRole("alert").filter({ hasText: "not confirmed" });
  await refusal.waitFor();
  await page.getByRole("button", { name: "Send the link" }).click();
  await noMail.waitFor();
  assert.equal(await refusal.count(), 0);
  await page.getByRole("button", { name: "Join", exact: true }).click();
  await refusal.waitFor();
  assert.equal(signIns.length, 1, "a code could not be used twice");
  await page.getByRole("button", { name: "Use another account" }).click();
  await page.getByRole("button", { name: "Sign in and join" }).waitFor();
  assert.equal(await refusal.count(), 0);

  await page.goto(new URL("/console/account", team.address).href);
  await page.getByRole("heading", { name: "Confirm your address" }).waitFor();
  await page.getByRole("button", { name: "Send the link" }).click();
  await noMail.waitFor();
  await owner.goto(new URL("/console/account", team.address).href);
  await owner.getByRole("heading", { name: "Your account" }).waitFor();
  assert.equal(await owner.getByRole("heading", { name: "Confirm your address" }).count(), 0, "hers is confirmed");
});

test("A tab follows when somebody else begins to work in another one", async () => {
  const { page, context } = await open("/console/", null);
  await signIn(page, "maren@shop.example");
  const { link } = await team.admin("owner-link", "--tenant", second.id);
  const other = await context.newPage();
  await other.goto(link);
  await other.getByRole("textbox", { name: "Your name" }).fill("Zoe");
  await other.getByRole("textbox", { name: "E-mail" }).fill("zoe@shop.example");
  await other.getByRole("textbox", { name: "New password" }).fill("eight blue lamps in a row");
  await Promise.all([page.waitForEvent("load"), other.getByRole("button", { name: "Continue" }).click()]);
  await page.getByRole("button", { name: /^Zoe: your state and account$/ }).waitFor();
});

test("A tab follows a switch to the workspace that it was told of last", async () => {
  const { page, context } = await open("/console/", null);
  await signIn(page, "maren@shop.example");
  await switchTo(page, "Main");
  // The session gets to the other workspace without a word, as by signing in elsewhere.
  await page.evaluate(async () => {
    const { workspaces } = (await (await fetch("/api/admin/v1/session")).json()).data;
    const { operatorId } = workspaces.find(({ tenant }) => tenant.name === "Second Office");
    const headers = { "Content-Type": "application/json" };
    await fetch("/api/admin/v1/session/switch", { method: "POST", headers, body: JSON.stringify({ operatorId }) });
  });
  await page.reload();
  await sections(page).waitFor();
  const other = await context.newPage();
  await other.goto(page.url());
  await sections(other).waitFor();
  assert.equal(await (await workspace(other, "Second Office")).getAttribute("aria-checked"), "true");
  await other.keyboard.press("Escape");
  await Promise.all([other.waitForEvent("load"), switchTo(page, "Main")]);
  await sections(other).waitFor();
  assert.equal(await (await workspace(other, "Main")).getAttribute("aria-checked"), "true");
});
