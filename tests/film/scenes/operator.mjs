// Point 6: the header and the log show at once that a person takes over.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";

/** Returns the initials or the picture of the header's avatar as a text to compare. */
const headerAvatar = (visitor) =>
  visitor.evaluate(() => window.film.find(".cw-header .cw-avatar")[0]?.outerHTML ?? null);

scene("A person takes over", { main: true, points: [6] }, async ({ visitor, operator, service, step }) => {
  let before;
  await step(
    "The assistant replies",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
      before = await headerAvatar(visitor);
    },
    { shows: "title: Clover" },
  );
  await step("A person writes", () => operator.says("Anna here. We pack today."), {
    newest: /Anna here/,
    shows: ["title: Anna", "presence: Anna replied", "joined: Anna joined"],
    hides: "suggestions",
    check: async (visitor) => assert.notEqual(await headerAvatar(visitor), before, "the header shows another avatar"),
  });
  const thought = service.thinks();
  await step("The visitor replies", () => visitor.says("That is kind"), {
    newest: /That is kind/,
    shows: "title: Anna",
  });
  thought.release();
});

scene(
  "A person with a name takes over",
  { points: [6], options: { "operator-name": "Maren" } },
  async ({ visitor, operator, step }) => {
    await step(
      "The assistant replies",
      async () => {
        await visitor.opens();
        await visitor.asks(QUESTION);
      },
      { shows: "title: Clover" },
    );
    await step("Maren writes and goes offline", () => operator.says("We pack today."), {
      newest: /We pack today/,
      shows: ["title: Maren", "presence: Maren replied", "joined: Maren joined"],
    });
    await step("Maren is online", () => operator.comes(), { shows: "presence: Maren is online" });
  },
);

scene("Presence is polled as soon as a person writes", { points: [6] }, async ({ visitor, operator, step }) => {
  await step(
    "The assistant replies",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
    },
    { shows: "presence: AI" },
  );
  await step(
    "A person comes online and writes",
    async () => {
      await operator.comes();
      await operator.says("Anna here.");
      // Within the time of one message: presence itself is polled far less often.
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
  "The assistant stops replying once a person has taken over",
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
      "The visitor writes, and no typing indicator is shown",
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

scene("A person is online from the start", { points: [6] }, async ({ visitor, operator, step }) => {
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
    shows: ["presence: A person is online", "joined: Anna joined"],
  });
});

scene(
  "Suggestions are sent, and disappear when a person replies",
  { points: [1] },
  async ({ visitor, operator, step }) => {
    await step("The window is open", () => visitor.opens(), { has: "suggestion: dishwasher" });
    await step("A suggestion is clicked", () => visitor.click("suggestion", "dishwasher", { scroll: true }), {
      newest: /microwave/,
      hides: "suggestion: dishwasher",
    });
    await step("A person replies", () => operator.says("Anna here. The oven is another matter."), {
      newest: /another matter/,
      hides: "suggestions",
    });
  },
);
