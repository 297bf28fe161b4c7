// Scenes of handling a conversation: assigning, labels, snoozing, the visitor, closing.

import { button, log, row } from "../../../e2e/inbox.mjs";
import { operatorScene } from "../scene.mjs";
import { key } from "../stage.mjs";

operatorScene("Assigning, labels and a snooze", async ({ page, open, screen, visitor, step }) => {
  const tara = await visitor({ name: "Tara Singh" }, "I would like to order forty bowls.");
  await open(`inbox/${tara.conversationId}`);
  await log(page).getByText("forty bowls").waitFor();
  const menu = page.getByRole("menu");
  await step("Assigning", () => button(page, "Assign").click(), { shows: [menu, menu.getByText("Noor")] });
  await step(
    "Labels",
    async () => {
      await menu.getByText("Noor").click();
      await page.getByText("With Noor").first().waitFor();
      await button(page, "Labels").first().click();
    },
    { shows: [menu, menu.getByText("Wholesale")] },
  );
  await step(
    "Snoozing",
    async () => {
      await menu.getByText("Wholesale").click();
      await page.keyboard.press("Escape");
      await button(page, "Snooze").click();
    },
    { shows: [menu, menu.getByText("Tomorrow morning")] },
  );
  await step(
    "It is snoozed",
    async () => {
      const stored = page.waitForResponse((response) => response.request().method() === "PATCH");
      await menu.getByText("Tomorrow morning").click();
      await stored;
      await page.waitForURL((url) => !url.pathname.includes(tara.conversationId));
      await open(`inbox/${tara.conversationId}?view=snoozed`);
    },
    {
      shows: [page.getByText("Snoozed until").first(), row(page, "Tara Singh").first()].slice(
        0,
        screen.isTouch ? 1 : 2,
      ),
    },
  );
});

operatorScene("The visitor, and what they looked at", async ({ page, open, visitor, team, step }) => {
  const profile = {
    name: "Uma Reinholt",
    email: "uma.reinholt@hotel-am-hafen.example",
    phone: "+49 40 123456",
    company: "Hotel am Hafen",
    country: "DE",
  };
  const uma = await visitor(profile, "What do twenty plates cost?");
  const events = ["/", "/plates", "/plates/large", "/help"].map((path) => ({
    eventType: "page_view",
    visitorId: uma.visitorId,
    conversationId: uma.conversationId,
    path,
    title: `Kiln & Clover: ${path}`,
  }));
  await fetch(`${team.address}/connector/${team.site.id}/events`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ events }),
  });
  const conversation = `conversations/${uma.conversationId}`;
  await team.operators[1].call(
    "POST",
    `${conversation}/notes`,
    { text: "A hotel, ask for the wholesale list." },
    key(),
  );
  await open(`inbox/${uma.conversationId}`);
  await log(page).getByText("twenty plates").waitFor();
  const panel = page.getByRole("complementary", { name: "Visitor" });
  await step(
    "The panel",
    async () => {
      if (!(await panel.isVisible())) await page.getByRole("button", { name: "Show the visitor" }).click();
    },
    { shows: [panel, panel.getByText("Hotel am Hafen").first()] },
  );
  await step("The pages", () => panel.getByText("Pages", { exact: true }).scrollIntoViewIfNeeded(), {
    shows: [panel.getByText("Pages", { exact: true })],
  });
  await step("The end of the panel", () =>
    panel
      .getByRole("button", { name: /Erase|Export/ })
      .last()
      .scrollIntoViewIfNeeded(),
  );
});

operatorScene("A closed conversation", async ({ page, open, visitor, step }) => {
  const walt = await visitor({ name: "Walt Ewing" }, "Thank you, it has arrived.");
  await open(`inbox/${walt.conversationId}`);
  await log(page).getByText("it has arrived").waitFor();
  await step("Closing", () => button(page, "Close").click(), {
    shows: [page.getByText("The conversation is closed.")],
  });
  await step("The list of closed ones", () => open(`inbox/${walt.conversationId}?view=closed`), {
    shows: [button(page, "Reopen"), log(page).getByText("it has arrived")],
  });
  await step("The list itself", () => open("inbox?view=closed"), { shows: [row(page, "Walt Ewing")] });
});
