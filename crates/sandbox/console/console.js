// The operator console: looks again whenever the sandbox says that something changed.

import { at, call, element, looking, post, replace, tell, time, together } from "./page.js";

const rooms = document.querySelector(".rooms");
const drafts = new Map();
let chosen = null;
let shown = "";

const nameOf = ({ id, visitor }) => visitor.name || visitor.email || visitor.phone || `Visitor ${id.slice(5, 9)}`;
const roleNames = { visitor: "Visitor", assistant: "Assistant", operator: "You" };

function showList(conversations) {
  const entries = conversations.map((conversation) => {
    const button = element("button", "entry");
    button.type = "button";
    button.dataset.step = "choose";
    button.setAttribute("aria-current", String(conversation.id === chosen));
    button.append(element("span", "name", nameOf(conversation)));
    if (conversation.lastMessage) button.append(time(conversation.lastMessage.createdAt));
    button.append(element("span", "last", conversation.lastMessage?.content ?? ""));
    if (conversation.unread > 0) {
      const unread = element("span", "unread", String(conversation.unread));
      unread.setAttribute("aria-label", `${conversation.unread} unread`);
      button.append(unread);
    }
    button.addEventListener("click", () => choose(conversation.id));
    const item = element("li");
    item.dataset.id = conversation.id;
    item.append(button);
    return item;
  });
  replace(at("conversations"), entries);
  at("nobody").hidden = conversations.length > 0;
  const unread = conversations.reduce((sum, conversation) => sum + conversation.unread, 0);
  document.title = unread > 0 ? `(${unread}) Operator console` : "Operator console";
}

function showMessages(conversation) {
  const log = at("log");
  const atEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 48;
  const known = new Set([...log.children].map((child) => child.dataset.id));
  if (shown !== conversation.id) log.replaceChildren();
  for (const message of conversation.messages) {
    if (shown === conversation.id && known.has(message.id)) continue;
    const made = element("article", `message ${message.role}`);
    made.dataset.id = message.id;
    const by = element("p", "by", `${roleNames[message.role] ?? message.role}, `);
    by.append(time(message.createdAt));
    made.append(by, element("div", "bubble", message.content));
    log.append(made);
  }
  if (atEnd || shown !== conversation.id) log.scrollTop = log.scrollHeight;
  shown = conversation.id;
}

function showLead({ score = 0, hasContact, needsHandoff, summary }) {
  const meter = element("meter");
  meter.max = 100;
  meter.value = score;
  meter.setAttribute("aria-label", "Intent");
  const tags = element("p", "tags");
  tags.append(element("span", hasContact ? "tag good" : "tag", hasContact ? "Can be reached" : "No contact details"));
  if (needsHandoff) tags.append(element("span", "tag warm", "Wants a person"));
  at("lead").replaceChildren(element("p", "score", `${score} of 100`), meter, tags, element("p", "", summary ?? ""));
}

function showVisitor({ visitor, locale, sourcePage, id }) {
  tell(at("visitor"), {
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
  const items = events.slice(-50).reverse().map((event) => {
    const item = element("li");
    const head = element("p");
    head.append(element("span", "type", event.eventType), " ", time(event.receivedAt));
    item.append(head, element("p", "what", together(event.title, event.path, event.eventData?.label)));
    return item;
  });
  at("events").replaceChildren(...items);
}

async function showConversation() {
  const id = chosen;
  if (!id) return;
  const conversation = await call(`conversations/${encodeURIComponent(id)}`);
  if (id !== chosen) return;
  at("who").textContent = nameOf(conversation);
  showMessages(conversation);
  showLead(conversation.lead);
  showVisitor(conversation);
  showEvents(conversation.events);
  if (conversation.unread > 0 && document.visibilityState === "visible") {
    await post(`conversations/${encodeURIComponent(id)}/read`);
  }
}

const look = looking(async () => {
  const conversations = await call("conversations");
  if (chosen && !conversations.some(({ id }) => id === chosen)) leave();
  showList(conversations);
  await showConversation();
});

/** On a screen that has no room for both: the visitor in place of the messages, or back. */
function tellAbout(visitor) {
  rooms.classList.toggle("telling", visitor);
  at("tell").setAttribute("aria-expanded", String(visitor));
}

function choose(id) {
  if (chosen) drafts.set(chosen, at("text").value);
  chosen = id;
  rooms.classList.add("chosen");
  tellAbout(false);
  at("text").value = drafts.get(id) ?? "";
  at("text").disabled = at("send").disabled = false;
  at("problem").textContent = "";
  at("text").focus();
  look();
}

function leave() {
  if (chosen) drafts.set(chosen, at("text").value);
  chosen = null;
  shown = "";
  rooms.classList.remove("chosen");
  tellAbout(false);
  at("who").textContent = "No conversation chosen";
  at("text").value = "";
  at("text").disabled = at("send").disabled = true;
  for (const id of ["log", "lead", "visitor", "events"]) at(id).replaceChildren();
}

async function send() {
  const content = at("text").value;
  if (!chosen || content.trim() === "" || at("send").disabled) return;
  const to = chosen;
  at("send").disabled = true;
  at("problem").textContent = "";
  try {
    await post(`conversations/${encodeURIComponent(to)}/messages`, { content });
    drafts.delete(to);
    if (to === chosen) at("text").value = "";
  } catch (error) {
    at("problem").textContent = `Not sent: ${error.message}`;
  } finally {
    at("send").disabled = !chosen;
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
at("tell").addEventListener("click", () => tellAbout(!rooms.classList.contains("telling")));
at("back").addEventListener("click", () => {
  leave();
  look();
});
document.addEventListener("visibilitychange", look);

function showStatus(text, online) {
  at("status").firstElementChild.textContent = text;
  at("status").classList.toggle("online", online);
}

const changes = new EventSource("/operator/api/changes");
changes.addEventListener("open", () => showStatus("You are online", true));
changes.addEventListener("error", () => showStatus("Not connected, trying again", false));
changes.addEventListener("change", () => {
  look();
  dispatchEvent(new Event("console-change"));
});
