// The start of a day: signing in, the list, and finding a conversation.

import { button, list, log, row } from "../../../e2e/inbox.mjs";
import { PASSWORD } from "../../../e2e/team.mjs";
import { operatorScene } from "../scene.mjs";

operatorScene("An operator signs in", { signedOut: true }, async ({ page, open, team, step }) => {
  const signIn = button(page, "Sign in");
  const write = async (password) => {
    await page.getByLabel("E-mail", { exact: true }).fill(team.operators[0].email);
    await page.getByLabel("Password", { exact: true }).fill(password);
  };
  await step("The form", () => open(""), { shows: [page.getByRole("heading", { name: "Sign in" }), signIn] });
  await step(
    "The password is wrong",
    async () => {
      await write("seven red kettles");
      await signIn.click();
    },
    { shows: [page.getByRole("alert").filter({ hasText: /\S/ }), signIn] },
  );
  await step(
    "The list is there",
    async () => {
      await write(PASSWORD);
      await signIn.click();
    },
    { shows: [page.getByRole("searchbox"), row(page, "Mia Rossi")] },
  );
});

operatorScene("The first visitor waits in an empty inbox", { isNew: true }, async ({ page, open, visitor, step }) => {
  const first = page.getByRole("heading", { name: "First steps" });
  await step("The first steps are there", () => open(""), { shows: [first] });
  await step("A visitor wants a person", () => visitor({ name: "Anna Lindqvist" }, "Can I talk to a real person?"), {
    shows: [row(page, "Anna Lindqvist"), row(page, "Anna Lindqvist").getByText("Wants a person")],
  });
});

operatorScene("A list of many conversations", async ({ page, open, step }) => {
  await step("The waiting one is at the top", () => open(""), { shows: [row(page, "Mia Rossi")] });
  await step(
    "The end of the list",
    async () => {
      await row(page, "Mia Rossi").hover();
      await page.locator("#conversations").evaluate((box) => box.scrollTo(0, box.scrollHeight));
    },
    { shows: [row(page, "Anna Lindqvist")] },
  );
});

operatorScene("A search", async ({ page, open, step }) => {
  await open("");
  const field = page.getByRole("searchbox");
  await step(
    "Words of a visitor",
    async () => {
      await field.fill("dishwasher");
      await field.press("Enter");
      await row(page, "Dana Petrov").waitFor({ state: "detached" });
    },
    { shows: [field, row(page, "Fay Sørensen")] },
  );
  await step(
    "Nothing is found",
    async () => {
      await field.fill("giraffe");
      await field.press("Enter");
    },
    { shows: [page.getByText("No conversation matches.")] },
  );
});

operatorScene("The AI's answer with its sources", async ({ page, open, visitor, step }) => {
  const anna = await visitor({ name: "Vera Holm", email: "vera@example.com" }, "How long does delivery take?");
  await step("The conversation", () => open(`inbox/${anna.conversationId}`), {
    shows: [log(page).getByText("2 to 4 working days"), page.locator("summary").filter({ hasText: "source" })],
  });
  await step("The sources", () => page.locator("summary").filter({ hasText: "source" }).click(), {
    shows: [log(page).locator(".sources li")],
  });
  await step(
    "Back to the list",
    async () => {
      const back = page.getByRole("link", { name: "Back to the list" });
      if (await back.isVisible()) await back.click();
    },
    { shows: [list(page)] },
  );
});
