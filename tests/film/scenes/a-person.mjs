// Points 1 and 4: a request for a person shows the reply, and the contact form does not cover it.

import { scene } from "../scene.mjs";

const ASK = "I would like to talk to a person";
const ADDRESS = "anna@example.com";

/** Opens the window and asks for a person. */
async function asksForPerson(visitor) {
  await visitor.opens();
  await visitor.asks(ASK);
}

/** Submits an address in the contact form. */
async function givesAddress(visitor, address) {
  await visitor.click("form [name=email]");
  await visitor.type(address);
  await visitor.click("contact-send");
}

scene("A visitor asks for a person", { main: true, points: [1] }, async ({ visitor, operator, step }) => {
  await step("The window is open", () => visitor.opens(), { shows: ["composer", "header"] });
  await step("The visitor asks for a person", () => visitor.asks(ASK), {
    newest: /Leave your e-mail address/,
    has: ["form", "presence: Waiting for a person"],
    hides: "suggestions",
  });
  await step("A person replies", () => operator.says("Anna here. What can I do for you?"), {
    newest: /Anna here/,
    hides: ["form", "suggestions"],
  });
  await step("The visitor explains the request", () => visitor.asks("It is about my order"), {
    newest: /I can tell you/,
  });
});

scene("A visitor leaves an e-mail address", { main: true, points: [1] }, async ({ visitor, step }) => {
  await step("The visitor asks for a person", () => asksForPerson(visitor), { has: "form" });
  await step("The field is clicked", () => visitor.click("form [name=email]"), { focus: "[name=email]" });
  await step("An address is typed", () => visitor.type(ADDRESS), { shows: ["form [name=email]", "contact-send"] });
  await step("It is sent", () => visitor.click("contact-send"), {
    newest: /noted that/,
    shows: `contact-done: ${ADDRESS}`,
    hides: "form",
  });
  await step("The visitor writes another message", () => visitor.asks("Do you teach workshops?"), {
    newest: /Saturdays/,
    hides: ["contact-done", "form"],
  });
});

scene("A visitor leaves a name and a phone number", { points: [1] }, async ({ visitor, step }) => {
  await step("The visitor asks for a person", () => asksForPerson(visitor), { has: "contact-more" });
  await step("The visitor opens more fields", () => visitor.click("contact-more"), {
    has: ["form [name=name]", "form [name=tel]"],
    check: (visitor) => visitor.has("[part~=contact-more][aria-expanded=true], [part~=form] [name=tel]"),
  });
  await step(
    "Name and number are typed",
    async () => {
      await visitor.click("form [name=name]");
      await visitor.type("Anna");
      await visitor.click("form [name=tel]");
      await visitor.type("+44 20 7946 0991");
    },
    { focus: "[name=tel]" },
  );
  await step("They are submitted", () => visitor.press("Enter"), {
    newest: /noted that/,
    shows: "contact-done: 7946",
    hides: "form",
  });
});

scene(
  "The contact form does not ask again for given details",
  { main: true, points: [4] },
  async ({ visitor, service, step }) => {
    await step(
      "Details are given",
      async () => {
        await asksForPerson(visitor);
        await givesAddress(visitor, ADDRESS);
      },
      { newest: /noted that/, hides: "form", has: "contact-done" },
    );
    await step(
      "The page is reloaded",
      async () => {
        await visitor.reloads();
        if ((await visitor.count("window")) === 0) await visitor.opens();
      },
      { relaxed: ["focus"], has: "message-visitor: talk to a person", hides: "form" },
    );
    service.willSay("Of course. I have your details, and have told the studio.");
    await step("The visitor asks for a person again", () => visitor.asks("Is there a person I can talk to?"), {
      newest: /have told the studio/,
      hides: "form",
      shows: "composer",
    });
  },
);

scene(
  "The contact form is postponed and offered again",
  { main: true, points: [4] },
  async ({ visitor, screen, step }) => {
    await step("The visitor asks for a person", () => asksForPerson(visitor), { has: "form" });
    await step("The form is dismissed", () => visitor.click("contact-dismiss"), {
      hides: "form",
      focus: screen.touch ? "window" : "input",
    });
    await step("The visitor asks another question", () => visitor.asks("How long does delivery take?"), {
      newest: /working days/,
      hides: "form",
    });
    await step("The visitor asks for a person again", () => visitor.asks("Can I talk to a person, please?"), {
      newest: /Of course/,
      has: "form",
    });
  },
);

scene("An empty contact form is submitted", { points: [4] }, async ({ visitor, step }) => {
  await step("The visitor asks for a person", () => asksForPerson(visitor), { has: "form" });
  await step("The empty form is submitted", () => visitor.click("contact-send"), {
    shows: ["form .cw-error", "form [name=email]", "contact-send", "contact-dismiss"],
    focus: "[name=email]",
  });
});

scene("An invalid address is corrected", { points: [4] }, async ({ visitor, step }) => {
  await step("The visitor asks for a person", () => asksForPerson(visitor), { has: "form" });
  await step("An incomplete address is submitted", () => givesAddress(visitor, "anna@example"), {
    shows: "form .cw-error: check the e-mail",
    focus: "[name=email]",
  });
  await step(
    "The address is completed",
    async () => {
      await visitor.type(".com");
      await visitor.press("Enter");
    },
    { newest: /noted that/, shows: `contact-done: ${ADDRESS}`, hides: "form .cw-error" },
  );
});

scene(
  "A person writes while the contact form is open",
  { main: true, points: [1] },
  async ({ visitor, operator, step }) => {
    await step("The contact form is shown", () => asksForPerson(visitor), { has: "form" });
    await step("A person writes", () => operator.says("Anna here."), { newest: /Anna here/, hides: "form" });
  },
);

scene("A person writes while the visitor types an address", { points: [1] }, async ({ visitor, operator, step }) => {
  await step(
    "An address is being typed",
    async () => {
      await visitor.opens();
      await visitor.asks(ASK);
      await visitor.click("form [name=email]");
      await visitor.type("anna@ex");
    },
    { focus: "[name=email]" },
  );
  await step("A person writes", () => operator.says("Anna here. Shall I call you?"), {
    newest: /Shall I call/,
    has: "form [name=email]",
    focus: "[name=email]",
  });
  await step(
    "The address is submitted",
    async () => {
      await visitor.type("ample.com");
      await visitor.press("Enter");
    },
    { newest: /noted that/, shows: `contact-done: ${ADDRESS}` },
  );
});

scene("A visitor opens the contact form from the menu", { points: [1, 8] }, async ({ visitor, screen, step }) => {
  await step(
    "A question is answered",
    async () => {
      await visitor.opens();
      await visitor.asks("How long does delivery take?");
    },
    { newest: /working days/ },
  );
  await step("The menu is open", () => visitor.click("menu"), { shows: "menu-list" });
  await step("The menu opens the contact form", () => visitor.click("menu-contact"), {
    has: "form",
    focus: "[name=email]",
    hides: "suggestions",
  });
  await step("The form is dismissed", () => visitor.click("contact-dismiss"), {
    hides: "form",
    focus: screen.touch ? "window" : "input",
    newest: /working days/,
  });
});
