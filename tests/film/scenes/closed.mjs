// Points 8, 9 and 10: a closed window shows new messages, and an open one stays open on the next page.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";

/** Sends a question and closes the window. */
async function hasAskedAndClosed(visitor) {
  await visitor.opens();
  await visitor.asks(QUESTION);
  await visitor.closes();
}

scene(
  "A message arrives while the window is closed",
  { main: true, points: [8] },
  async ({ visitor, operator, step }) => {
    await step("The window is closed", () => hasAskedAndClosed(visitor), {
      shows: "launcher",
      hides: "preview",
      focus: "launcher",
    });
    await step("A person writes", () => operator.says("Anna here. Your bowls are packed."), {
      shows: ["preview: Anna here", "badge: 1", "launcher: 1 unread"],
      title: /^💬 \(1\)/u,
    });
    await step("The preview is clicked", () => visitor.click("preview .cw-preview-open"), {
      newest: /Anna here/,
      hides: ["preview", "badge"],
      title: /^Kiln/,
    });
  },
);

scene("A preview is dismissed", { points: [8] }, async ({ visitor, operator, screen, step }) => {
  await step(
    "A person has written",
    async () => {
      await hasAskedAndClosed(visitor);
      await operator.says("Anna here. Your bowls are packed.", "Shall I send them today?");
    },
    { shows: ["preview: Shall I send|Anna here", "badge: 2"] },
  );
  await step("The preview is dismissed", () => visitor.click("preview .cw-icon-button"), {
    hides: "preview",
    shows: "badge: 2",
    focus: "launcher",
  });
  await step("The window is opened later", () => visitor.click("launcher"), {
    newest: /Shall I send/,
    has: ".cw-unread",
    hides: "badge",
    // On a low screen only the first of the two fits below the line.
    ...(screen.name === "zoom" && { relaxed: ["newest"], shows: "message-operator .cw-bubble: Anna here" }),
  });
});

scene("A long message arrives while the window is closed", { points: [8] }, async ({ visitor, operator, step }) => {
  await step(
    "A person writes a long message",
    async () => {
      await hasAskedAndClosed(visitor);
      await operator.says(
        `Anna here. **Your** bowls are packed. ${"They leave the yard with the next parcel. ".repeat(20)}`,
      );
    },
    {
      shows: "preview: Anna here",
      check: async (visitor) => assert.doesNotMatch(await visitor.textOf("preview"), /\*\*/),
    },
  );
});

scene(
  "Previews and the title are switched off",
  { points: [8], options: { preview: "false", "title-alert": "false" } },
  async ({ visitor, operator, step }) => {
    await step("The window is closed", () => hasAskedAndClosed(visitor));
    await step("A person writes", () => operator.says("Anna here."), { shows: "badge: 1", hides: "preview" });
    await step("Time passes", () => visitor.waits(6), { shows: "badge: 1", hides: "preview", title: /^Kiln/ });
  },
);

scene("A reply arrives after the window was closed", { points: [8] }, async ({ visitor, service, step }) => {
  const thought = service.thinks();
  await step(
    "The window is closed after a question",
    async () => {
      await visitor.opens();
      await visitor.says(QUESTION);
      await visitor.closes();
    },
    { shows: "launcher" },
  );
  await step("The reply arrives", () => thought.release(), { shows: ["preview: working days", "badge: 1"] });
});

scene("A failed message marks the launcher", { points: [8] }, async ({ visitor, service, step }) => {
  await service.fails({ only: "send", status: 422 });
  await step(
    "A message is not sent",
    async () => {
      await visitor.opens();
      await visitor.says(QUESTION);
    },
    { has: "message-failed", shows: "retry", hides: "suggestions" },
  );
  await step("The window is closed", () => visitor.click("close"), {
    shows: ["badge: !", "launcher: not sent"],
    hides: "window",
  });
  await service.isFine();
  await step(
    "The window is opened, and the message is sent",
    async () => {
      await visitor.opens();
      await visitor.click("retry");
    },
    { newest: /working days/, hides: "message-failed" },
  );
});

scene("The menu switches the sound", { points: [8] }, async ({ visitor, step }) => {
  await step(
    "The menu is open",
    async () => {
      await visitor.opens();
      await visitor.click("menu");
    },
    { shows: ["menu-list", "menu-data", "sound"] },
  );
  await step("The sound is turned on", () => visitor.click("sound"), {});
  await step(
    "The menu is opened again",
    async () => {
      if ((await visitor.count("menu-list")) === 0) await visitor.click("menu");
    },
    { shows: "sound", check: (visitor) => visitor.has("[part~=sound][aria-checked=true]") },
  );
  await step("Escape closes the menu only", () => visitor.press("Escape"), {
    hides: "menu-list",
    has: "window",
    focus: "menu",
  });
});

scene("The window stays open across a page load", { main: true, points: [9] }, async ({ visitor, screen, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks(QUESTION);
  });
  await step("The visitor opens another page", () => visitor.goes("/workshops.html"), {
    relaxed: ["focus"],
    ...(screen.full ? { hides: "window", shows: "launcher" } : { newest: /working days/ }),
  });
  await step("The page is reloaded", () => visitor.reloads(), {
    relaxed: ["focus"],
    ...(screen.full ? { hides: "window", shows: "launcher" } : { newest: /working days/ }),
  });
});

scene("A closed window stays closed across a page load", { points: [9] }, async ({ visitor, step }) => {
  await step("The window is closed", () => hasAskedAndClosed(visitor));
  await step("The visitor opens another page", () => visitor.goes("/help.html"), {
    shows: "launcher",
    hides: "window",
  });
});

scene("A link to the site opens in the same tab", { points: [9] }, async ({ visitor, service, screen, step }) => {
  service.willSay(`All of it is on [the page of the workshops](${visitor.site}/workshops.html).`);
  await step(
    "A reply contains a link",
    async () => {
      await visitor.opens();
      // An answer links to known addresses only.
      await visitor.asks(`Is it all on ${visitor.site}/workshops.html?`);
    },
    { shows: "message-assistant a: the page of" },
  );
  await step(
    "The link is clicked",
    async () => {
      await visitor.takeAnnounced();
      await visitor.click("message-assistant a", "the page of");
      await visitor.until(async () => assert.match(await visitor.evaluate(() => location.pathname), /workshops/));
      await visitor.allFilesLoaded();
    },
    { relaxed: ["focus", "used"], ...(screen.full ? { hides: "window" } : { newest: /All of it/ }) },
  );
});

const GREETING = JSON.stringify({ text: "Shall I help you choose a mug?", after: 0 });

scene("A greeting is clicked", { points: [9], options: { greeting: GREETING } }, async ({ visitor, step }) => {
  await step("The greeting is shown", () => visitor.allFilesLoaded(), { shows: "preview: Shall I help" });
  await step("The greeting is clicked", () => visitor.click("preview .cw-preview-open"), {
    newest: /Shall I help/,
    shows: "composer",
    hides: "preview",
  });
  await step("The visitor replies to it", () => visitor.asks("Yes, one for tea, with delivery"), {
    newest: /working days/,
    has: "message-assistant: Shall I help",
  });
});
