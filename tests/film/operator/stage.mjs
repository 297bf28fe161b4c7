// The stage of the operators' scenes: a service with a team, a site with answers, and a shop's worth of conversations.

import { openConsole, startTeam, visitorOf } from "../../e2e/team.mjs";
import { SIZES } from "../sizes.mjs";
import { play } from "./scene.mjs";

export const OPERATOR_SIZES = ["desktop", "phone"];
const VISITORS = [
  ["Anna Lindqvist", "How long does delivery to Gothenburg take? I need the bowls by Friday."],
  ["Ben Okafor", "Is the blue mug in stock again?"],
  ["Cleo Marchand", "The glaze of my plate has a crack. Can I send you a picture?"],
  ["Dana Petrov", "Do you sell gift cards?"],
  ["Eli Novak", "Where is my order 4711?"],
  ["Fay Sørensen", "Are the bowls safe for the dishwasher?"],
  ["", "hi"],
  [
    "Gus Lind",
    "I would like twelve plates for a restaurant, with our name on the back. What would that cost, and how long would it take?",
  ],
  ["Hana Sato", "ろくろの体験教室はありますか。"],
  ["Ivo Brandt", "Thanks!"],
  ["يوسف حداد", "هل تشحنون إلى القاهرة؟"],
  ["Jo Almeida", "Can I visit the studio on Saturday?"],
  ["Kim Larsen", "The discount code does not work."],
  ["Lea Fontaine", "Do you repair broken handles?"],
];
const LABELS = [
  ["Order", "blue"],
  ["Delivery", "teal"],
  ["Complaint", "red"],
  ["Wholesale", "violet"],
];

export const key = () => ({ "Idempotency-Key": crypto.randomUUID() });

/** Creates what a shop has after some weeks. */
async function fill(team) {
  const [{ call }] = team.operators;
  const site = `sites/${team.site.id}`;
  await call("POST", `${site}/answers`, {
    question: "How long does delivery take?",
    answer: "We pack on weekdays, and parcels take **2 to 4 working days** within the country. Delivery costs 4.90.",
    locale: "",
  });
  for (const [shortcut, text] of [
    ["thanks", "Thank you, {{visitor.name}}! Is there anything else that I can do for you?"],
    ["delivery", "Parcels take 2 to 4 working days within the country."],
    ["crack", "I am sorry about that. Please send a picture to studio@shop.example, and we will replace it."],
  ])
    await call("POST", "replies", { shortcut, text, locale: "" });
  team.labels = [];
  for (const [name, color] of LABELS) team.labels.push(await call("POST", "labels", { name, color }));
  for (const [name, text] of VISITORS) {
    const visitor = visitorOf(team, { name });
    await visitor.say(text);
    await call("PATCH", `conversations/${visitor.conversationId}`, { status: "open" });
  }
  await visitorOf(team, { name: "Mia Rossi" }).say("Can I talk to a real person?");
}

/** Opens the stage. Returns `play(browser, scene, size, scheme, options)` and `stop()`. */
export async function openOperatorStage() {
  const team = await startTeam();
  await fill(team);
  /** Closes the conversations of a scene, so that nobody waits above the visitors of the next one. */
  const settle = (visitors) =>
    Promise.all(
      visitors.map(({ conversationId }) =>
        team.operators[0].call("PATCH", `conversations/${conversationId}`, { status: "closed" }),
      ),
    );
  return {
    /** Plays a scene. Returns its steps with their problems, and pictures if wanted. */
    async play(browser, scene, sizeName, scheme, options) {
      const own = scene.isNew ? await startTeam(["Maren"]) : team;
      const { clip: _, ...size } = SIZES[sizeName];
      const operator = scene.signedOut ? undefined : own.operators[0];
      const context = { ...size, colorScheme: scheme, timezoneId: "Europe/Berlin", ...scene.context };
      const visitors = [];
      const { page, errors, close } = await openConsole(browser, own, operator, "/console/icon.svg", context);
      try {
        const played = await play(
          scene,
          {
            page,
            team: own,
            screen: { name: sizeName, isTouch: size.hasTouch === true },
            open: (path) => page.goto(`${own.address}/console/${path}`),
            async visitor(profile, ...texts) {
              const visitor = visitorOf(own, profile);
              visitors.push(visitor);
              for (const text of texts) await visitor.say(text);
              return visitor;
            },
          },
          options,
        );
        played.steps.at(-1)?.problems.push(...errors);
        return played;
      } finally {
        await close();
        if (own === team) await settle(visitors);
        else await own.stop();
      }
    },
    stop: () => team.stop(),
  };
}
