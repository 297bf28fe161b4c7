// Point 5: nothing untrue is shown while a reply is awaited, or when none arrives.

import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";
const FALLBACK = "Our assistant is asleep. Write to us at hello@kiln.example.";

/** Ends the wait for a missing reply, so that its requests do not reach the next scene. */
const SEND = (url) => url.pathname === "/connector/chat/messages" && url.search === "";

scene("The AI fails with a fallback text", { points: [5] }, async ({ visitor, service, step }) => {
  await service.fails({ ai: "provider_error", fallbackText: FALLBACK });
  await step(
    "The fallback text is the reply",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
    },
    { newest: /asleep/, hides: ["typing", "notice", "wait"] },
  );
  await step("Half a minute later it is still shown", () => visitor.waits?.(35), {
    newest: /asleep/,
    hides: ["typing", "notice", "wait"],
    relaxed: ["focus"],
  });
});

scene("The AI fails without a text", { main: true, points: [5] }, async ({ visitor, service, step }) => {
  await service.fails({ ai: "provider_error", fallbackText: "" });
  await step(
    "A notice says at once that no reply arrives",
    async () => {
      await visitor.opens();
      await visitor.says(QUESTION);
    },
    { shows: ["notice: There was no answer", "retry"], hides: ["typing", "suggestions"], newest: /How long/ },
  );
  await service.isFine();
  await step("The visitor asks again", () => visitor.click("retry"), { newest: /working days/, hides: "notice" });
});

scene("A slow AI shows a notice", { points: [5] }, async ({ visitor, service, step }) => {
  await step(
    "A first question is answered",
    async () => {
      await visitor.opens();
      await visitor.asks("Are the mugs dishwasher safe?");
    },
    { newest: /microwave/ },
  );
  const thought = service.thinks();
  await step(
    "The next reply is slow",
    async () => {
      await visitor.says(QUESTION);
      await visitor.waits(4);
    },
    { shows: "typing", hides: ["wait", "suggestions"], newest: /How long/ },
  );
  await step("After 10 s a notice explains the wait", () => visitor.waits(7), {
    shows: "wait: taking longer than usual",
    newest: /How long/,
  });
  await step("After 25 s a person is offered", () => visitor.waits(15), {
    shows: ["wait: Still no answer", "ask-person"],
    newest: /How long/,
  });
  await step("The reply arrives", () => thought.release(), {
    newest: /working days/,
    hides: ["wait", "typing", "ask-person"],
  });
});

scene(
  "The visitor asks for a person while the AI does not reply",
  { points: [5] },
  async ({ visitor, service, operator, step }) => {
    await step("A first question is answered", async () => {
      await visitor.opens();
      await visitor.asks("Are the mugs dishwasher safe?");
    });
    const thought = service.thinks();
    await step(
      "25 s without a reply",
      async () => {
        await visitor.says(QUESTION);
        await visitor.waits(28);
      },
      { shows: "ask-person", newest: /How long/ },
    );
    await step("The visitor asks for a person", () => visitor.click("ask-person"), { has: "form", newest: /How long/ });
    await step("A person writes", () => operator.says("Anna here. Two to four days."), {
      newest: /Anna here/,
      hides: ["wait", "typing", "notice"],
      relaxed: ["focus"],
    });
    thought.release();
  },
);

scene("Sending on a slow network shows no typing indicator", { points: [5] }, async ({ visitor, step }) => {
  let release;
  await step(
    "A message is being sent",
    async () => {
      await visitor.opens();
      const released = new Promise((resolve) => (release = resolve));
      await visitor.page.route(SEND, async (route) => {
        await released;
        await route.continue().catch(() => {});
      });
      await visitor.says(QUESTION);
      await visitor.waits(5);
    },
    { newest: /How long/, hides: "typing", shows: "composer" },
  );
  await step("The message is delivered and answered", () => release(), {
    newest: /working days/,
    hides: ["typing", "wait"],
  });
});

scene("A person replies while the AI composes", { points: [5, 6] }, async ({ visitor, service, operator, step }) => {
  await step("A first question is answered", async () => {
    await visitor.opens();
    await visitor.asks("Are the mugs dishwasher safe?");
  });
  const thought = service.thinks();
  await step(
    "The AI composes",
    async () => {
      await visitor.says(QUESTION);
      await visitor.waits(3);
    },
    { shows: "typing" },
  );
  await step("A person replies first", () => operator.says("Anna here: two to four days."), {
    newest: /Anna here/,
    hides: ["typing", "wait"],
  });
  thought.release();
});
