// The lists of the settings in the operators' console: what is added, shown once, changed, revoked and deleted.

import assert from "node:assert/strict";
import { eventually } from "./chat.mjs";
import { open, team, test, withTeam } from "./console-harness.mjs";
import { answer, dialog, notice, openSettings, QUESTION, row, sections } from "./settings.mjs";
import { PASSWORD } from "./team.mjs";

withTeam();

test("An answer that was added is found by asking, and is gone when it is deleted", async () => {
  const { page } = await openSettings("knowledge");
  await page.getByText("No answers yet.").waitFor();
  await page.getByRole("button", { name: "Add an answer" }).click();
  const form = dialog(page, "Add an answer");
  await form.getByRole("textbox", { name: "Question" }).fill("Do you repair broken zebra teapots?");
  await form.getByRole("textbox", { name: "Answer" }).fill("Yes, our kiln master mends **zebra teapots** in a week.");

  // Closing asks before what was typed is lost.
  const question = answer(page, false);
  await form.getByRole("button", { name: "Close" }).click();
  assert.equal(await question, QUESTION);
  await form.getByRole("button", { name: "Save" }).click();
  await row(page, "zebra teapots?").waitFor();
  await form.waitFor({ state: "hidden" });

  await page.getByRole("link", { name: "Ask it" }).click();
  await page.getByRole("textbox", { name: "Question" }).fill("Can you repair my zebra teapot?");
  await page.getByRole("button", { name: "Ask" }).click();
  const found = page.getByRole("status").filter({ hasText: "Based on" });
  await found.getByText("our kiln master mends").first().waitFor();
  await found.locator("summary").filter({ hasText: "zebra teapots" }).waitFor();

  await page.getByRole("link", { name: "Questions and answers" }).click();
  await page.getByRole("searchbox", { name: "Search questions and answers" }).fill("giraffe");
  await row(page, "zebra teapots?").waitFor({ state: "detached" });
  await page.getByRole("searchbox", { name: "Search questions and answers" }).fill("zebra");
  await row(page, "zebra teapots?").waitFor();
  await page.getByRole("button", { name: "Delete Do you repair broken zebra teapots?" }).click();
  await dialog(page, "Delete the answer").getByRole("button", { name: "Delete" }).click();
  await notice(page, "The answer was deleted.").waitFor();
  await row(page, "zebra teapots?").waitFor({ state: "detached" });
});

test("A question that was asked becomes a test, which shows what the loss of an answer made worse", async () => {
  const { page } = await openSettings("knowledge", team.operators[0], { viewport: { width: 390, height: 844 } });
  const QUESTIONED = "Do you engrave giraffe mugs?";
  await page.getByRole("button", { name: "Add an answer" }).click();
  const form = dialog(page, "Add an answer");
  await form.getByRole("textbox", { name: "Question" }).fill(QUESTIONED);
  await form.getByRole("textbox", { name: "Answer" }).fill("Yes, we engrave giraffe mugs by hand.");
  await form.getByRole("button", { name: "Save" }).click();
  await row(page, QUESTIONED).waitFor();

  await page.getByRole("link", { name: "Ask it" }).click();
  await page.getByRole("textbox", { name: "Question" }).fill(QUESTIONED);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const found = page.getByRole("status").filter({ hasText: "Based on" });
  await found
    .getByText(/Certainty: \d+%/)
    .first()
    .waitFor();
  await found.getByText("Minimum certainty: 50%").waitFor();
  await page.getByRole("combobox", { name: "Minimum certainty of an answer" }).selectOption("20%");
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await found.getByText("Minimum certainty: 20%").waitFor();
  await found.getByRole("button", { name: "Use 20% for all visitors" }).click();
  await found.getByRole("button", { name: "Use 20% for all visitors" }).waitFor({ state: "detached" });
  await found.getByRole("button", { name: "Add to the tests" }).click();
  const added = dialog(page, "Add a test question");
  assert.equal(await added.getByRole("textbox", { name: "Question" }).inputValue(), QUESTIONED);
  assert.match(await added.getByRole("textbox", { name: "Page" }).inputValue(), /^answer:/);
  await added.getByRole("combobox", { name: "Expected" }).selectOption("Words in the answer");
  await added.getByRole("textbox", { name: "Words" }).fill("€");
  await added.getByRole("button", { name: "Save" }).click();
  await added.getByRole("alert").filter({ hasText: "words or numbers" }).waitFor();
  await added.getByRole("textbox", { name: "Words" }).fill("BY HAND\ngiraffe");
  await added.getByRole("button", { name: "Save" }).click();
  await added.waitFor({ state: "hidden" });

  await page.getByRole("link", { name: "Tests" }).click();
  const tested = row(page, QUESTIONED).first();
  await tested.getByText("Not asked yet").waitFor();
  await page.getByRole("button", { name: "Ask them now" }).click();
  await tested.getByText("Passed", { exact: true }).waitFor();
  await tested.getByText("Answered").click();
  await tested.getByText("by hand.").waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390);

  await page.getByRole("link", { name: "Questions and answers" }).click();
  await page.getByRole("button", { name: `Delete ${QUESTIONED}` }).click();
  await dialog(page, "Delete the answer").getByRole("button", { name: "Delete" }).click();
  await row(page, QUESTIONED).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Tests" }).click();
  await page.getByRole("button", { name: "Ask them now" }).click();
  await tested.getByText("Failed", { exact: true }).waitFor();
  await tested.getByText("Worse", { exact: true }).waitFor();
  await page.getByText(/^Worse than .*: 1$/).waitFor();
  await page.getByRole("button", { name: `Delete ${QUESTIONED}` }).click();
  await dialog(page, "Delete the test question").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No test questions yet.").waitFor();
});

test("A website is added, read with a reason why it cannot be, changed and removed", async () => {
  const { page } = await openSettings("knowledge");
  await page.getByRole("link", { name: "Website" }).click();
  await page.getByText("No website is read yet.").waitFor();
  await page.getByRole("button", { name: "Read a website" }).click();
  const form = dialog(page, "Read a website");
  const address = form.getByRole("textbox", { name: "Address of the website or its sitemap" });
  await address.fill("http://127.0.0.1/");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByRole("alert").filter({ hasText: "public address" }).waitFor();
  await address.fill("https://pots.invalid/");
  await form.getByRole("textbox", { name: "Maximum pages" }).fill("25");
  await form.getByRole("combobox", { name: "Read again" }).selectOption("Every day");
  await form.getByRole("button", { name: "Save" }).click();
  await form.waitFor({ state: "hidden" });
  const website = row(page, "https://pots.invalid/");
  await website.getByText("Could not be read").waitFor();
  await website.getByText("No connection to the server").waitFor();
  const next = new Date(Date.now() + 24 * 60 * 60 * 1000).getDate();
  await website.getByText(new RegExp(`^Next time .*\\b${next}\\b`)).waitFor();

  await page.getByRole("button", { name: "Read https://pots.invalid/ again now" }).click();
  await notice(page, "The website will be read again.").waitFor();
  await page.getByRole("button", { name: "Edit https://pots.invalid/" }).click();
  const change = dialog(page, "Change how it is read");
  assert.equal(await change.getByRole("textbox", { name: "Maximum pages" }).inputValue(), "25");
  await change.getByRole("textbox", { name: "Maximum pages" }).fill("0");
  await change.getByRole("button", { name: "Save" }).click();
  await change.getByRole("alert").filter({ hasText: "1 to 500" }).waitFor();
  await change.getByRole("textbox", { name: "Maximum pages" }).fill("30");
  await change.getByRole("button", { name: "Save" }).click();
  await change.waitFor({ state: "hidden" });

  await page.getByRole("button", { name: "Delete https://pots.invalid/" }).click();
  await dialog(page, "Remove the website").getByRole("button", { name: "Delete" }).click();
  await notice(page, "The website was removed.").waitFor();
  await page.getByText("No website is read yet.").waitFor();
});

test("A token's secret is shown once and works until the token is revoked", async () => {
  const { page } = await openSettings("access");
  await page.getByText("No tokens yet.").waitFor();
  await page.getByRole("button", { name: "Create a token" }).click();
  const form = dialog(page, "Create a token");
  await form.getByRole("textbox", { name: "Name" }).fill("web server");
  await form.getByRole("button", { name: "Create a token" }).click();
  await form.getByText("This is shown once. Copy it now.").waitFor();
  const secret = (await form.getByRole("textbox", { name: "Token" }).innerText()).trim();
  const status = async () => {
    const headers = { Authorization: `Bearer ${secret}` };
    return (await fetch(`${team.address}/api/connector/v1/chat/config`, { headers })).status;
  };
  assert.equal(await status(), 200);
  await form.getByRole("button", { name: "Close" }).click();
  await row(page, "web server").getByText("Valid").waitFor();
  await eventually(async () => assert.ok(!(await page.content()).includes(secret), "the secret is gone"));
  await page.getByRole("button", { name: "Create a token" }).click();
  assert.equal(await form.getByText("This is shown once.").count(), 0);
  await form.getByRole("button", { name: "Close" }).click();

  await page.getByRole("button", { name: "Revoke web server" }).click();
  const asked = dialog(page, "Revoke the token");
  await asked.getByRole("button", { name: "Cancel" }).click();
  assert.equal(await status(), 200);
  await page.getByRole("button", { name: "Revoke web server" }).click();
  await asked.getByRole("button", { name: "Revoke" }).click();
  await notice(page, "The token was revoked.").waitFor();
  await row(page, "web server")
    .getByText(/^Revoked/)
    .waitFor();
  assert.equal(await page.getByRole("button", { name: "Revoke web server" }).count(), 0);
  assert.equal(await status(), 401);
});

test("Labels and canned replies are created, changed and deleted", async () => {
  const { page } = await openSettings("labels");
  await page.getByRole("button", { name: "Add a label" }).click();
  const label = dialog(page, "Add a label");
  await label.getByRole("textbox", { name: "Name" }).fill("Late <b>parcel</b>");
  await label.getByText("Violet").click();
  assert.equal(await label.getByRole("radio", { name: "Violet" }).isChecked(), true);
  await label.getByRole("button", { name: "Save" }).click();
  await row(page, "Late <b>parcel</b>").waitFor();
  const [owner] = team.operators;
  const [stored] = await owner.call("GET", "labels");
  assert.deepEqual([stored.name, stored.color], ["Late <b>parcel</b>", "violet"]);

  await page.getByRole("button", { name: "Delete Late <b>parcel</b>" }).click();
  await dialog(page, "Delete the label").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No labels yet.").waitFor();

  await sections(page).getByRole("link", { name: "Canned replies" }).click();
  await page.getByRole("button", { name: "Add a reply" }).click();
  const reply = dialog(page, "Add a reply");
  await reply.getByRole("textbox", { name: "Shortcut" }).fill("/thanks");
  await reply.getByRole("textbox", { name: "Text" }).fill("Thank you, ");
  await reply.getByRole("button", { name: "{{visitor.name}}" }).click();
  await reply.getByRole("button", { name: "Save" }).click();
  await row(page, "/thanks").getByText("Thank you, {{visitor.name}}").waitFor();

  await page.getByRole("button", { name: "Edit thanks" }).click();
  const edited = dialog(page, "Edit the reply");
  await edited.getByRole("textbox", { name: "Text" }).fill("Thanks a lot!");
  await edited.getByRole("button", { name: "Save" }).click();
  await row(page, "/thanks").getByText("Thanks a lot!").waitFor();
  await page.getByRole("button", { name: "Delete thanks" }).click();
  await dialog(page, "Delete the reply").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No canned replies yet.").waitFor();
});

test("An invitation shows its link once, and does not work any more when it is revoked", async () => {
  const { page } = await openSettings("team");
  await page.getByRole("button", { name: "Invite somebody" }).click();
  const form = dialog(page, "Invite somebody");
  await form.getByRole("textbox", { name: "E-mail address" }).fill("nobody");
  await form.getByRole("button", { name: "Invite somebody" }).click();
  await form.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
  await form.getByRole("textbox", { name: "E-mail address" }).fill("uma@shop.example");
  await form.getByRole("combobox", { name: "Role" }).selectOption({ label: "Admin" });
  await form.getByRole("button", { name: "Invite somebody" }).click();
  const shown = form.getByRole("textbox", { name: "Invitation link" });
  await shown.waitFor();
  const link = new URL((await shown.innerText()).trim(), team.address);
  assert.match(link.hash, /^#setup=.{20}/);
  await form.getByRole("button", { name: "Close" }).click();
  await row(page, "uma@shop.example").getByText("Admin").waitFor();

  const invited = await open(`${link.pathname}${link.hash}`, null);
  await invited.page.getByRole("heading", { name: "Create your account" }).waitFor();
  await page.getByRole("button", { name: "Revoke uma@shop.example" }).click();
  await dialog(page, "Revoke the invitation").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("No open invitations.").waitFor();
  await invited.page.getByRole("textbox", { name: "Your name" }).fill("Uma");
  await invited.page.getByRole("textbox", { name: "New password" }).fill(PASSWORD);
  await invited.page.getByRole("button", { name: "Continue" }).click();
  await invited.page.getByRole("alert").filter({ hasText: /link/i }).waitFor();
});

test("A webhook shows its secret once, and the audit log lists who created it", async () => {
  const { page } = await openSettings("webhooks");
  // The list, which names the events, arrives when the form is already open.
  let arrive;
  const opened = new Promise((resolve) => (arrive = resolve));
  await page.route("**/api/admin/v1/webhooks", async (route) => {
    await opened;
    await route.continue();
  });
  await page.reload();
  await page.getByRole("button", { name: "Add a webhook" }).click();
  const form = dialog(page, "Add a webhook");
  await form.getByRole("textbox", { name: "Address" }).fill("http://hooks.example/chat");
  arrive();
  await form.getByRole("button", { name: "Add a webhook" }).click();
  await form.getByRole("alert").filter({ hasText: /https/ }).waitFor();
  await form.getByRole("textbox", { name: "Address" }).fill("https://hooks.example/chat");
  await form.getByRole("checkbox", { name: "message.created" }).check();
  await form.getByRole("button", { name: "Add a webhook" }).click();
  const secret = (await form.getByRole("textbox", { name: "Signing secret" }).innerText()).trim();
  assert.ok(secret.length > 20, secret);
  await form.getByRole("button", { name: "Close" }).click();
  await row(page, "https://hooks.example/chat").getByText("message.created").waitFor();
  await eventually(async () => assert.ok(!(await page.content()).includes(secret), "the secret is gone"));

  await sections(page).getByRole("link", { name: "Audit log" }).click();
  await page.getByRole("combobox", { name: "Kind" }).selectOption({ label: "Webhooks" });
  const lines = page.getByRole("region", { name: "Audit log" }).getByRole("row");
  await eventually(async () => assert.equal(await lines.count(), 2));
  const line = await lines.last().innerText();
  for (const text of ["Maren", "webhook.create"]) assert.ok(line.includes(text), line);
  assert.ok(!(await page.content()).includes(secret));
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Export as CSV" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "audit.csv");
  await page.getByRole("searchbox", { name: "Person or id" }).fill("nobody of this name");
  await page.getByText("Nothing found. Change the filter or the search.").waitFor();
});
