// Several workspaces with one account in the operators' console: joining by a link, and switching.

import assert from "node:assert/strict";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { operatorOf } from "./service.mjs";
import { PASSWORD } from "./team.mjs";

let second;

withTeam({
  names: ["Maren", "Ida"],
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
  await page.getByRole("heading", { level: 1 }).waitFor();
});

test("An invited person signs in to the account that they have, and joins with it", async () => {
  const { link: ownerLink } = await team.admin("operator", "confirm", "ida@shop.example");
  await operatorOf({ ...team, ownerLink }, { password: PASSWORD });
  // Switching has ended the session that she had.
  const { page: owner } = await open("/console/", null);
  await owner.getByRole("textbox", { name: "E-mail" }).fill("maren@shop.example");
  await owner.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await owner.getByRole("button", { name: "Sign in" }).click();
  await sections(owner).waitFor();
  assert.equal(await tenantOf(owner), "Main", "the one that was used last");
  await switchTo(owner, "Second Office");
  const link = await owner.evaluate(async () => {
    const body = JSON.stringify({ email: "ida@shop.example", role: "agent" });
    const headers = { "Content-Type": "application/json" };
    const invited = await fetch("/api/admin/v1/invitations", { method: "POST", headers, body });
    return (await invited.json()).data.link;
  });
  const { page } = await open(link, null);
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
