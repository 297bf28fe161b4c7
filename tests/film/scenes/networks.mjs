// Points 3, 8 and 12: a bad network, several tabs, and a scrolled-back log.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";

scene("The network goes offline and comes back", { points: [5] }, async ({ visitor, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks("Are the mugs dishwasher safe?");
  });
  await step("The network is offline", () => visitor.isOffline(true), {
    shows: "notice: You are offline",
    newest: /microwave/,
  });
  await step("The visitor writes a message", () => visitor.says(QUESTION), {
    newest: /How long/,
    shows: "message-visitor: Waiting to send",
    hides: ["typing", "wait"],
  });
  await step("The network is online again", () => visitor.isOffline(false), {
    newest: /working days/,
    hides: "notice",
  });
});

scene("A failed message is resent", { points: [8, 12] }, async ({ visitor, service, step }) => {
  await service.fails({ only: "send", status: 422 });
  await step(
    "A message is not sent",
    async () => {
      await visitor.opens();
      await visitor.says(QUESTION);
    },
    { shows: ["message-failed: Not sent", "retry"], hides: ["typing", "suggestions"], newest: /How long/ },
  );
  await service.isFine();
  await step("It is resent", () => visitor.click("retry"), { newest: /working days/, hides: "message-failed" });
});

scene("A message fails below a long conversation", { points: [3, 8] }, async ({ visitor, service, step }) => {
  await step("A conversation exists", async () => {
    await visitor.opens();
    await visitor.asks("Can I book a workshop?");
    await visitor.asks("Are the mugs dishwasher safe?");
  });
  await service.fails({ only: "send", status: 422 });
  await step("A message is not sent", () => visitor.says(QUESTION), {
    shows: ["message-failed: Not sent", "retry"],
    newest: /How long/,
  });
});

scene("The service is down for a moment", { points: [5] }, async ({ visitor, service, step }) => {
  await service.fails({ only: "send", status: 503, times: 2 });
  await step(
    "A message is delivered at the third attempt",
    async () => {
      await visitor.opens();
      await visitor.says(QUESTION);
      visitor.hurries = true;
    },
    { newest: /working days/, hides: ["message-failed", "typing"] },
  );
});

scene("The service sends a Retry-After of hours", { points: [5, 8] }, async ({ visitor, service, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks("Are the mugs dishwasher safe?");
  });
  await service.fails({ only: "send", status: 429, retryAfter: 7200, times: 1 });
  await step("A message is deferred", () => visitor.says(QUESTION), {
    newest: /How long/,
    shows: ["message-visitor: Not sent yet. We will try again later.", "retry: Try now"],
    hides: ["typing", "wait", "message-failed", "suggestions"],
  });
  await step("The visitor writes another message", () => visitor.says("Can I book a workshop?"), {
    newest: /workshop/,
    shows: ["message-visitor: Not sent yet. We will try again later.", "retry: Try now"],
    has: "message-visitor: Waiting to send",
    hides: ["typing", "wait"],
    check: async (visitor) => assert.equal(await visitor.count("retry"), 1, "one offer for all waiting messages"),
  });
  await step(
    "The visitor sends at once",
    async () => {
      await visitor.click("retry");
      visitor.hurries = true;
    },
    { newest: /Saturdays/, has: "message-assistant: working days", hides: ["retry", "typing"] },
  );
});

scene("One visitor has two tabs", { points: [8] }, async ({ visitor, operator, step }) => {
  let other;
  await step("A question is answered in one tab", async () => {
    await visitor.opens();
    await visitor.asks(QUESTION);
    other = await visitor.opensTab("/help.html");
  });
  await step("The other tab shows it", () => other.opens(), { of: other, newest: /working days/ });
  await step("A person writes", () => operator.says("Anna here."), { newest: /Anna here/ });
  await step("The other tab shows it", () => {}, { of: other, newest: /Anna here/ });
});

scene("The visitor scrolls back while messages arrive", { points: [3] }, async ({ visitor, operator, step }) => {
  await step(
    "A long conversation",
    async () => {
      await visitor.opens();
      for (const question of [
        QUESTION,
        "Are the mugs dishwasher safe?",
        "Can I book a workshop?",
        "And what else?",
        "Do you deliver abroad?",
        QUESTION,
      ]) {
        await visitor.asks(question);
      }
    },
    { newest: /working days/ },
  );
  let top;
  await step(
    "The visitor scrolls back",
    async () => {
      await visitor.scrolls(-5000);
      top = await visitor.evaluate(() => window.film.find("log")[0].scrollTop);
    },
    { relaxed: ["newest", "focus", "used"], shows: ".cw-jump" },
  );
  await step("A person writes, and nothing moves", () => operator.says("Anna here."), {
    relaxed: ["newest", "focus", "used"],
    shows: ".cw-jump: 1",
    check: async (visitor) => assert.equal(await visitor.evaluate(() => window.film.find("log")[0].scrollTop), top),
  });
  await step("The button scrolls to the end", () => visitor.click(".cw-jump"), {
    newest: /Anna here/,
    hides: ".cw-jump",
  });
});

scene("The unread line is shown on return", { points: [8] }, async ({ visitor, operator, screen, step }) => {
  await step("The window is closed after some questions", async () => {
    await visitor.opens();
    await visitor.asks(QUESTION);
    await visitor.asks("Are the mugs dishwasher safe?");
    await visitor.closes();
  });
  await step("Two messages arrive", () => operator.says("Anna here.", "Your bowls are packed."), { shows: "badge: 2" });
  await step("The window is opened", () => visitor.opens(), {
    newest: /packed/,
    has: ".cw-unread",
    // On a low screen only the first of the two fits below the line.
    ...(screen.name === "zoom" && { relaxed: ["newest"], shows: "message-operator .cw-bubble: Anna here" }),
  });
  await step(
    "Another pair of messages",
    async () => {
      await visitor.closes();
      await visitor.opens();
    },
    { newest: /packed/, hides: ".cw-unread" },
  );
});

scene("An earlier conversation is opened again", { points: [2, 3] }, async ({ visitor, step }) => {
  await step("A conversation exists", async () => {
    await visitor.opens();
    await visitor.asks(QUESTION);
    await visitor.asks("Are the mugs dishwasher safe?");
    await visitor.asks("Can I book a workshop?");
    await visitor.closes();
  });
  await step(
    "The page is reloaded and the window opened",
    async () => {
      await visitor.reloads();
      await visitor.opens();
    },
    { newest: /Saturdays/ },
  );
  await step("Another question", () => visitor.asks("And what else is there?"), { newest: /returns/ });
});

scene("Messages arrive in a hidden tab", { points: [8] }, async ({ visitor, operator, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks(QUESTION);
  });
  await step(
    "A person writes while the tab is hidden",
    async () => {
      await visitor.isSeen("hidden");
      await operator.says("Anna here.");
      visitor.hurries = false;
    },
    { newest: /working days/, relaxed: ["focus"] },
  );
  await step(
    "The tab is visible again",
    async () => {
      await visitor.isSeen("visible");
      visitor.hurries = true;
    },
    { newest: /Anna here/, relaxed: ["focus"] },
  );
});
