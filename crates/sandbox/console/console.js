// The operator console: looks again whenever the sandbox says that something changed.
// Everything that a visitor wrote goes onto the page as text.

const at = (id) => document.getElementById(id);
const rooms = document.querySelector(".rooms");
const drafts = new Map();
let chosen = null;
let shown = "";

async function call(path, options) {
  const response = await fetch(`/operator/api/${path}`, options);
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Error(answer?.error?.message ?? `The sandbox answered ${response.status}.`);
  return answer;
}

const post = (path, body = {}) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function time(iso) {
  const made = element("time", "", new Date(iso).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }));
  made.dateTime = iso;
  return made;
}

const nameOf = ({ id, visitor }) => visitor.name || visitor.email || visitor.phone || `Visitor ${id.slice(5, 9)}`;
const roleNames = { visitor: "Visitor", assistant: "Assistant", operator: "You" };

function showList(conversations) {
  const focused = document.activeElement?.dataset?.id;
  const entries = conversations.map((conversation) => {
    const button = element("button", "entry");
    button.type = "button";
    button.dataset.id = conversation.id;
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
    item.append(button);
    return item;
  });
  at("conversations").replaceChildren(...entries);
  if (focused) at("conversations").querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
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
  const told = { ...visitor, locale, page: sourcePage, conversation: id };
  const pairs = Object.entries(told).filter(([, value]) => value);
  at("visitor").replaceChildren(...pairs.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

function showEvents(events) {
  const items = events.slice(-50).reverse().map((event) => {
    const item = element("li");
    const head = element("p");
    head.append(element("span", "type", event.eventType), " ", time(event.receivedAt));
    const what = [event.title, event.path, event.eventData?.label].filter(Boolean).join(", ");
    item.append(head, element("p", "what", what));
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

let looking = false;
let lookAgain = false;

async function look() {
  if (looking) {
    lookAgain = true;
    return;
  }
  looking = true;
  try {
    do {
      lookAgain = false;
      const conversations = await call("conversations");
      if (chosen && !conversations.some(({ id }) => id === chosen)) leave();
      showList(conversations);
      await showConversation();
    } while (lookAgain);
  } catch {
    // The stream of changes says that the sandbox is gone, and calls again when it is back.
  } finally {
    looking = false;
  }
}

function choose(id) {
  if (chosen) drafts.set(chosen, at("text").value);
  chosen = id;
  rooms.classList.add("chosen");
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
  at("who").textContent = "No conversation chosen";
  at("text").value = "";
  at("text").disabled = at("send").disabled = true;
  at("lead").replaceChildren(element("p", "hint", "Choose a conversation."));
  for (const id of ["log", "visitor", "events"]) at(id).replaceChildren();
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
at("back").addEventListener("click", () => {
  leave();
  look();
});
document.addEventListener("visibilitychange", look);

const changes = new EventSource("/operator/api/changes");
changes.addEventListener("open", () => {
  at("status").textContent = "You are online";
  at("status").classList.add("online");
});
changes.addEventListener("error", () => {
  at("status").textContent = "Not connected, trying again";
  at("status").classList.remove("online");
});
changes.addEventListener("change", () => {
  look();
  dispatchEvent(new Event("console-change"));
});
