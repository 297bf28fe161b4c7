// The states of the gallery. Each has the service's data and responses, and the steps into the state.
//
// - `title`, `about`: the texts of the overview.
// - `config`: the site's config; `history`: earlier messages; `personHere`: whether an operator is online;
//   `presence`: further fields of the presence.
// - `outcome`: the outcome of a message, or a function from its text to the outcome. `status` rejects it, `silent` accepts it
//   without a reply, `delay` and `answer` are the reply's; other fields go into the response.
// - `options`: options of the widget besides the gallery's own.
// - `reach`: brings the widget into the state, and waits until it is shown.

import {
  ARABIC,
  ARABIC_CONVERSATION,
  CONVERSATION,
  EDGES,
  LONG,
  MARKDOWN,
  SHORT,
  WITH_PERSON,
} from "./conversations.js";
import {
  asks,
  GOOD_MORNING,
  headed,
  leavesAddress,
  missesSome,
  OFFER,
  opens,
  opensMenu,
  QUESTION,
  waits,
} from "./reach.js";
import { goOffline } from "./stand-in.js";

export const SHOP = {
  assistantName: "Clover",
  welcomeMessage: "Hello! I am Clover, the shop's assistant. Ask me about our pots, delivery or the workshops.",
};
const QUESTIONS = ["How long does delivery take?", "Are the mugs dishwasher safe?", "Can I book a workshop?"];

/** The outcome of a request for a person, and of the visitor's address. */
const needsPerson = (message) => ({
  lead: { needsHandoff: true },
  answer: message.includes("@") ? "Thank you, Maren has your address." : "I have passed that on to Maren.",
});

export const STATES = {
  closed: {
    title: "Closed",
    about: "Only the launcher, before the first message.",
    config: SHOP,
    reach: async ({ until, count }) => until(() => count("launcher") > 0),
  },
  greeting: {
    title: "Greeting",
    about: "A short text beside the closed launcher.",
    config: SHOP,
    options: { greeting: { text: "The workshops of April are open. Shall I look for a place?", after: 0 } },
    reach: async ({ until, count }) => until(() => count("preview") > 0),
  },
  unread: {
    title: "Unread",
    about: "A person wrote twice while the window was closed. The launcher shows the number, without a preview.",
    config: SHOP,
    history: CONVERSATION,
    options: { preview: false },
    reach: (page) => missesSome(page, GOOD_MORNING, OFFER),
  },
  preview: {
    title: "Preview",
    about: "A person wrote while the window was closed. Their name and the first lines appear beside the launcher.",
    config: SHOP,
    history: CONVERSATION,
    options: { operatorName: "Maren" },
    reach: async (page) => {
      await missesSome(page, GOOD_MORNING);
      await page.until(() => page.count("preview") > 0);
    },
  },
  "launcher-failed": {
    title: "Launcher, not sent",
    about: "A message was not sent, and the visitor closed the window. The launcher has a mark.",
    config: SHOP,
    history: SHORT,
    outcome: { status: 400 },
    reach: async (page) => {
      await asks(QUESTION, "message-failed")(page);
      page.widget.close();
      await page.until(() => page.count("badge") > 0);
    },
  },
  returned: {
    title: "Returned",
    about: "The visitor opened the window after a person wrote. A line marks the first unread message.",
    config: SHOP,
    history: CONVERSATION,
    personHere: true,
    options: { operatorName: "Maren" },
    reach: async (page) => {
      await missesSome(page, GOOD_MORNING, OFFER);
      await page.open();
      await page.until(() => page.widget.state.operatorOnline);
    },
  },
  empty: {
    title: "Empty",
    about: "The window before the first message: the introduction, the welcome message and suggested questions.",
    config: SHOP,
    options: { suggestedQuestions: QUESTIONS },
    reach: opens,
  },
  short: {
    title: "Short",
    about: "A question, an answer with a link, and a draft. The pictures of the themes show this state.",
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
    about: "All supported Markdown, in one bubble.",
    config: SHOP,
    history: MARKDOWN,
    reach: opens,
  },
  operator: {
    title: "Operator",
    about: "A person has taken over and is online. The header shows their name.",
    config: SHOP,
    history: WITH_PERSON,
    personHere: true,
    options: { operatorName: "Maren" },
    reach: async (page) => {
      await page.open();
      await page.until(() => page.widget.state.operatorOnline);
      await headed(page);
    },
  },
  joined: {
    title: "Joined",
    about: "The visitor asked for a person, and one takes over. A line says so, and the header changes.",
    config: SHOP,
    history: SHORT,
    personHere: true,
    options: { operatorName: "Maren" },
    reach: async (page) => {
      const { service, until, count } = page;
      await asks("I would like to talk to a person.", "message-visitor")(page);
      await until(() => count("message-assistant") > 1);
      service.says("operator", GOOD_MORNING);
      await until(() => count("joined") > 0);
      await headed(page);
    },
  },
  typing: {
    title: "Typing",
    about: "A message has arrived, and its answer is being written.",
    config: SHOP,
    history: SHORT,
    outcome: { silent: true },
    reach: asks(QUESTION, "typing"),
  },
  wait: {
    title: "Wait",
    about: "No answer for twelve seconds. A text explains the wait.",
    config: SHOP,
    history: SHORT,
    outcome: { silent: true },
    reach: waits(12_000, "wait"),
  },
  "person-offered": {
    title: "Person offered",
    about: "No answer for twenty-six seconds. The visitor can ask for a person.",
    config: SHOP,
    history: SHORT,
    outcome: { silent: true },
    reach: waits(26_000, "ask-person"),
  },
  failed: {
    title: "Failed",
    about: "The service refused a message. The visitor can try again.",
    config: SHOP,
    history: SHORT,
    outcome: { status: 400 },
    reach: asks(QUESTION, "message-failed"),
  },
  noreply: {
    title: "No reply",
    about: "A message arrived, but the assistant failed. The visitor can ask again.",
    config: SHOP,
    history: SHORT,
    outcome: { aiStatus: "provider_error" },
    reach: asks(QUESTION, "notice"),
  },
  offline: {
    title: "Offline",
    about: "There is no network. A message waits until the network returns.",
    config: SHOP,
    history: SHORT,
    reach: async (page) => {
      await page.open();
      goOffline();
      await asks(QUESTION, "notice")(page);
    },
  },
  quota: {
    title: "Quota",
    about: "The site's quota is used up. The message is stored, and the visitor is offered a person.",
    config: SHOP,
    history: SHORT,
    outcome: { usedFallback: true, answer: "I cannot answer right now. One of us will read this." },
    reach: asks(QUESTION, "offer"),
  },
  blocked: {
    title: "Blocked",
    about: "The visitor is blocked. A card with the contact link replaces the composer.",
    config: SHOP,
    history: SHORT,
    options: { contact: "https://example.com/contact" },
    outcome: { aiStatus: "blocked", blocked: true },
    reach: asks(QUESTION, "notice"),
  },
  contact: {
    title: "Contact",
    about: "The visitor needs a person, and nobody is online. A line above the composer asks for an e-mail address.",
    config: SHOP,
    history: SHORT,
    outcome: needsPerson,
    reach: asks("Can somebody call me about twelve bowls?", "form"),
  },
  form: {
    title: "Contact, wrong address",
    about: "The contact line with an incomplete address.",
    config: SHOP,
    history: SHORT,
    outcome: needsPerson,
    reach: async (page) => {
      await leavesAddress(page, "ingrid@");
      await page.until(() => page.root.querySelector("[part=form] .cw-error"));
    },
  },
  "contact-done": {
    title: "Contact, done",
    about: "The visitor left an address. The widget says what happens next.",
    config: SHOP,
    history: SHORT,
    outcome: needsPerson,
    reach: async (page) => {
      await leavesAddress(page, "ingrid@example.com");
      await page.until(() => page.count("contact-done") > 0);
    },
  },
  menu: {
    title: "Menu",
    about: "The header's menu: the visitor's data, the sound, asking for a person, and leaving an e-mail address.",
    config: SHOP,
    history: SHORT,
    reach: opensMenu,
  },
  mydata: {
    title: "My data",
    about: "A panel over the conversation lists the data stored in this browser.",
    config: SHOP,
    history: SHORT,
    reach: async (page) => {
      await opensMenu(page);
      page.root.querySelector("[part~=menu-data]").click();
      await page.until(() => page.count("panel") > 0);
    },
  },
  composer: {
    title: "Composer",
    about: "A message near the maximum length. The field has its full height, and counts the characters left.",
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
    about: "The visitor has scrolled up, and two new messages arrived. A button leads to them.",
    config: SHOP,
    history: CONVERSATION,
    reach: async ({ service, root, open, until }) => {
      await open();
      const log = root.querySelector("[part=log]");
      while (!root.querySelector(".cw-jump")) {
        // Repeated, because the log scrolls to its end while the messages are laid out.
        log.scrollTop = (log.scrollHeight - log.clientHeight) / 2;
        await new Promise(requestAnimationFrame);
      }
      service.says("operator", GOOD_MORNING);
      service.says("operator", OFFER);
      await until(() => root.querySelector(".cw-jump span"));
    },
  },
  edges: {
    title: "Edges",
    about: "Content that does not fit: long names, words and addresses, much code, a wide table.",
    config: { ...SHOP, assistantName: "Clover of the Kiln & Clover Pottery and Workshops in Aldermere" },
    history: EDGES,
    reach: opens,
  },
  inline: {
    title: "Inline",
    about: "The window fills an element of the page, and is always open.",
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
