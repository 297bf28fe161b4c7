// The states of the gallery. Each says what the service has and how it answers, and how the widget gets there.
//
// - `title`, `about`: for the people who look.
// - `config`: what the site's owner has set; `history`: what was said before; `personHere`: an operator is online.
// - `outcome`: what becomes of a message: `status` refuses it, `silent` leaves it unanswered, all else is told with it.
// - `options`: of the widget, on top of the gallery's own.
// - `reach`: brings the widget there, and waits until it shows.

import { goOffline } from "./stand-in.js";

const SHOP = {
  assistantName: "Clover",
  welcomeMessage: "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops.",
};
const QUESTIONS = ["How long does delivery take?", "Are the mugs dishwasher safe?", "Can I book a workshop?"];

/** So long the widget waits for a reply. Milliseconds. */
const PATIENCE = 30_000;

/** A message of so many days ago, by the gallery's calendar. */
function said(role, daysAgo, time, content) {
  const [hour, minute] = time.split(":").map(Number);
  return { role, content, createdAt: new Date(2026, 2, 12 - daysAgo, hour, minute).toISOString() };
}

const SHORT = [
  said("visitor", 0, "09:17", "Can I book a workshop for two?"),
  said("assistant", 0, "09:17", "You can. Each Saturday has [six places](https://kiln.example/workshops)."),
];

const ALL_MARKS = `## Delivery
Three days, *usually*, **never** ~~two~~; see [our terms of delivery](https://kiln.example/terms).

1. Order
   - a pot
     - with a lid
   - a bowl
2. Pay with \`KC-2041\`, which is the number that stands on the first page of your order

> Fragile, this side up, and do not let it fall down the stairs
> > says the box

---
### Prices

| Size | Price |
| --- | --- |
| S | 5 |
| Medium | 15 |

\`\`\`
npm install pots
\`\`\``;

const MARKDOWN = [
  said("visitor", 0, "09:17", "How do I order, and what does it cost?"),
  said("assistant", 0, "09:17", ALL_MARKS),
];

const CONVERSATION = [
  said("visitor", 1, "17:40", "Which bowls fit the Furrow plates?"),
  said(
    "assistant",
    1,
    "17:40",
    "The **Furrow bowl** does. All of these stack:\n\n" +
      "| Piece | Size | Price |\n| --- | --- | ---: |\n| Furrow bowl | 16 cm | 28.00 |\n| Furrow plate | 26 cm | 34.00 |\n" +
      "| Table for two | two of each | 112.00 |\n\nMore in [the shop](https://kiln.example/tableware).",
  ),
  said("visitor", 1, "17:42", "A piece of my last order came broken."),
  said(
    "assistant",
    1,
    "17:42",
    "I am sorry about that. We replace it or refund it, as you like:\n\n" +
      "1. Keep the box, no need to send anything back.\n2. Take a photo of the piece and one of the box.\n" +
      "3. Send us both with your order number, which begins with `KC-`.",
  ),
  said("visitor", 1, "17:44", "Can our guest house show your stock on its page?"),
  said(
    "assistant",
    1,
    "17:44",
    "It can. Paste this where the list should be:\n\n" +
      '```html\n<script async src="https://kiln.example/stock.js"\n  data-pieces="mug,bowl,plate" data-currency="EUR"></script>\n```',
  ),
];

const WITH_PERSON = [
  ...CONVERSATION.slice(2, 4),
  said("operator", 0, "09:14", "Good morning, Maren here."),
  said("operator", 0, "09:14", "I saw your photos. Shall I send a new bowl with Friday's parcel?"),
  said("visitor", 0, "09:15", "Yes please"),
];

const LONG = Array.from({ length: 200 }, (_, index) => {
  const { role, content } = CONVERSATION[index % CONVERSATION.length];
  const minutes = (index % 50) * 3;
  const time = `${10 + Math.floor(minutes / 60)}:${minutes % 60}`;
  return said(role, 4 - Math.floor(index / 50), time, content);
});

const NOBODY_BREAKS = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
const EDGES = [
  said("visitor", 0, "09:02", `${NOBODY_BREAKS} ok`),
  said(
    "assistant",
    0,
    "09:02",
    `The setting is \`shop.basket.calendar.synchronisation.interval_minutes.${"winter_".repeat(8)}\`, and your address stays ` +
      `https://kiln.example/${"tableware/".repeat(14)}?from=2026-03-12`,
  ),
  said(
    "assistant",
    0,
    "09:03",
    "A log, as you asked:\n\n```\n" +
      Array.from({ length: 24 }, (_, line) => `09:${10 + line} kiln 2 ${"holding at 1240 degrees, ".repeat(4)}`).join("\n") +
      "\n```",
  ),
  said(
    "assistant",
    0,
    "09:04",
    `|${" Piece | Size | Weight | Colours | Price |".repeat(2)}\n|${" --- |".repeat(10)}\n` +
      `|${" Furrow bowl | 16 cm | 420 g | oat, slate blue | 28.00 |".repeat(2)}\n\n` +
      "Log in at [kiln.example](https://help.partner.example/login).",
  ),
  said("visitor", 0, "09:05", "😀".repeat(60)),
];

const ARABIC = {
  assistantName: "برسيم",
  welcomeMessage: "مرحبًا! أنا برسيم، مساعد المتجر. اسألني عن أوانينا أو التوصيل أو الورشات.",
};
const ARABIC_CONVERSATION = [
  said("visitor", 1, "17:40", "كم يستغرق التوصيل؟"),
  said(
    "assistant",
    1,
    "17:40",
    "يستغرق **من يومين إلى أربعة أيام عمل**:\n\n1. نغلّف الطلب خلال يوم.\n2. نرسل رابط التتبّع بالبريد.\n3. يصل الطرد عبر `DHL`.\n\n" +
      "للمزيد زر [صفحة المساعدة](https://kiln.example/help).",
  ),
  said("operator", 0, "09:14", "صباح الخير، معك مارين. وصلتني صورك للطلب KC-2041."),
  said("operator", 0, "09:14", "| القطعة | السعر |\n| --- | --- |\n| وعاء Furrow | 28.00 |\n| طبق Furrow | 34.00 |"),
  said("visitor", 0, "09:15", "نعم من فضلك"),
];

/** Opens the window, and asks. */
async function ask({ widget, open }, question) {
  await open();
  widget.sendMessage(question);
}

/** Asks, and waits for a part of the window. */
const asks = (question, part) => async (page) => {
  await ask(page, question);
  await page.until(() => page.count(part) > 0);
};

/** A person writes twice while nobody looks. */
async function missesTwo({ service, until, count }) {
  // The second read finds nothing more: from here on, what comes is new.
  await until(() => service.reads > 1);
  service.says("operator", "Good morning, Maren here.");
  service.says("operator", "Shall I send a new bowl with Friday's parcel?");
  await until(() => count("badge") > 0);
}

const opens = async ({ open }) => open();

export const STATES = {
  closed: {
    title: "Closed",
    about: "The launcher alone, before anything was asked.",
    config: SHOP,
    reach: async ({ until, count }) => until(() => count("launcher") > 0),
  },
  greeting: {
    title: "Greeting",
    about: "A few words beside the closed launcher.",
    config: SHOP,
    options: { greeting: { text: "The workshops of April are open. Shall I look for a place?", after: 0 } },
    reach: async ({ until, count }) => until(() => count("preview") > 0),
  },
  unread: {
    title: "Unread",
    about: "A person wrote twice while the window was closed.",
    config: SHOP,
    history: CONVERSATION,
    reach: missesTwo,
  },
  returned: {
    title: "Returned",
    about: "The window was opened on what a person wrote: a line says from where it is unread.",
    config: SHOP,
    history: CONVERSATION,
    personHere: true,
    options: { operatorName: "Maren" },
    reach: async (page) => {
      await missesTwo(page);
      await page.open();
      await page.until(() => page.widget.state.operatorOnline);
    },
  },
  empty: {
    title: "Empty",
    about: "The window before the first message: the introduction, the welcome and questions to begin with.",
    config: SHOP,
    options: { suggestedQuestions: QUESTIONS },
    reach: opens,
  },
  short: {
    title: "Short",
    about: "A question, an answer with a link, and a draft. The sheet of the themes shows this.",
    config: SHOP,
    history: SHORT,
    personHere: true,
    options: { operatorName: "Maren" },
    reach: async ({ widget, open, until }) => {
      await open();
      widget.setDraft("For this Saturday");
      await until(() => widget.state.operatorOnline);
    },
  },
  conversation: {
    title: "Conversation",
    about: "Questions and answers with emphasis, a list, a table, code and a link.",
    config: SHOP,
    history: CONVERSATION,
    reach: opens,
  },
  markdown: {
    title: "Markdown",
    about: "Everything that Markdown may say, in one bubble.",
    config: SHOP,
    history: MARKDOWN,
    reach: opens,
  },
  operator: {
    title: "Operator",
    about: "A person has taken over, and is here.",
    config: SHOP,
    history: WITH_PERSON,
    personHere: true,
    options: { operatorName: "Maren" },
    reach: async ({ widget, open, until }) => {
      await open();
      await until(() => widget.state.operatorOnline);
    },
  },
  typing: {
    title: "Typing",
    about: "A message is on its way, and its answer is being written.",
    config: SHOP,
    history: SHORT,
    outcome: { silent: true },
    reach: asks("Is there still room this Saturday?", "typing"),
  },
  failed: {
    title: "Failed",
    about: "A message was not taken, and can be tried again.",
    config: SHOP,
    history: SHORT,
    outcome: { status: 400 },
    reach: asks("Is there still room this Saturday?", "message-failed"),
  },
  noreply: {
    title: "No reply",
    about: "A message arrived, and no answer came.",
    config: SHOP,
    history: SHORT,
    outcome: { aiStatus: "provider_error" },
    reach: async (page) => {
      const { widget, clock, until, count } = page;
      let arrived = false;
      widget.once("message", () => (arrived = true));
      await ask(page, "Is there still room this Saturday?");
      await until(() => arrived);
      clock.skip(PATIENCE);
      await until(() => count("notice") > 0);
    },
  },
  offline: {
    title: "Offline",
    about: "There is no network, and a message waits for it.",
    config: SHOP,
    history: SHORT,
    reach: async (page) => {
      await page.open();
      goOffline();
      await asks("Is there still room this Saturday?", "notice")(page);
    },
  },
  quota: {
    title: "Quota",
    about: "The site's quota is used up: a card stands in place of the composer.",
    config: SHOP,
    history: SHORT,
    outcome: { aiStatus: "quota_insufficient" },
    reach: asks("Is there still room this Saturday?", "notice"),
  },
  blocked: {
    title: "Blocked",
    about: "The visitor is blocked: a card stands in place of the composer.",
    config: SHOP,
    history: SHORT,
    outcome: { aiStatus: "blocked", blocked: true },
    reach: asks("Is there still room this Saturday?", "notice"),
  },
  form: {
    title: "Form",
    about: "A person is needed and nobody is there: the visitor leaves an address, which is not one yet.",
    config: SHOP,
    history: SHORT,
    outcome: { lead: { needsHandoff: true } },
    reach: async (page) => {
      await asks("Can somebody call me about twelve bowls?", "form")(page);
      const form = page.root.querySelector("[part=form]");
      form.elements.name.value = "Ingrid Solberg";
      form.elements.email.value = "ingrid@";
      form.requestSubmit();
      await page.until(() => form.querySelector("[role=alert], .cw-error"));
    },
  },
  mydata: {
    title: "My data",
    about: "What is kept here, over the conversation.",
    config: SHOP,
    history: SHORT,
    reach: async ({ root, open, until, count }) => {
      await open();
      root.querySelector("[part=menu]").click();
      await until(() => count("panel") > 0);
    },
  },
  composer: {
    title: "Composer",
    about: "A message near the most that can be sent: the field has its full height, and counts.",
    config: SHOP,
    history: SHORT,
    reach: async ({ widget, open }) => {
      await open();
      widget.setDraft("We would like twelve bowls and plates for our guest house, in oat. ".repeat(58));
    },
  },
  long: {
    title: "Long",
    about: "200 messages of four days.",
    config: SHOP,
    history: LONG,
    reach: opens,
  },
  scrolled: {
    title: "Scrolled",
    about: "The visitor reads back, and two messages came in: a button leads to them.",
    config: SHOP,
    history: CONVERSATION,
    reach: async ({ service, root, open, until }) => {
      await open();
      const log = root.querySelector("[part=log]");
      while (!root.querySelector(".cw-jump")) {
        // More than once: the log still goes to its end while what came in is laid out.
        log.scrollTop = (log.scrollHeight - log.clientHeight) / 2;
        await new Promise(requestAnimationFrame);
      }
      service.says("operator", "Good morning, Maren here.");
      service.says("operator", "Shall I send a new bowl with Friday's parcel?");
      await until(() => root.querySelector(".cw-jump span"));
    },
  },
  edges: {
    title: "Edges",
    about: "What does not fit: long names and words, long addresses, much code, a wide table.",
    config: { ...SHOP, assistantName: "Clover of the Kiln & Clover Pottery and Workshops in Aldermere" },
    history: EDGES,
    reach: opens,
  },
  inline: {
    title: "Inline",
    about: "In an element of the page, as large as it, and always open.",
    config: SHOP,
    history: WITH_PERSON,
    personHere: true,
    options: { operatorName: "Maren", container: "#container" },
    reach: opens,
  },
  rtl: {
    title: "Right to left",
    about: "Arabic, with Latin letters in between.",
    config: ARABIC,
    history: ARABIC_CONVERSATION,
    options: { locale: "ar", suggestedQuestions: [] },
    reach: opens,
  },
};
