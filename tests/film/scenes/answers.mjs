// Points 2, 3 and 12: replies of every length and kind are shown from their beginning and announced as plain text.

import assert from "node:assert/strict";
import { scene } from "../scene.mjs";

const PARAGRAPH =
  "Every pot is thrown by hand, dried for a week, fired twice, and looked at by two people before it leaves the yard. ";
const LONG = [
  "We make three kinds of glaze.",
  ...Array.from({ length: 7 }, (_, index) => `Glaze ${index + 1}. ${PARAGRAPH.repeat(2)}`),
].join("\n\n");
const TABLE = `Here is what is in stock:

| Piece | Size | Price | In stock | Colours |
| --- | --- | ---: | ---: | --- |
| Furrow bowl | 16 cm | 28.00 | 12 | oat, slate blue |
| Furrow plate | 26 cm | 34.00 | 7 | oat, slate blue |
| Table for two | two of each | 112.00 | 3 | oat |

More in [the shop](https://kiln.example/shop).`;
const CODE = `Put this on your page:

\`\`\`html
<script async src="https://cdn.kiln.example/a/rather/long/path/that/does/not/fit/on/one/line/chat-widget.js" data-proxy="/connector"></script>
\`\`\`

Then **reload** it.`;

/** Asserts that the newest reply begins at the top of the log, or below a short question. */
const beginsAtTop = async (visitor) => {
  const { first, top, question } = await visitor.evaluate(() => {
    const { find, rectOf, lines, cross, clipOf } = window.film;
    const log = find("log")[0];
    const visible = cross(rectOf(log), clipOf(log));
    const answer = find("message").at(-1).querySelector(".cw-bubble");
    const bubble = find("message-visitor").at(-1).querySelector(".cw-bubble");
    return {
      first: lines(answer)[0].top - visible.top,
      top: visible.bottom - visible.top,
      question: rectOf(bubble).top - visible.top,
    };
  });
  assert.ok(
    first >= 0 && first < top,
    `the first line is ${Math.round(first)} px below the top of the log, which is ${Math.round(top)} px high`,
  );
  return { question };
};

scene(
  "A long reply is shown from its beginning",
  { main: true, points: [2] },
  async ({ visitor, service, screen, step }) => {
    await step("The window is open", () => visitor.opens());
    service.willSay(LONG);
    await step("A long reply arrives", () => visitor.asks("What glazes are there?"), {
      newest: /We make three kinds/,
      check: async (visitor) => {
        const { question } = await beginsAtTop(visitor);
        // A low screen has room for the reply only.
        if (!["zoom", "keyboard"].includes(screen.name))
          assert.ok(question >= -1, `the question is ${Math.round(-question)} px above the top of the log`);
      },
    });
    await step("A short question after it", () => visitor.asks("How long does delivery take?"), {
      newest: /working days/,
    });
  },
);

scene("A second long reply is shown from its beginning", { points: [2] }, async ({ visitor, service, step }) => {
  service.willSay("Hello! What would you like to know?", LONG, LONG);
  await step(
    "A short question is answered",
    async () => {
      await visitor.opens();
      await visitor.asks("Hello");
    },
    { newest: /Hello!/ },
  );
  await step("A long reply arrives", () => visitor.asks("What glazes are there?"), {
    newest: /three kinds/,
    check: beginsAtTop,
  });
  await step("Another one arrives", () => visitor.asks("And once more, please?"), { check: beginsAtTop });
});

scene("Several replies arrive one after the other", { points: [2] }, async ({ visitor, step }) => {
  await step(
    "The first reply",
    async () => {
      await visitor.opens();
      await visitor.asks("How long does delivery take?");
    },
    { newest: /working days/ },
  );
  await step("The second reply", () => visitor.asks("Are the mugs dishwasher safe?"), {
    newest: /microwave/,
    hides: "suggestions",
  });
  await step("The third reply", () => visitor.asks("Can I book a workshop?"), { newest: /Saturdays/ });
  await step("The fourth reply", () => visitor.asks("And what else is there?"), { newest: /returns/ });
});

scene("A reply contains a table", { points: [2, 12] }, async ({ visitor, service, step }) => {
  service.willSay(TABLE);
  await step(
    "A table arrives",
    async () => {
      await visitor.opens();
      await visitor.asks("What is in stock?");
    },
    { newest: /Here is what/, has: "message-assistant table" },
  );
});

scene("A reply contains code", { points: [2, 12] }, async ({ visitor, service, step }) => {
  service.willSay(CODE);
  await step(
    "Code arrives",
    async () => {
      await visitor.opens();
      await visitor.asks("How do I put the chat on my page?");
    },
    { newest: /Put this/, has: "message-assistant pre" },
  );
});

const TERMS =
  "We do. Parcels to Scotland take 3 to 5 working days, and to the islands a day or two longer. It costs 4.90, and nothing at all " +
  "from 60 upwards. You get a tracking link by e-mail as soon as the parcel leaves us, and the courier rings before it comes. " +
  "If you are out, it goes to a neighbour, or back to the depot, which keeps it for a week.";

scene(
  "The first message is sent at 200 % zoom",
  { main: true, points: [3] },
  async ({ visitor, service, screen, step }) => {
    // A screen of 1280 by 800 pixels at 200 %; small screens keep their size.
    await step(
      "The window is open",
      async () => {
        if (!screen.full) await visitor.resizes(640, 400);
        await visitor.opens();
      },
      { shows: "composer" },
    );
    service.willSay(TERMS);
    await step("The first message is sent", () => visitor.asks("Do you deliver to Scotland?"), { newest: /We do/ });
    await step("Another message is sent", () => visitor.asks("Are the mugs dishwasher safe?"), {
      newest: /microwave/,
      hides: ".cw-jump",
    });
  },
);

scene(
  "A suggestion is the first message at 200 % zoom",
  { points: [3] },
  async ({ visitor, service, screen, step }) => {
    await step("The window is open", async () => {
      if (!screen.full) await visitor.resizes(640, 400);
      await visitor.opens();
    });
    service.willSay(TERMS);
    await step("A suggestion is clicked", () => visitor.click("suggestion", "delivery", { scroll: true }), {
      newest: /We do/,
    });
  },
);

scene("The log follows new messages", { points: [3] }, async ({ visitor, operator, screen, step }) => {
  await step(
    "A conversation exists",
    async () => {
      await visitor.opens();
      await visitor.asks("How long does delivery take?");
      await visitor.asks("Are the mugs dishwasher safe?");
    },
    { newest: /microwave/ },
  );
  await step("The window gets smaller", () => visitor.resizes(screen.touch ? 390 : 1000, screen.touch ? 380 : 520), {
    newest: /microwave/,
  });
  await step("A person writes", () => operator.says("Anna here. The mugs are safe."), {
    newest: /Anna here/,
    hides: ".cw-jump",
  });
  await step("The window gets larger again", () => visitor.resizes(screen.touch ? 390 : 1100, 760), {
    newest: /Anna here/,
    hides: ".cw-jump",
  });
  await step("Another message is sent", () => operator.says("All of them."), {
    newest: /All of them/,
    hides: ".cw-jump",
  });
});

scene("A person writes a long reply", { points: [2] }, async ({ visitor, operator, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks("How long does delivery take?");
  });
  await step("A person writes a long message", () => operator.says(LONG), {
    newest: /We make three kinds/,
    check: beginsAtTop,
  });
  await step("The visitor replies", () => visitor.asks("And the oven?"), { newest: /I can tell you/ });
});

scene("A person sends two messages in a row", { points: [2, 6] }, async ({ visitor, operator, step }) => {
  await step("A question is answered", async () => {
    await visitor.opens();
    await visitor.asks("How long does delivery take?");
  });
  await step("A person writes two messages", () => operator.says("Anna here.", "It will be three days this week."), {
    newest: /three days/,
    has: "message-operator: Anna here",
  });
  await step("Another pair of messages", () => operator.says("Shall I reserve one?"), { newest: /Shall I reserve/ });
});

scene("A message has 4,000 characters", { points: [2] }, async ({ visitor, step }) => {
  const text = `I have a long question. ${"Is this glaze safe for food, and for how long? ".repeat(84)}`.slice(0, 4000);
  await step(
    "They are typed",
    async () => {
      await visitor.opens();
      await visitor.click("input");
      await visitor.type(text);
    },
    { shows: ["composer", "send"] },
  );
  await step("They are submitted", () => (visitor.size.touch ? visitor.click("send") : visitor.press("Enter")), {
    has: "message-assistant: I can tell you",
    newest: /I can tell you/,
  });
});

scene("A message contains long words", { points: [2] }, async ({ visitor, service, operator, step }) => {
  const long = `${"Donaudampfschifffahrtsgesellschaft".repeat(6)} https://shop.example/${"path/".repeat(40)}`;
  service.willSay(long);
  await step("The visitor and the assistant", async () => {
    await visitor.opens();
    await visitor.asks(long);
  });
  await step("A person", () => operator.says(long), { has: "message-operator" });
});
