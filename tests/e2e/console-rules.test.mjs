// The rules for publishing in the operators' console: written, tried, saved and obeyed.

import assert from "node:assert/strict";
import { beforeEach } from "node:test";
import { eventually } from "./chat.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { answer, QUESTION } from "./settings.mjs";

const BLOG = "Blog <img src=x onerror=alert(1)> {name}";

let site;
let token;

withTeam({ names: ["Maren"] });

// Each test has a site of its own, so that none counts in another one's hour.
beforeEach(async () => {
  ({ site } = await team.admin("site", "create", "--name", "A studio"));
  ({ token } = await team.admin("token", "create", "--site", site.id));
});

const call = (...request) => team.operators[0].call(...request);
const rule = (name, more = {}) => ({ name, action: "publish", ...more });

/** Stores rules without the console. */
const store = (rules, more = {}) =>
  call("PUT", `sites/${site.id}/publishing-rules`, {
    version: 0,
    otherwise: "review",
    hourlyLimit: 100,
    rules,
    ...more,
  });

/** Lets pages arrive, as the site's server does. */
async function sync(...pages) {
  // They lack a preview in social networks, whose texts are those of their own heads.
  const head = (path) => ({ title: `Page ${path}`, description: `The page ${path} describes itself in one sentence.` });
  const items = pages.map(({ path }) => ({
    type: "page",
    externalId: path,
    title: `Page ${path}`,
    path,
    data: { head: head(path) },
  }));
  const synced = await fetch(`${team.address}/api/connector/v1/content/sync`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ snapshotId: crypto.randomUUID(), page: 1, items }),
  });
  assert.equal(synced.status, 200, await synced.text());
}

async function openRules() {
  const { page } = await open(`/console/publishing/rules/${site.id}?site=${site.id}`);
  await page.getByRole("button", { name: "Add a rule" }).waitFor();
  return page;
}

const names = (page) => page.getByRole("list", { name: "Rules, in their order" }).locator(".row-title").allInnerTexts();
const tried = (page) => page.getByRole("region", { name: "With these rules" });
const entry = (page, path) => page.getByRole("listitem").filter({ hasText: `Page ${path}` });

async function save(page) {
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved", { exact: true }).waitFor();
}

test("A rule is tried before it is saved, publishes what matches, and is named in the history", async () => {
  await sync({ path: "/blog/old" }, { path: "/about" });
  const page = await openRules();
  await tried(page).getByText("2 would wait for review").waitFor();

  await page.getByRole("button", { name: "Add a rule" }).click();
  const form = page.getByRole("dialog", { name: "Add a rule" });
  await form.getByRole("button", { name: "Apply" }).click();
  const name = form.getByRole("textbox", { name: "Name" });
  await eventually(async () => assert.equal(await name.getAttribute("aria-invalid"), "true"));
  await name.fill(BLOG);
  await form.getByRole("textbox", { name: "Paths" }).fill("blog");
  await form.getByRole("button", { name: "Apply" }).click();
  await form.getByText(/Must begin with \/ or \*/).waitFor();
  await form.getByRole("textbox", { name: "Paths" }).fill("/blog\n");
  await form.getByRole("combobox", { name: "What" }).selectOption({ label: "Page heads" });
  await form.getByRole("combobox", { name: "Checks" }).selectOption({ label: "They find no problem" });
  await form.getByRole("button", { name: "Apply" }).click();
  await form.waitFor({ state: "hidden" });
  assert.deepEqual(await names(page), [BLOG]);
  await page
    .getByText("Page heads under /blog whose checks find no problem are published automatically.", { exact: true })
    .waitFor();
  await tried(page).getByText("1 would be published").waitFor();
  await entry(tried(page), "/blog/old").getByText(`Rule “${BLOG}”`).waitFor();
  await entry(tried(page), "/about").getByText("Waits for review: no rule publishes it").waitFor();
  assert.deepEqual((await call("GET", `sites/${site.id}/publishing-rules`)).rules, [], "nothing is saved yet");
  await save(page);
  assert.deepEqual((await call("GET", `sites/${site.id}/publishing-rules`)).rules[0].paths, ["/blog"]);

  await sync({ path: "/blog/new" }, { path: "/shop/new" }, { path: "/blog//bad" });
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await entry(page, "/blog/new").getByText("On the way").waitFor();
  await entry(page, "/shop/new").getByText("Waits for review: no rule publishes it").waitFor();
  await entry(page, "/blog//bad").getByText("no rule publishes it").waitFor();
  await entry(page, "/blog/old").getByText("To review").waitFor();
  await entry(page, "/blog/new").getByRole("link").click();
  await page.getByText(`Published automatically by the rule “${BLOG}”`, { exact: true }).waitFor();
  await page.getByRole("link", { name: "Back to the list" }).click();
  await entry(page, "/shop/new").getByRole("link").click();
  await page.getByRole("button", { name: "Publish", exact: true }).click();
  await page.getByText("Published by Maren", { exact: true }).waitFor();
});

test("What exceeds the maximum of an hour waits, and says why", async () => {
  await store([rule("All")]);
  const page = await openRules();
  const limit = page.getByRole("textbox", { name: "Maximum automatic publications an hour" });
  for (const wrong of ["many", "0"]) {
    await limit.fill(wrong);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await eventually(async () => assert.equal(await limit.getAttribute("aria-invalid"), "true"));
  }
  await limit.fill("1");
  await save(page);
  await sync({ path: "/a" });
  await sync({ path: "/b" }, { path: "/c" });
  await tried(page).getByText("2 would exceed the maximum of an hour").waitFor();
  await page.getByRole("link", { name: "Review", exact: true }).click();
  await entry(page, "/a").getByText("On the way").waitFor();
  for (const path of ["/b", "/c"])
    await entry(page, path).getByText("The rule “All” had published the maximum of an hour").waitFor();
});

test("The second of two editors keeps their changes, and can see those of the first", async () => {
  await store([rule("One"), rule("Two")]);
  const [first, second] = [await openRules(), await openRules()];
  await first.getByRole("button", { name: "Remove “One”" }).click();
  await second.getByRole("button", { name: "Move “Two” up" }).click();
  await save(first);
  await second.getByRole("button", { name: "Save", exact: true }).click();
  await second.getByText("Somebody else has changed the rules since you opened them.").waitFor();
  assert.deepEqual(await names(second), ["Two", "One"], "the changes stay");
  await second.getByRole("button", { name: "Show the saved rules" }).click();
  await eventually(async () => assert.deepEqual(await names(second), ["Two"]));
  await second.getByRole("checkbox", { name: "Use “Two”" }).uncheck();
  await save(second);
  const stored = await call("GET", `sites/${site.id}/publishing-rules`);
  assert.deepEqual(
    stored.rules.map(({ name, disabled }) => [name, disabled]),
    [["Two", true]],
  );
});

test("Rules are moved with the keyboard, and the focus and a message follow", async () => {
  await store(["One", "Two", "Three"].map((name) => rule(name)));
  const page = await openRules();
  const focused = () => page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  await page.getByRole("button", { name: "Move “Three” up" }).focus();
  await page.keyboard.press("Enter");
  await page.getByText("“Three” is now rule 2 of 3", { exact: true }).waitFor({ state: "attached" });
  await eventually(async () => assert.equal(await focused(), "Move “Three” up"));
  await page.keyboard.press("Alt+ArrowUp");
  await eventually(async () => assert.deepEqual(await names(page), ["Three", "One", "Two"]));
  await eventually(async () => assert.equal(await focused(), "Move “Three” down"), 5_000);
  await page.keyboard.press("Alt+ArrowUp");
  assert.deepEqual(await names(page), ["Three", "One", "Two"], "it is the first one");
  await save(page);
  const stored = await call("GET", `sites/${site.id}/publishing-rules`);
  assert.deepEqual(
    stored.rules.map(({ name }) => name),
    ["Three", "One", "Two"],
  );
});

test("Nobody leaves unsaved rules by mistake, not even for another site", async () => {
  await store([rule("One")]);
  const page = await openRules();
  await page.getByRole("button", { name: "Remove “One”" }).click();
  await page.getByText("Unsaved changes").waitFor();
  const sites = page.getByRole("combobox", { name: "Site" });
  for (const leave of [
    () => page.getByRole("link", { name: "Jobs", exact: true }).click(),
    () => sites.selectOption(team.site.id),
  ]) {
    const question = answer(page, false);
    await leave();
    assert.equal(await question, QUESTION);
    assert.ok(page.url().includes(`rules/${site.id}`), page.url());
    assert.deepEqual([await names(page), await sites.inputValue()], [[], site.id]);
  }
  await page.getByRole("button", { name: "Discard changes" }).click();
  assert.deepEqual(await names(page), ["One"]);
  await page.getByRole("link", { name: "Jobs", exact: true }).click();
  await page.getByText("The site has no jobs yet.").waitFor();
});
