// The settings in the operators' console: what is changed is stored and takes effect, and nothing is left by mistake.

import assert from "node:assert/strict";
import { ask, eventually, openChat, part } from "./chat.mjs";
import { isInView } from "./console.mjs";
import { browser, open, team, test, withTeam } from "./console-harness.mjs";
import { servePage } from "./service.mjs";
import { answer, dialog, notice, openSettings, QUESTION, row, sections, title } from "./settings.mjs";
import { PASSWORD, startTeam } from "./team.mjs";

withTeam();

/** The form with a field or a fieldset of this name. */
const formOf = (page, label) => page.locator("form").filter({ has: page.getByLabel(label, { exact: true }) });

async function saved(form) {
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByRole("status").getByText("Saved", { exact: true }).waitFor();
}

/** Returns what the visitors' pages read of a site. */
async function configOf(site) {
  const response = await fetch(`${team.address}/connector/${site}/chat/config`);
  return (await response.json()).data.config;
}

test("A new site gets a name, an assistant and a welcome, which its visitors see", async () => {
  const { page } = await openSettings("sites");
  await page.getByRole("button", { name: "Add a site" }).click();
  const form = dialog(page, "Add a site");
  await form.getByRole("button", { name: "Add a site" }).click();
  const name = form.getByRole("textbox", { name: "Name" });
  await eventually(async () => assert.equal(await name.getAttribute("aria-invalid"), "true"));
  await name.fill("The bowl shop");
  const address = form.getByRole("textbox", { name: "Website’s address" });
  await address.fill("*.bowls.example");
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await address.getAttribute("aria-invalid"), "true"));
  await address.fill("Bowls.example/en");
  await page.keyboard.press("Enter");
  // The code of the new site is the next step.
  await title(page, "Widget").waitFor();
  await isInView(page.locator("pre"), "main");
  await page.getByText("Waiting for your page…").waitFor();
  const site = new URL(page.url()).pathname.split("/").at(-1);
  const added = (await team.admin("site", "show", site)).site;
  assert.deepEqual([added.name, added.allowedOrigins], ["The bowl shop", ["https://bowls.example"]]);

  await sections(page).getByRole("link", { name: "General" }).click();
  await title(page, "The bowl shop").waitFor();
  const general = formOf(page, "Allowed origins");
  await general.getByRole("textbox", { name: "Name" }).fill("Bowls & more");
  await general.getByRole("textbox", { name: "Languages" }).fill("en\nde");
  await general.getByRole("textbox", { name: "Allowed origins" }).fill("https://shop.example/path");
  await general.getByRole("status").getByText("Unsaved changes").waitFor();
  await general.getByRole("button", { name: "Save" }).click();
  await eventually(async () =>
    assert.equal(await general.getByRole("textbox", { name: "Allowed origins" }).getAttribute("aria-invalid"), "true"),
  );
  assert.notEqual(await general.getByRole("alert").filter({ hasText: /\S/ }).innerText(), "");
  await general.getByRole("textbox", { name: "Allowed origins" }).fill("https://Shop.example");
  await saved(general);
  assert.equal(await general.getByRole("textbox", { name: "Allowed origins" }).inputValue(), "https://shop.example");

  const welcome = formOf(page, "Assistant’s name");
  await welcome.getByRole("textbox", { name: "Assistant’s name" }).fill("Clover");
  await welcome.getByRole("textbox", { name: "All other languages" }).fill("Welcome to the shop.");
  await saved(welcome);
  const config = await configOf(site);
  assert.deepEqual([config.assistantName, config.welcomeMessage], ["Clover", "Welcome to the shop."]);
  const { site: stored } = await team.admin("site", "show", site);
  assert.deepEqual([stored.name, stored.allowedOrigins], ["Bowls & more", ["https://shop.example"]]);

  // The languages of the site have welcome messages of their own.
  await page.reload();
  await title(page, "Bowls & more").waitFor();
  assert.equal(await page.getByRole("textbox", { name: "Assistant’s name" }).inputValue(), "Clover");
  await welcome.getByRole("textbox", { name: "de", exact: true }).fill("Willkommen im Laden.");
  await saved(welcome);
  const german = await fetch(`${team.address}/connector/${site}/chat/config?locale=de`);
  assert.equal((await german.json()).data.config.welcomeMessage, "Willkommen im Laden.");

  // A site without its chat says so in the list.
  await general.getByRole("switch", { name: "Chat" }).uncheck();
  await saved(general);
  await sections(page).getByRole("link", { name: "Sites" }).click();
  await row(page, "Bowls & more").last().getByText("Chat off").waitFor();
});

test("Unsaved changes are asked about when they would be lost, and stay when the operator stays", async () => {
  const { page } = await openSettings("team");
  await title(page, "Team").waitFor();
  await sections(page).getByRole("link", { name: "General" }).click();
  await title(page, team.site.name).waitFor();
  const address = page.url();
  const name = page.getByRole("textbox", { name: "Assistant’s name" });
  await name.fill("Clo");
  const stays = async () => {
    assert.equal(await name.inputValue(), "Clo");
    assert.equal(page.url(), address);
  };

  let question = answer(page, false);
  await sections(page).getByRole("link", { name: "Labels" }).click();
  assert.equal(await question, QUESTION);
  await stays();
  question = answer(page, false);
  await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Inbox" }).click();
  assert.equal(await question, QUESTION);
  await stays();
  question = answer(page, false);
  await page.evaluate(() => history.back());
  assert.equal(await question, QUESTION);
  await eventually(stays);
  await page.getByText("Unsaved changes").waitFor();

  // The question is asked again, and an agreement is one.
  question = answer(page, true);
  await page.evaluate(() => history.back());
  assert.equal(await question, QUESTION);
  await title(page, "Team").waitFor();
  await sections(page).getByRole("link", { name: "General" }).click();
  await title(page, team.site.name).waitFor();
  assert.equal(await name.inputValue(), "", "what was given up is gone");

  // Nobody is asked without changes, or when they were taken back.
  await name.fill("Clo");
  await page.getByRole("button", { name: "Discard changes" }).click();
  assert.equal(await name.inputValue(), "");
  await sections(page).getByRole("link", { name: "Labels" }).click();
  await title(page, "Labels").waitFor();
});

test("Unsaved changes of settings outlive the end of the session", async () => {
  const { link } = await team.operators[0].call("POST", "invitations", { email: "ada@shop.example", role: "admin" });
  const { page } = await open(link, null);
  await page.getByRole("textbox", { name: "Your name" }).fill("Ada");
  await page.getByRole("textbox", { name: "New password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("link", { name: "Settings" }).click();
  await title(page, team.site.name).waitFor();
  const name = page.getByRole("textbox", { name: "Assistant’s name" });
  await name.fill("Clover the");
  await page.evaluate(() =>
    fetch("/api/admin/v1/session", { method: "DELETE", headers: { "Content-Type": "application/json" }, body: "{}" }),
  );
  await page.getByText("Your session has ended.").waitFor();
  await page.getByRole("textbox", { name: "E-mail" }).fill("ada@shop.example");
  await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
  await page.getByRole("button", { name: "Sign in" }).click();
  await eventually(async () => assert.equal(await name.inputValue(), "Clover the"));
  await page.getByText("Unsaved changes").waitFor();
  await page.getByRole("button", { name: "Discard changes" }).click();
});

test("A site gets business hours by the keyboard, on a phone and from right to left, and keeps them", async () => {
  const { site } = team;
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
  const { page } = await openSettings(`assistant/${site.id}`, team.operators[0], phone);
  const form = formOf(page, "Set business hours");
  await form.getByRole("switch", { name: "Set business hours" }).check();
  await form.getByRole("combobox", { name: "Time zone" }).selectOption("Asia/Tokyo");
  const monday = form.getByRole("group", { name: "Monday" });
  await monday.getByLabel("Monday, to").fill("12:30");
  await monday.getByRole("button", { name: "Add hours: Monday" }).focus();
  await page.keyboard.press("Enter");
  await eventually(async () => assert.equal(await monday.getByLabel("Monday, from").count(), 2));
  const friday = form.getByRole("group", { name: "Friday" });
  await friday.getByRole("button", { name: "Remove hours: Friday" }).focus();
  await page.keyboard.press("Enter");
  await friday.getByText("Closed").waitFor();
  // The focus is not lost with the row that had it.
  await eventually(async () =>
    assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("aria-label")), "Add hours: Friday"),
  );
  await form.getByRole("button", { name: "Add a date" }).tap();
  await form.getByLabel("Date", { exact: true }).fill("2026-12-25");
  await monday.getByLabel("Monday, from").nth(1).fill("");
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByRole("alert").getByText("Fill in both times of each row.").waitFor();
  await monday.getByLabel("Monday, from").nth(1).fill("13:30");
  await saved(form);
  const { businessHours } = (await team.admin("site", "show", site.id)).site;
  assert.deepEqual([businessHours.timeZone, businessHours.holidays], ["Asia/Tokyo", ["2026-12-25"]]);
  const intervals = businessHours.intervals.map(({ day, fromMinute, toMinute }) => `${day}: ${fromMinute}-${toMinute}`);
  assert.deepEqual(intervals, ["1: 540-750", "1: 810-930", "2: 540-1020", "3: 540-1020", "4: 540-1020"]);

  for (const direction of ["rtl", "ltr"]) {
    await page.evaluate((dir) => document.documentElement.setAttribute("dir", dir), direction);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), phone.viewport.width, direction);
  }
  await page.reload();
  await eventually(async () => assert.equal(await monday.getByLabel("Monday, from").nth(1).inputValue(), "13:30"));
  await form.getByRole("switch", { name: "Set business hours" }).uncheck();
  await saved(form);
  assert.equal((await team.admin("site", "show", site.id)).site.businessHours, null);
});

test("The widget's page shows the command's code, options change it, and the preview shows the window", async () => {
  const { scriptTag } = await team.admin("site", "show", team.site.id);
  const { page } = await openSettings("widget");
  await title(page, "Widget").waitFor();
  const code = page.locator("pre");
  const isDirect = () =>
    eventually(async () =>
      assert.equal((await code.innerText()).replaceAll(/\s+/g, " "), scriptTag.replaceAll(/\s+/g, " ")),
    );
  // The pages of this site may call the service.
  await isDirect();
  await page.getByText("More options").click();
  const direct = page.getByRole("switch", { name: /Connect to this service directly/ });
  await direct.uncheck();
  await eventually(async () => assert.match(await code.innerText(), /data-proxy="\/connector"/));
  await direct.check();
  await isDirect();
  await page.getByRole("textbox", { name: "Greeting" }).fill('A "pot" & more?');
  await page.getByLabel("Suggested questions").fill("Do you ship?\n\nReturns?");
  await page.getByLabel("Theme").selectOption("custom");
  await page.getByLabel("Colour", { exact: true }).fill("#6b2fb3");
  const form = page.locator("form").filter({ has: page.getByLabel("Suggested questions") });
  await saved(form);
  const stored = async () => (await team.admin("site", "show", team.site.id)).site.widgetOptions;
  const options = {
    theme: "custom",
    themeTokens: { accent: "#6b2fb3" },
    greeting: 'A "pot" & more?',
    suggestedQuestions: ["Do you ship?", "Returns?"],
  };
  assert.deepEqual(await stored(), options);
  // The code of a page has none of them: its config does.
  await isDirect();
  await page.getByLabel("Load").selectOption("intent");
  await eventually(async () => assert.match(await code.innerText(), /data-load="intent"/));
  assert.doesNotMatch(await code.innerText(), /greeting|theme/);
  await page.getByLabel("Suggested questions").fill("x".repeat(501));
  await form.getByRole("button", { name: "Save" }).click();
  await form.getByRole("alert").getByText("Must be at most 20 texts of 1 to 500 characters").waitFor();
  await form.getByRole("button", { name: "Discard" }).click();
  assert.equal(await page.getByLabel("Suggested questions").inputValue(), "Do you ship?\nReturns?");
  assert.deepEqual(await stored(), options);
  await page.getByRole("button", { name: "npm" }).click();
  await eventually(async () =>
    assert.match(await code.innerText(), /ChatWidget\.mount\(\{[^]*greeting: "A \\"pot\\" & more\?"/),
  );
  const preview = page.frameLocator("iframe");
  await part(preview, "window").waitFor();

  // This browser remembers the options of the code, and the service those of the site.
  await page.reload();
  await page.getByText("More options").click();
  assert.equal(await page.getByLabel("Load").inputValue(), "intent");
  await eventually(async () =>
    assert.equal(await page.getByRole("textbox", { name: "Greeting" }).inputValue(), 'A "pot" & more?'),
  );
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy" }).click();
  await page.getByText("Copied", { exact: true }).waitFor();
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), await code.innerText());
});

test("An agent sees and changes only what agents may", async () => {
  const [, noor] = team.operators;
  await team.operators[0].call("POST", `sites/${team.site.id}/answers`, {
    question: "Do you ship to Norway?",
    answer: "Yes.",
    locale: "",
  });
  const { page } = await openSettings("", noor);
  await title(page, "Knowledge").waitFor();
  assert.deepEqual(await sections(page).getByRole("link").allInnerTexts(), [
    "Knowledge",
    "Team",
    "Canned replies",
    "E-mail notifications",
  ]);
  await row(page, "Do you ship to Norway?").waitFor();
  for (const name of ["Add an answer", "Edit Do you ship to Norway?", "Delete Do you ship to Norway?"])
    assert.equal(await page.getByRole("button", { name }).count(), 0, name);
  assert.equal(await page.getByRole("link", { name: "Ask it" }).count(), 0);

  await sections(page).getByRole("link", { name: "Team" }).click();
  await row(page, "maren@shop.example").getByText("Owner").waitFor();
  assert.equal(await page.getByRole("button", { name: "Invite somebody" }).count(), 0);
  assert.equal(await page.getByRole("link", { name: "Maren" }).count(), 0);

  // An address that is not theirs shows nothing of it.
  for (const section of ["access", "audit", "webhooks", `site/${team.site.id}`]) {
    await page.goto(`${team.address}/console/settings/${section}`);
    await title(page, "Knowledge").waitFor();
  }
  await page.goto(`${team.address}/console/publishing`);
  await page.getByRole("navigation", { name: "Sections" }).waitFor();
  assert.equal(await page.getByRole("link", { name: "Publishing" }).count(), 0);
});

test("A site is deleted only by those who type its name", async () => {
  const { site } = await team.admin("site", "create", "--name", "A trial");
  const { page } = await openSettings(`site/${site.id}`);
  await title(page, "A trial").waitFor();
  await page.getByRole("button", { name: "Delete the site" }).click();
  const asked = dialog(page, "Delete the site");
  await asked.getByRole("button", { name: "Delete the site" }).click();
  await asked.getByText("Type exactly: A trial").waitFor();
  await asked.getByRole("textbox", { name: "Type “A trial” to confirm" }).fill("A trial");
  await asked.getByRole("button", { name: "Delete the site" }).click();
  await title(page, "Sites").waitFor();
  await notice(page, "The site was deleted.").waitFor();
  assert.equal(await row(page, "A trial").count(), 0);
  const { sites } = await team.admin("site", "list");
  assert.ok(sites.every((one) => one.id !== site.id));
});

test("On a phone, the sections are a page of their own, and a dialog is on the screen", async () => {
  const viewport = { width: 360, height: 640 };
  const { page } = await openSettings("", team.operators[0], { viewport, isMobile: true, hasTouch: true });
  const width = () => page.evaluate(() => document.documentElement.scrollWidth);
  await sections(page).getByRole("link", { name: "Tokens and licenses" }).tap();
  await title(page, "Tokens and licenses").waitFor();
  assert.equal(await sections(page).isVisible(), false);
  await page.getByRole("button", { name: "Create a token" }).tap();
  const form = dialog(page, "Create a token");
  await form.getByRole("textbox", { name: "Name" }).fill("phone");
  await isInView(form.getByRole("button", { name: "Create a token" }), "dialog");
  await form.getByRole("button", { name: "Create a token" }).tap();
  const secret = form.getByRole("textbox", { name: "Token" });
  await secret.waitFor();
  await isInView(secret, "dialog");
  await isInView(form.getByRole("button", { name: "Copy" }), "dialog");
  assert.equal(await width(), viewport.width);
  await page.keyboard.press("Escape");
  await form.waitFor({ state: "hidden" });
  await page.getByRole("main").getByRole("link", { name: "Settings" }).first().tap();
  await sections(page).waitFor();
  await isInView(sections(page).getByRole("heading", { name: "Settings" }), "main");
  // The last of the tabs, which are wider than the screen.
  await page.goto(`${team.address}/console/settings/knowledge/${team.site.id}/tests`);
  await isInView(page.getByRole("link", { name: "Tests", exact: true }), "nav");
  await page.goBack();
  assert.equal(await title(page, "Tokens and licenses").isVisible(), false);
  assert.equal(await width(), viewport.width);
});

test("The first steps lead from a refused website to its page that is seen, and are hidden for good", async () => {
  const service = await startTeam(["Maren", "Noor"]);
  const shop = await servePage(() => service.scriptTag);
  const context = await browser.newContext();
  try {
    const [maren, noor] = service.operators;
    const agent = await open("/console/", noor, { service });
    await agent.page.getByText("Nothing here. New conversations appear by themselves.").waitFor();
    assert.equal(await agent.page.getByRole("heading", { name: "First steps" }).count(), 0);

    const { page } = await open("/console/", maren, { service });
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    const isDone = (step) => row(page, step).getByText("Done", { exact: true }).waitFor({ state: "attached" });
    await isDone("Add your website’s address");
    assert.equal(await page.getByText("Done", { exact: true }).count(), 2, "the address and the colleague");
    await page.getByRole("link", { name: "Put the code into your page" }).click();
    await title(page, "Widget").waitFor();
    await isInView(page.locator("pre"), "main");
    await page.getByText("Waiting for your page…").waitFor();

    const visitor = await context.newPage();
    await visitor.goto(shop.origin);
    await row(page, shop.origin)
      .getByText(/^\d+ times?, /)
      .waitFor();
    await sections(page).getByRole("link", { name: "General" }).click();
    await row(page, shop.origin)
      .getByRole("button", { name: `Allow ${shop.origin}` })
      .click();
    await notice(page, `${shop.origin} may use the chat now.`).waitFor();
    await row(page, shop.origin).waitFor({ state: "detached" });
    const origins = page.getByRole("textbox", { name: "Allowed origins" });
    assert.equal(await origins.inputValue(), `https://shop.example\n${shop.origin}`);
    assert.equal(await page.getByText("Unsaved changes").count(), 0);

    await sections(page).getByRole("link", { name: "Widget" }).click();
    await page.getByText("Waiting for your page…").waitFor();
    await visitor.reload();
    await openChat(visitor);
    await page.getByText(/^Your page was seen /).waitFor();
    await page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name: "Inbox" }).click();
    await isDone("Put the code into your page");
    await page.getByRole("button", { name: "Hide these steps" }).click();
    await page.getByText("Nothing here. New conversations appear by themselves.").waitFor();
    await page.reload();
    await page.getByText("Nothing here. New conversations appear by themselves.").waitFor();
    assert.equal(await page.getByRole("heading", { name: "First steps" }).count(), 0);
    await ask(visitor, "How long does delivery take?");
  } finally {
    await context.close();
    await Promise.all([service.stop(), shop.stop()]);
  }
});
