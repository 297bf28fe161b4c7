// The other pages: settings, publishing, reports, and the palette.

import { operatorScene } from "../scene.mjs";

operatorScene("Settings", async ({ page, open, step }) => {
  const title = (name) => page.getByRole("heading", { level: 1, name, exact: true });
  await step("The sections", () => open("settings"), { shows: [page.getByRole("navigation", { name: "Settings" })] });
  await step("The assistant", () => open("settings/assistant"), { shows: [title("Assistant")] });
  await step("Canned replies", () => open("settings/replies"), {
    shows: [title("Canned replies"), page.getByRole("listitem").filter({ hasText: "thanks" })],
  });
  await step("A form", () => page.getByRole("button", { name: "Add a reply" }).click(), {
    shows: [page.getByRole("dialog").getByRole("textbox", { name: "Shortcut" })],
  });
});

operatorScene("Publishing", async ({ page, open, team, step }) => {
  const article = {
    title: "The new kiln is here",
    path: `/news/kiln-${crypto.randomUUID().slice(0, 4)}`,
    content: "<p>It is larger, and <strong>warmer</strong>. We fire twice a week from now on.</p>",
  };
  await team.operators[0].call("POST", `sites/${team.site.id}/reviews`, article);
  const entry = page.getByRole("link").filter({ hasText: article.path });
  await step("The list", () => open("publishing"), { shows: [page.getByText(article.path)] });
  await step("The comparison", () => entry.click(), { shows: [page.getByRole("heading", { name: article.title })] });
  await step("The differences", () => page.locator("#review-differences").scrollIntoViewIfNeeded(), {
    shows: [page.locator("#review-differences")],
  });
});

operatorScene("Reports", async ({ page, open, step }) => {
  const chart = page.getByRole("img", { name: /Bar chart/ }).first();
  await step("The figures", () => open("reports"), {
    shows: [page.getByRole("heading", { level: 1 }), page.getByText("Answered by the AI")],
  });
  await step("The charts", () => chart.scrollIntoViewIfNeeded(), { shows: [chart] });
  await step("The end of the page", () =>
    page.getByRole("heading", { name: "Where conversations begin" }).scrollIntoViewIfNeeded(),
  );
});

operatorScene("The palette", async ({ page, open, step }) => {
  await open("");
  await page.getByRole("searchbox").waitFor();
  const dialog = page.getByRole("dialog", { name: "Commands" });
  await step("All commands", () => page.keyboard.press("Control+k"), { shows: [dialog, dialog.getByRole("combobox")] });
  await step("A conversation is found", () => dialog.getByRole("combobox").fill("Marchand"), {
    shows: [dialog.getByText("Cleo Marchand").first()],
  });
});
