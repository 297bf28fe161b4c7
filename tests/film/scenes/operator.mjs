// Point 6: when a person takes over, the header and the log say so at once.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";

/** The initials or the picture of whom the header shows, as a text to compare. */
const headerAvatar = (visitor) =>
  visitor.evaluate(() => window.film.find(".cw-header .cw-avatar")[0]?.outerHTML ?? null);

scene("A person takes over", { main: true, points: [6] }, async ({ visitor, operator, service, step }) => {
  let before;
  await step(
    "The assistant answers",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
      before = await headerAvatar(visitor);
    },
    { shows: "title: Clover" },
  );
  await step("A person writes", () => operator.says("Anna here. We pack today."), {
    newest: /Anna here/,
    shows: ["title: Support", "presence: A person", "joined: A person joined"],
    hides: "suggestions",
    check: async (visitor) => assert.notEqual(await headerAvatar(visitor), before, "the header shows another avatar"),
  });
  const thought = service.thinks();
  await step("The visitor replies", () => visitor.says("That is kind"), {
    newest: /That is kind/,
    shows: "title: Support",
  });
  thought.release();
});

scene(
  "A person with a name takes over",
  { points: [6], options: { "operator-name": "Maren" } },
  async ({ visitor, operator, step }) => {
    await step(
      "The assistant answers",
      async () => {
        await visitor.opens();
        await visitor.asks(QUESTION);
      },
      { shows: "title: Clover" },
    );
    await step("Maren writes, and is gone again", () => operator.says("We pack today."), {
      newest: /We pack today/,
      shows: ["title: Maren", "presence: Maren replied", "joined: Maren joined"],
    });
    await step("Maren comes to the desk", () => operator.comes(), { shows: "presence: Maren is online" });
  },
);

scene("Presence is asked for as soon as a person writes", { points: [6] }, async ({ visitor, operator, step }) => {
  await step(
    "The assistant answers",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
    },
    { shows: "presence: AI" },
  );
  await step(
    "A person comes and writes",
    async () => {
      await operator.comes();
      await operator.says("Anna here.");
      // No longer than one message takes: presence by itself is asked for far less often.
      visitor.hurries = false;
      for (let each = 0; each < 4 && (await visitor.count("message-operator")) === 0; each += 1) {
        await visitor.waits(1);
        await visitor.until(async () => assert.ok((await visitor.count("message-operator")) > 0), 400).catch(() => {});
      }
    },
    { newest: /Anna here/, shows: "presence: A person is online", relaxed: ["focus"] },
  );
});

scene(
  "The assistant is quiet once a person has taken over",
  { points: [5, 6] },
  async ({ visitor, operator, service, step }) => {
    await step(
      "A person has taken over",
      async () => {
        await visitor.opens();
        await visitor.asks(QUESTION);
        await operator.says("Anna here.");
      },
      { newest: /Anna here/ },
    );
    const thought = service.thinks();
    await step(
      "The visitor writes, and nobody is said to be writing",
      async () => {
        await visitor.says("I ordered two bowls");
        await visitor.waits(4);
      },
      { newest: /two bowls/, hides: ["typing", "wait"] },
    );
    await step("Half a minute later", () => visitor.waits(30), {
      newest: /two bowls/,
      hides: ["typing", "notice"],
      relaxed: ["focus"],
    });
    thought.release();
  },
);

scene("A person is at the desk from the beginning", { points: [6] }, async ({ visitor, operator, step }) => {
  await operator.comes();
  await step(
    "The window is open",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
    },
    { has: "message-assistant: working days" },
  );
  await step("The person writes", () => operator.says("Hello, Anna here."), {
    newest: /Anna here/,
    shows: ["presence: A person is online", "joined: A person joined"],
  });
});

scene("Suggestions are asked, and go when a person replies", { points: [1] }, async ({ visitor, operator, step }) => {
  await step("The window is open", () => visitor.opens(), { has: "suggestion: dishwasher" });
  await step("A suggestion is asked", () => visitor.click("suggestion", "dishwasher", { scroll: true }), {
    newest: /microwave/,
    hides: "suggestion: dishwasher",
  });
  await step("A person replies", () => operator.says("Anna here. The oven is another matter."), {
    newest: /another matter/,
    hides: "suggestions",
  });
});
