// Writing: replies, their preview, canned ones, notes, taking back, and a colleague who writes as well.

import { articles, button, field, log, reply } from "../../../e2e/inbox.mjs";
import { operatorScene } from "../scene.mjs";

/** The visible area of a phone above its keyboard. */
const KEYBOARD = { width: 390, height: 420 };

/** Stops the time of the page, so that a reply can be taken back for as long as a busy machine takes to look at it. */
const holdUndo = (page) => page.clock.setFixedTime(Date.now());

/** Opens a new conversation of a visitor with this name. */
async function talk({ open, visitor }, name, ...texts) {
  const other = await visitor({ name }, ...(texts.length > 0 ? texts : ["Hello, is anybody there?"]));
  await open(`inbox/${other.conversationId}`);
  return other;
}

operatorScene("Taking a conversation over", async (actors) => {
  const { page, step } = actors;
  await step("The visitor waits", () => talk(actors, "Nils Berg", "Can I talk to a real person?"), {
    shows: [button(page, "Take over"), page.getByText("Waits for a person")],
  });
  await step("It is taken", () => button(page, "Take over").click(), {
    shows: [page.getByText("The conversation is yours."), field(page), page.locator("[data-action=hand-back]")],
  });
});

operatorScene("A reply with its preview", async (actors) => {
  const { page, screen, step } = actors;
  const text =
    "Of course:\n\n1. Pack the **plate** well\n2. Send it to *us*\n\nSee [our terms](https://shop.example/terms).";
  await step("The conversation", () => talk(actors, "Olga Ivanova", "Can I send the plate back?"), {
    shows: [field(page), log(page).getByText("Can I send the plate back?")],
  });
  await step(
    "Writing above the keyboard",
    async () => {
      if (screen.isTouch) await page.setViewportSize(KEYBOARD);
      await field(page).fill(text);
    },
    { shows: [field(page), button(page, "Send"), articles(page).last()] },
  );
  await step("The preview", () => button(page, "Preview").click(), {
    shows: [page.getByRole("region", { name: "Preview" }), button(page, "Send")],
  });
});

operatorScene("A canned reply", async (actors) => {
  const { page, screen, step } = actors;
  await talk(actors, "Pia Kurt", "My bowl has a crack.");
  const options = page.getByRole("option");
  await step(
    "The menu",
    async () => {
      if (screen.isTouch) await page.setViewportSize(KEYBOARD);
      await field(page).pressSequentially("/");
    },
    { shows: [options.first(), options.last(), field(page)] },
  );
  await step(
    "The reply is inserted",
    async () => {
      await page.keyboard.type("than");
      await options.filter({ hasText: "thanks" }).waitFor();
      await page.keyboard.press("Enter");
    },
    { shows: [field(page), button(page, "Send")] },
  );
});

operatorScene("A note and a reply", async (actors) => {
  const { page, step } = actors;
  await talk(actors, "Quirin Maier", "Is the large bowl in stock?");
  await step(
    "Writing a note",
    async () => {
      await page.getByRole("radio", { name: "Note" }).check({ force: true });
      await field(page).fill("He asked twice already.");
    },
    { shows: [page.getByText("Only colleagues see notes"), button(page, "Add note")] },
  );
  await step("The note", () => button(page, "Add note").click(), {
    shows: [log(page).getByText("He asked twice already.")],
  });
  await step(
    "The reply below it",
    async () => {
      await reply(page, "Yes, two of them.");
      await button(page, "Undo").click();
      await button(page, "Send").click();
    },
    { shows: [log(page).getByText("Yes, two of them."), button(page, "Undo")] },
  );
});

operatorScene("Taking a reply back", async (actors) => {
  const { page, step } = actors;
  await talk(actors, "Rosa Ortega", "Do you ship to France?");
  await holdUndo(page);
  await step("It is about to be sent", () => reply(page, "No, we do nto."), {
    shows: [button(page, "Undo"), articles(page).last()],
  });
  await step("It is taken back", () => button(page, "Undo").click(), { shows: [field(page), button(page, "Send")] });
});

operatorScene("A colleague is typing", async (actors) => {
  const { page, team, step } = actors;
  const other = await talk(actors, "Sven Olsen", "Do you make teapots?");
  await articles(page).first().waitFor();
  await step(
    "The warning",
    async () => {
      await field(page).fill("Yes, we");
      await team.operators[1].call("POST", `conversations/${other.conversationId}/typing`, {
        note: false,
        stopped: false,
      });
    },
    { shows: [page.getByText("Noor is typing a reply"), field(page)] },
  );
});
