// Point 5: nothing untrue is shown while an answer is awaited, nor when none comes.

import { scene } from "../scene.mjs";

const QUESTION = "How long does delivery take?";
const FALLBACK = "Our assistant is asleep. Write to us at hello@kiln.example.";

/** Ends the wait for an answer that never came, so that the next scene is not told of it. */
const SEND = (url) => url.pathname === "/connector/chat/messages" && url.search === "";

scene("The AI fails, and says so in words", { points: [5] }, async ({ visitor, service, step }) => {
  await service.fails({ ai: "provider_error", fallbackText: FALLBACK });
  await step(
    "The fallback text is the answer",
    async () => {
      await visitor.opens();
      await visitor.asks(QUESTION);
    },
    { newest: /asleep/, hides: ["typing", "notice", "wait"] },
  );
  await step("Half a minute later it still is", () => visitor.waits?.(35), {
    newest: /asleep/,
    hides: ["typing", "notice", "wait"],
    relaxed: ["focus"],
  });
});

scene("The AI fails without a word", { main: true, points: [5] }, async ({ visitor, service, step }) => {
  await service.fails({ ai: "provider_error", fallbackText: "" });
  await step(
    "No answer comes, and it is said at once",
    async () => {
      await visitor.opens();
      await visitor.says(QUESTION);
    },
    { shows: ["notice: There was no answer", "retry"], hides: ["typing", "suggestions"], newest: /How long/ },
  );
  await service.isFine();
  await step("The visitor asks again", () => visitor.click("retry"), { newest: /working days/, hides: "notice" });
});

scene("A slow AI is explained in words", { points: [5] }, async ({ visitor, service, step }) => {
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
    "The next answer takes its time",
    async () => {
      await visitor.says(QUESTION);
      await visitor.waits(4);
    },
    { shows: "typing", hides: ["wait", "suggestions"], newest: /How long/ },
  );
  await step("After 10 s the wait is explained", () => visitor.waits(7), {
    shows: "wait: taking longer than usual",
    newest: /How long/,
  });
  await step("After 25 s a person is offered", () => visitor.waits(15), {
    shows: ["wait: Still no answer", "ask-person"],
    newest: /How long/,
  });
  await step("The answer comes after all", () => thought.release(), {
    newest: /working days/,
    hides: ["wait", "typing", "ask-person"],
  });
});

scene("A person is asked for while the AI is silent", { points: [5] }, async ({ visitor, service, operator, step }) => {
  await step("A first question is answered", async () => {
    await visitor.opens();
    await visitor.asks("Are the mugs dishwasher safe?");
  });
  const thought = service.thinks();
  await step(
    "25 s without an answer",
    async () => {
      await visitor.says(QUESTION);
      await visitor.waits(28);
    },
    { shows: "ask-person", newest: /How long/ },
  );
  await step("A person is asked for", () => visitor.click("ask-person"), { has: "form", newest: /How long/ });
  await step("A person writes", () => operator.says("Anna here. Two to four days."), {
    newest: /Anna here/,
    hides: ["wait", "typing", "notice"],
    relaxed: ["focus"],
  });
  thought.release();
});

scene("Sending on a slow line shows no dots", { points: [5] }, async ({ visitor, step }) => {
  let release;
  await step(
    "A message is on its way",
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
  await step("It has arrived, and is answered", () => release(), { newest: /working days/, hides: ["typing", "wait"] });
});

scene("A person answers while the AI composes", { points: [5, 6] }, async ({ visitor, service, operator, step }) => {
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
  await step("A person is faster", () => operator.says("Anna here: two to four days."), {
    newest: /Anna here/,
    hides: ["typing", "wait"],
  });
  thought.release();
});
