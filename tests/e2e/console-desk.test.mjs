// What must not surprise an operator: the kind of a text, drafts of other tabs, counts, who wrote last, what happened.

import assert from "node:assert/strict";
import { eventually } from "./chat.mjs";
import { isInView } from "./console.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { button, choose, field, log, reply, row, seenBy } from "./inbox.mjs";
import { visitorOf } from "./team.mjs";

let owner;

withTeam({ names: ["Maren", "Noor"], fill: () => ([owner] = team.operators), waitTimeoutMs: 10_000 });

/** Begins a conversation of a visitor with this name. */
const visitor = async (name, text) => {
  const one = visitorOf(team, { name });
  await one.say(text);
  return one;
};
const kind = (page, name) => page.getByRole("radio", { name });
const isChosen = (page, name) =>
  eventually(async () => assert.equal(await kind(page, name).isChecked(), true, `${name} is chosen`));

test("A menu item that leaves the page leaves no error behind", async () => {
  await visitor("Ada Moor", "A handle is broken");
  const { page } = await open();
  await choose(page, "Ada Moor");
  await page.locator(".conversation [data-action=label]").click();
  await page
    .getByRole("link", { name: "Manage labels" })
    .or(page.getByRole("menuitem", { name: "Manage labels" }))
    .click();
  await page.getByRole("heading", { name: "Labels", level: 1 }).waitFor();
  await page.goBack();
  await choose(page, "Ada Moor");
});

test("A conversation that is opened starts with a reply, unless a note was begun", async () => {
  const ben = await visitor("Ben Moor", "Is the pot oven-safe?");
  await visitor("Cleo Moor", "Do you sell lids?");
  const { page } = await open();
  await choose(page, "Ben Moor");
  await kind(page, "Note").check({ force: true });
  await choose(page, "Cleo Moor");
  await isChosen(page, "Reply");
  await choose(page, "Ben Moor");
  await isChosen(page, "Reply");
  await kind(page, "Note").check({ force: true });
  await field(page).fill("Ask the kiln");
  await choose(page, "Cleo Moor");
  await isChosen(page, "Reply");
  await choose(page, "Ben Moor");
  await isChosen(page, "Note");
  await eventually(async () => assert.equal(await field(page).inputValue(), "Ask the kiln"));
  await reply(page, "Up to 250 degrees.");
  await eventually(async () => assert.equal((await seenBy(ben)).at(-1), "operator: Up to 250 degrees."));
});

test("A draft that is sent in one tab is gone in the other, where another text goes on", async () => {
  const dora = await visitor("Dora Moor", "Can I pick it up?");
  const { page, context } = await open();
  await choose(page, "Dora Moor");
  await field(page).fill("Yes, from");
  const other = await context.newPage();
  await other.goto(page.url());
  await eventually(async () => assert.equal(await field(other).inputValue(), "Yes, from"));
  await field(page).fill("Yes, from noon.");
  await eventually(async () => assert.equal(await field(other).inputValue(), "Yes, from noon."));
  await button(page, "Send").click();
  await eventually(async () => assert.equal(await field(other).inputValue(), ""));
  await field(page).fill("Here");
  await eventually(async () => assert.equal(await field(other).inputValue(), "Here"));
  // Both go on with the text of their own: neither takes the other one's words away.
  await context.setOffline(true);
  await other.evaluate(() => {
    const text = document.querySelector("#composer-text");
    text.value = "Here and now";
    text.dispatchEvent(new InputEvent("input", { bubbles: true }));
  });
  await eventually(async () => assert.equal(await field(page).inputValue(), "Here and now"));
  await context.setOffline(false);
  await eventually(async () => assert.equal((await seenBy(dora)).at(-1), "operator: Yes, from noon."));
  assert.equal((await seenBy(dora)).filter((line) => line.includes("noon")).length, 1);
});

test("The counts are those of the service, however quickly conversations change", async () => {
  const [one, two] = [await visitor("Eva Moor", "First"), await visitor("Finn Moor", "Second")];
  const { page } = await open("/console/inbox?view=mine");
  const mine = page.getByRole("navigation", { name: "Views" }).getByRole("link", { name: /^Mine/ });
  const { mine: before } = await owner.call("GET", "conversations/counts");
  const assign = ({ conversationId }) =>
    owner.call("PATCH", `conversations/${conversationId}`, { assigneeId: owner.id });
  await assign(one);
  await eventually(async () => assert.equal(await mine.locator(".count").innerText(), String(before + 1)));
  await assign(two);
  await eventually(async () => assert.equal(await mine.locator(".count").innerText(), String(before + 2)));
});

test("A row says who wrote last", async () => {
  const gil = await visitor("Gil Moor", "Where is the **kiln**?");
  const { page } = await open();
  const words = row(page, "Gil Moor").locator(".row-words");
  await choose(page, "Gil Moor");
  await reply(page, "In the *yard*.");
  await eventually(async () => assert.match(await words.innerText(), /^You:\s+In the yard\.$/));
  await gil.say("And the **clay**?");
  await eventually(async () => assert.match(await words.innerText(), /And the \*\*clay\*\*\?$/));
  const { page: colleague } = await open("/console/inbox?view=all", team.operators[1]);
  await reply(page, "Below.");
  const theirs = row(colleague, "Gil Moor").locator(".row-words");
  await eventually(async () => assert.match(await theirs.innerText(), /^Maren:\s+Below\.$/));
});

test("An owner lets people answer, and nobody is promised an AI", async () => {
  const { page } = await open(`/console/settings/assistant/${team.site.id}`);
  const who = page.getByRole("combobox", { name: "Who answers" });
  await who.selectOption({ label: "People only" });
  await page.locator("form").filter({ has: who }).getByRole("button", { name: "Save" }).click();
  await eventually(async () => {
    const { answering } = await owner.call("GET", `sites/${team.site.id}`);
    assert.equal(answering, "people_only");
  });
  const kai = visitorOf(team, { name: "Kai Moor" });
  const { message, lead } = await kai.say("Do you ship to Norway?");
  assert.deepEqual([message ?? null, lead.needsHandoff], [null, true]);
  await page.goto(new URL(`/console/inbox/${kai.conversationId}`, team.address).href);
  await page.locator(".ai-state").getByText("AI is silent", { exact: true }).waitFor();
  await page.getByText("Waits for an answer").first().waitFor();
  await owner.call("PATCH", `sites/${team.site.id}`, { answering: "ai_first" });
  await page.locator(".ai-state").getByText("AI answers").waitFor();
});

test("The Enter that ends a composition in Safari sends nothing", async () => {
  const hana = await visitor("Hana Moor", "配達できますか");
  const { page } = await open();
  await choose(page, "Hana Moor");
  await field(page).fill("はい");
  const isTaken = await field(page).evaluate((element) => {
    const init = { key: "Enter", keyCode: 229, bubbles: true, cancelable: true };
    return !element.dispatchEvent(new KeyboardEvent("keydown", init));
  });
  assert.equal(isTaken, false);
  assert.equal(await field(page).inputValue(), "はい");
  assert.equal(
    (await seenBy(hana)).some((line) => line.includes("はい")),
    false,
  );
});

test("What happened is told in the operator's language", async () => {
  const ida = await visitor("Ida Moor", "Hallo");
  const change = (body) => owner.call("PATCH", `conversations/${ida.conversationId}`, body);
  await change({ assigneeId: owner.id });
  await change({ snoozedUntil: new Date(Date.now() + 86_400_000).toISOString() });
  await change({ snoozedUntil: "" });
  const { page } = await open(`/console/inbox/${ida.conversationId}`, owner, { locale: "de-DE" });
  await log(page).getByText("Maren zugewiesen").waitFor();
  await log(page)
    .getByText(/^Zurückgestellt bis \d{1,2}\.\d{1,2}\.\d{4}/)
    .waitFor();
  await log(page).getByText("nicht mehr zurückgestellt").waitFor();
});

test("The page on which a conversation began stays the first one", async () => {
  const jan = visitorOf(team, { name: "Jan Moor" });
  await jan.say("Hello", { sourcePage: "/mugs" });
  await jan.say("And this one?", { sourcePage: "/lids" });
  const { page } = await open(`/console/inbox/${jan.conversationId}`);
  await log(page).getByText("The conversation began on /mugs").waitFor();
});

for (const [width, height, locale] of [
  [1366, 768, "en-US"],
  [1280, 800, "de-DE"],
  [390, 844, "de-DE"],
])
  test(`Every view is in sight on ${width} pixels (${locale})`, async () => {
    const { page } = await open("/console/", owner, { viewport: { width, height }, locale });
    const views = page.locator(".views a");
    await views.first().waitFor();
    assert.equal(await views.count(), 7);
    for (const view of await views.all()) await isInView(view, ".views");
  });

test("Erasing says that the data is erased, also if the list knows it first", async () => {
  const eve = await visitor("Eve Moor", "Please forget me");
  const { page } = await open(`/console/inbox/${eve.conversationId}`);
  await log(page).getByText("Please forget me").waitFor();
  const panel = page.getByRole("complementary", { name: "Visitor" });
  if (!(await panel.isVisible())) await page.getByRole("button", { name: "Show the visitor" }).click();
  await page.route("**/api/admin/v1/**", async (route) => {
    if (route.request().method() !== "DELETE") return route.continue();
    const response = await route.fetch();
    await row(page, "Eve Moor").waitFor({ state: "detached" });
    return route.fulfill({ response });
  });
  await panel.getByRole("button", { name: "Erase" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("textbox").fill("erase");
  await dialog.getByRole("button", { name: "Erase" }).click();
  await page.getByText("The conversation is erased").waitFor();
  assert.equal(await page.getByText("This conversation was erased, or does not exist.").count(), 0);
});
