// Points 7, 10 and 13: the first seconds of a visit.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const WASM = "**/chat-widget.wasm";
const REPLY_TIME = "We usually answer within a working day, on Saturdays within an hour";

scene(
  "The reply time is shown in full",
  { points: [7], options: { "reply-time": REPLY_TIME } },
  async ({ visitor, screen, step }) => {
    await step("The window is open", () => visitor.opens(), { has: `.cw-intro: ${REPLY_TIME}` });
    await step("The visitor scrolls to the beginning", () => visitor.scrolls(-2000), {
      relaxed: ["newest", "focus"],
      // On a low screen the visitor scrolls to it.
      ...(screen.name === "zoom" ? {} : { shows: `.cw-intro p: ${REPLY_TIME}` }),
    });
  },
);

scene(
  "The launcher is clicked while the module loads",
  {
    points: [10],
    arrive: async (page, visitor) => {
      const released = new Promise((resolve) => (visitor.release = resolve));
      await page.route(WASM, async (route) => {
        await released;
        await route.continue().catch(() => {});
      });
    },
  },
  async ({ visitor, step }) => {
    await step(
      "The launcher is clicked",
      async () => {
        await visitor.has("launcher");
        await visitor.click("launcher");
      },
      { has: "[part~=launcher][aria-busy=true]", shows: "launcher", relaxed: ["focus"] },
    );
    await step("The wait is announced", () => visitor.waits(3), {
      relaxed: ["focus"],
      check: (visitor) =>
        visitor
          .evaluate(
            () =>
              [...document.querySelectorAll("chat-widget [aria-live], chat-widget [role=status]")]
                .map(({ textContent }) => textContent)
                .join("") ||
              window.film
                .find("[role=status], [aria-live=polite], [aria-live=assertive]")
                .map(({ textContent }) => textContent)
                .join(""),
          )
          .then((text) => assert.ok(text.trim().length > 3, "no announcement that the chat is loading")),
    });
    await step("The module has loaded", () => visitor.release(), {
      shows: ["composer", "header"],
      hides: "[aria-busy=true]",
    });
  },
);

scene("The window is opened with a touch or the pointer", { points: [13] }, async ({ visitor, screen, step }) => {
  await step("The window is open", () => visitor.opens(), {
    shows: "composer",
    // A phone's keyboard would cover the suggestions.
    focus: screen.touch ? "window" : "input",
  });
  await step(
    "The field is tapped near its upper edge",
    () => visitor.click("composer .cw-field", undefined, { at: [0.4, 0.08] }),
    { focus: "input" },
  );
});

scene("The input is clicked near its lower edge", { points: [13] }, async ({ visitor, step }) => {
  await step(
    "The log has the focus",
    async () => {
      await visitor.opens();
      await visitor.evaluate(() => window.film.find("log")[0].focus());
    },
    { focus: "log" },
  );
  await step("The field is clicked", () => visitor.click("composer .cw-field", undefined, { at: [0.3, 0.92] }), {
    focus: "input",
  });
});

scene(
  "The chat is in Arabic",
  { points: [12], options: { locale: "ar" } },
  async ({ visitor, service, operator, step }) => {
    service.willSay("يستغرق التوصيل من يومين إلى أربعة أيام عمل. التكلفة **4.90**.");
    await step("The window is open", () => visitor.opens(), {
      has: "window",
      // The welcome has another language than the widget, and is marked with it.
      check: async (visitor) => {
        assert.equal(await visitor.evaluate(() => window.film.root().querySelector(".cw").dir), "rtl");
        assert.match(
          await visitor.evaluate(() => {
            const bubble = window.film.find("message-assistant .cw-bubble")[0];
            const around = bubble.closest("[lang]") ?? bubble.querySelector("[lang]");
            return around.matches(".cw") ? "the widget's" : around.lang;
          }),
          /^en/,
        );
      },
    });
    await step("A question is answered", () => visitor.says("كم يستغرق التوصيل؟"), { newest: /التكلفة/ });
    await step("A person writes", () => operator.says("مرحبا، أنا آنا."), { newest: /آنا/, has: "joined" });
  },
);

scene(
  "The chat is in German, with long words",
  { points: [1], options: { locale: "de" } },
  async ({ visitor, operator, step }) => {
    await step(
      "The visitor asks for a person",
      async () => {
        await visitor.opens();
        await visitor.says("I would like to talk to a person");
      },
      { has: "form" },
    );
    await step("The menu is open", () => visitor.click("menu"), { shows: "menu-list" });
    await step(
      "A person writes to the closed window",
      async () => {
        await visitor.press("Escape");
        await operator.says("Guten Tag, hier ist Anna.");
      },
      { newest: /Guten Tag/ },
    );
  },
);

scene("A draft is kept", { points: [9] }, async ({ visitor, step }) => {
  await step(
    "A draft is typed",
    async () => {
      await visitor.opens();
      await visitor.click("input");
      await visitor.type("Is it possible that");
    },
    { shows: "composer" },
  );
  await step(
    "The page is reloaded",
    async () => {
      await visitor.reloads();
      if ((await visitor.count("window")) === 0) await visitor.opens();
    },
    { relaxed: ["focus"], shows: "input: Is it possible that" },
  );
});
