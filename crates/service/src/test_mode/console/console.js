// The conversations view of the operator console. It is reloaded whenever the sandbox announces a change.

import { time } from "./dates.js";
import { clearMessages, goToEnd, showMessages } from "./log.js";
import { at, call, element, joinParts, post, replaceRows, serialised, showFacts } from "./page.js";

/** Maximum length of a message's excerpt in the list, in characters. */
const MAX_EXCERPT = 200;

const rooms = document.querySelector(".rooms");
const drafts = new Map();
let chosen = null;
let sending = false;

const pathOf = (id) => `conversations/${encodeURIComponent(id)}`;
const nameOf = ({ id, visitor }) => visitor.name || visitor.email || visitor.phone || `Visitor ${id.slice(5, 9)}`;

/** Truncates a text between code points. */
function excerpt(text) {
  const characters = [...text];
  return characters.length > MAX_EXCERPT ? `${characters.slice(0, MAX_EXCERPT).join("")}…` : text;
}

function entryOf(conversation) {
  const { id, lastVisitorMessage, unread, wantsPerson } = conversation;
  const button = element("button", "entry");
  button.type = "button";
  button.dataset.step = "choose";
  button.setAttribute("aria-current", String(id === chosen));
  const name = element("span", "name", nameOf(conversation));
  name.title = name.textContent;
  const head = element("span", "line");
  head.append(name, " ", time(lastVisitorMessage?.createdAt));
  const last = element("span", "last", excerpt(lastVisitorMessage?.content ?? ""));
  last.dir = "auto";
  const body = element("span", "line");
  body.append(last, " ");
  if (unread > 0) {
    const badge = element("span", "unread", String(unread));
    badge.append(element("span", "for-readers", " unread"));
    body.append(badge);
  }
  button.append(head, " ", body, " ");
  if (wantsPerson) button.append(element("span", "tag warm", "Wants a person"));
  button.addEventListener("click", () => choose(id));
  const item = element("li");
  item.dataset.id = id;
  item.append(button);
  return item;
}

function showList(conversations) {
  replaceRows(at("conversations"), conversations.map(entryOf));
  at("nobody").hidden = conversations.length > 0;
  const unread = conversations.reduce((sum, conversation) => sum + conversation.unread, 0);
  document.title = unread > 0 ? `(${unread}) Operator console` : "Operator console";
}

function showLead({ score = 0, hasContact, summary }, wantsPerson) {
  const meter = element("meter");
  meter.max = 100;
  meter.value = score;
  meter.setAttribute("aria-label", "Intent");
  const tags = element("p", "tags");
  tags.append(element("span", hasContact ? "tag good" : "tag", hasContact ? "Can be reached" : "No contact details"));
  if (wantsPerson) tags.append(element("span", "tag warm", "Wants a person"));
  at("lead").replaceChildren(element("p", "score", `${score} of 100`), meter, tags, element("p", "", summary ?? ""));
}

function showVisitor({ visitor, locale, sourcePage, id }) {
  showFacts(at("visitor"), {
    Name: visitor.name,
    Email: visitor.email,
    Phone: visitor.phone,
    WeChat: visitor.wechat,
    WhatsApp: visitor.whatsapp,
    Company: visitor.company,
    Country: visitor.country,
    Language: locale,
    Page: sourcePage,
    Visitor: visitor.visitorId,
    Conversation: id,
  });
}

function showEvents(events) {
  const items = events
    .slice(-50)
    .reverse()
    .map((event) => {
      const item = element("li");
      const head = element("p");
      head.append(element("span", "type", event.eventType), " ", time(event.receivedAt));
      item.append(head, element("p", "what", joinParts(event.title, event.path, event.eventData?.label)));
      return item;
    });
  at("events").replaceChildren(...items);
}

async function showConversation() {
  const id = chosen;
  if (!id) return;
  const conversation = await call(pathOf(id));
  if (id !== chosen) return;
  at("who").textContent = nameOf(conversation);
  at("wants-person").hidden = !conversation.wantsPerson;
  showMessages(conversation);
  showLead(conversation.lead, conversation.wantsPerson);
  showVisitor(conversation);
  showEvents(conversation.events);
  if (conversation.unread > 0 && document.visibilityState === "visible") await post(`${pathOf(id)}/read`);
}

const reload = serialised(async () => {
  const conversations = await call("conversations");
  if (chosen && !conversations.some(({ id }) => id === chosen)) leave();
  showList(conversations);
  await showConversation();
});

/** Switches between the visitor's details and the messages on a narrow screen. */
function showDetails(visitor) {
  rooms.classList.toggle("telling", visitor);
  at("tell").setAttribute("aria-expanded", String(visitor));
}

function choose(id) {
  if (chosen) drafts.set(chosen, at("text").value);
  if (chosen !== id) clearMessages();
  chosen = id;
  rooms.classList.add("chosen");
  showDetails(false);
  at("text").value = drafts.get(id) ?? "";
  at("text").disabled = at("send").disabled = false;
  at("problem").textContent = "";
  // On a touch screen, the keyboard would cover the conversation before it is read.
  at(matchMedia("(pointer: coarse)").matches ? "who" : "text").focus();
  reload();
}

function leave() {
  if (chosen) drafts.set(chosen, at("text").value);
  chosen = null;
  rooms.classList.remove("chosen");
  showDetails(false);
  at("who").textContent = "No conversation chosen";
  at("wants-person").hidden = true;
  at("text").value = "";
  at("text").disabled = at("send").disabled = true;
  clearMessages();
  for (const id of ["lead", "visitor", "events"]) at(id).replaceChildren();
}

/** Returns the part of a draft that was typed after a text was sent. */
const draftAfter = (draft, sent) => (draft.startsWith(sent) ? draft.slice(sent.length).trimStart() : draft);

/** Sends the answer. The field keeps the focus and any text that is typed meanwhile. */
async function send() {
  const field = at("text");
  field.focus();
  const content = field.value;
  if (!chosen || sending || content.trim() === "") return;
  const to = chosen;
  sending = true;
  at("problem").textContent = "";
  try {
    await post(`${pathOf(to)}/messages`, { content });
    if (to === chosen) {
      field.value = draftAfter(field.value, content);
      goToEnd();
    } else {
      drafts.set(to, draftAfter(drafts.get(to) ?? "", content));
    }
  } catch (error) {
    if (to === chosen) at("problem").textContent = `Not sent: ${error.message}`;
  } finally {
    sending = false;
  }
}

at("answer").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
at("text").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
});
at("tell").addEventListener("click", () => showDetails(!rooms.classList.contains("telling")));
at("back").addEventListener("click", () => {
  const id = chosen;
  leave();
  at("conversations")
    .querySelector(`li[data-id="${CSS.escape(id)}"] .entry`)
    ?.focus();
  reload();
});
document.addEventListener("visibilitychange", reload);

function showStatus(text, online) {
  at("status").firstElementChild.textContent = text;
  at("status").classList.toggle("online", online);
}

const changes = new EventSource("/operator/api/changes");
changes.addEventListener("open", () => showStatus("You are online", true));
changes.addEventListener("error", () => showStatus("Not connected, trying again", false));
changes.addEventListener("change", () => {
  reload();
  dispatchEvent(new Event("console-change"));
});
