// Point 11: the keyboard and the focus in every part.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";

/** Returns whether Tab can focus an element. */
const canBeReached = (visitor, target) =>
  visitor.evaluate((target) => {
    const { root, selectorOf, focused } = window.film;
    const element = root().querySelector(selectorOf(target));
    const before = focused();
    element?.focus();
    const reached = focused() === element;
    before.focus();
    return reached;
  }, target);

scene("The data panel covers the controls that are disabled", { points: [11] }, async ({ visitor, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks(QUESTION);
  });
  await step(
    "The menu opens the data panel",
    async () => {
      await visitor.click("menu");
      await visitor.click("menu-data");
    },
    {
      shows: ["panel", "back"],
      focus: "back",
      check: async (visitor) => {
        for (const covered of ["input", "log", "menu"])
          assert.equal(await canBeReached(visitor, covered), false, `${covered} can be focused`);
      },
    },
  );
  await step("Tab stays in the panel", () => visitor.press("Tab"), {
    check: async (visitor) =>
      assert.ok(
        await visitor.evaluate(() => Boolean(window.film.focused().closest("[part=panel]"))),
        "the focus is in the panel",
      ),
  });
  await step("Escape returns to the chat", () => visitor.press("Escape"), {
    hides: "panel",
    focus: "menu",
    newest: /working days/,
  });
});

scene("Erasing asks for a confirmation", { points: [12] }, async ({ visitor, step }) => {
  await step(
    "The data panel is open",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
      await visitor.click("menu");
      await visitor.click("menu-data");
    },
    { shows: "panel" },
  );
  await step("The button to erase is clicked", () => visitor.click("forget", undefined, { scroll: true }), {
    has: ["forget-yes", "forget-no"],
    focus: "forget-no",
    check: async (visitor) =>
      assert.ok(
        await visitor.evaluate(() => {
          const group = window.film.find("forget-no")[0].closest("[role=group]");
          return group.getAttribute("aria-label") || group.getAttribute("aria-labelledby");
        }),
        "the group has a label",
      ),
  });
  await step("The data is erased", () => visitor.click("forget-yes", undefined, { scroll: true }), {
    hides: ["panel", "message-visitor"],
    shows: "composer",
  });
});

scene("The chat is used with the keyboard alone", { main: true, points: [11] }, async ({ visitor, step }) => {
  await step(
    "Tab focuses the launcher",
    async () => {
      await visitor.allFilesLoaded();
      for (
        let steps = 0;
        !(await visitor.evaluate(() => window.film.focused().matches("[part~=launcher]")));
        steps += 1
      ) {
        assert.ok(steps < 25, "Tab reaches the launcher");
        await visitor.press("Tab");
      }
    },
    { shows: "launcher", focus: "launcher" },
  );
  await step(
    "Enter opens the window",
    async () => {
      await visitor.press("Enter");
      await visitor.has("composer");
      if (visitor.size.touch) await visitor.click("input");
    },
    { focus: "input" },
  );
  await step(
    "A question is typed and answered",
    async () => {
      await visitor.type(QUESTION);
      await visitor.press("Enter");
    },
    { newest: /working days/, focus: "input" },
  );
  await step("Escape closes the window", () => visitor.press("Escape"), { hides: "window", focus: "launcher" });
  await step(
    "Space reopens the window",
    async () => {
      await visitor.press("Space");
      await visitor.has("composer");
    },
    { newest: /working days/ },
  );
});

scene("The menu is used with the keyboard", { points: [8, 11] }, async ({ visitor, step }) => {
  await step(
    "Enter opens the menu",
    async () => {
      await visitor.opens();
      await visitor.evaluate(() => window.film.find("menu")[0].focus());
      await visitor.press("Enter");
    },
    { shows: "menu-list", focus: "[role^=menuitem]:first-of-type, [part~=menu-data]" },
  );
  await step(
    "End and Home select the last and first items",
    async () => {
      await visitor.press("End");
      await visitor.hasFocus("menu-contact");
      await visitor.press("Home");
    },
    { focus: "menu-data" },
  );
  await step("The Down key wraps around", () => visitor.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown"), {
    focus: "menu-data",
  });
  await step("The Up key selects the last item", () => visitor.press("ArrowUp"), {
    focus: "menu-contact",
    shows: "menu-contact",
  });
  await step("Escape returns the focus to the menu button", () => visitor.press("Escape"), {
    hides: "menu-list",
    has: "window",
    focus: "menu",
  });
});

scene("Tab reaches each control of the window", { points: [11] }, async ({ visitor, screen, step }) => {
  const seen = [];
  await step(
    "Tab cycles through the window",
    async () => {
      await visitor.opens();
      for (let steps = 0; steps < 14; steps += 1) {
        seen.push(
          await visitor.evaluate(() => window.film.focused().getAttribute("part") ?? window.film.focused().localName),
        );
        await visitor.press("Tab");
      }
    },
    {
      // Tab scrolls to suggestions that are below the welcome.
      relaxed: screen.full ? ["newest"] : ["newest", "focus"],
      check: () => {
        for (const each of ["menu", "close", "input", "send"])
          assert.ok(seen.includes(each), `Tab skips ${each}: ${seen.join(" ")}`);
      },
    },
  );
});

scene("The window is closed by its button", { points: [11] }, async ({ visitor, step }) => {
  await step("The window is open", () => visitor.opens(), { shows: ["close", "menu"] });
  await step("The window is closed", () => visitor.click("close"), {
    hides: "window",
    shows: "launcher",
    focus: "launcher",
  });
  await step("The window is opened again", () => visitor.click("launcher"), { shows: "composer" });
  await step("Escape closes the window", () => visitor.press("Escape"), { hides: "window", focus: "launcher" });
});

scene("Escape closes the window of a blocked visitor", { points: [4, 11] }, async ({ visitor, service, step }) => {
  await service.fails({ ai: "blocked" });
  await step(
    "The visitor is blocked",
    async () => {
      await visitor.opens();
      await visitor.says("I would like to talk to a person");
    },
    {
      shows: "notice: This conversation is closed",
      hides: ["composer", "form", "suggestions", "typing"],
      newest: /talk to a person/,
    },
  );
  await step("Escape closes the window", () => visitor.press("Escape"), { hides: "window", focus: "launcher" });
});

scene(
  "The visitor leaves an address in a chat with an exhausted quota",
  { points: [4, 11] },
  async ({ visitor, service, step }) => {
    await service.fails({
      ai: "quota_insufficient",
      fallbackText: "Our assistant is asleep. A person will read this.",
    });
    await step(
      "The quota is exhausted, and the message field stays",
      async () => {
        await visitor.opens();
        await visitor.says("How long does delivery take?");
      },
      {
        shows: ["offer", "composer"],
        hides: ["form", "suggestions", "typing", "notice"],
        newest: /asleep/,
      },
    );
    await step("The visitor wants to leave an address", () => visitor.click("leave-contact"), {
      shows: ["form", "composer"],
      hides: "offer",
    });
    await step("Escape closes the window", () => visitor.press("Escape"), { hides: "window", focus: "launcher" });
  },
);
