// The conversations view: the list, the chosen conversation, and what can be done with it.

import { clearAbout, showAbout } from "./about.js";
import { conversationPath, get, patch } from "./api.js";
import { compose, forgetDrafts, whenSent } from "./composer.js";
import { time } from "./dates.js";
import { clearLog, goToEnd, showLog } from "./log.js";
import { at, element, nameOf, replaceRows, serialised } from "./page.js";

/** Maximum length of a message's excerpt in the list, in characters. */
const MAX_EXCERPT = 200;
/** Conversations of each state on a page, and the most that are loaded. */
const PAGE = 50;
const MAX_LISTED = 200;
/** A pause that ends later than this lasts until it is ended: a year, in milliseconds. */
const ENDLESS_MS = 365 * 24 * 60 * 60 * 1000;

/** The queries of each choice of the filter. */
const FILTERS = {
  "": ["status=waiting", "status=open"],
  waiting: ["status=waiting"],
  open: ["status=open"],
  closed: ["status=closed"],
  mine: ["status=waiting&assignee=me", "status=open&assignee=me"],
};
const STATES = { waiting: "Waiting", open: "Open", closed: "Closed" };

const rooms = at("view-conversations");
let me = null;
/** The id of the operator who wrote the drafts. */
let author = null;
let chosen = null;
let current = null;
let limit = PAGE;
let operators = new Map();
let sites = new Map();

/** Truncates a text between code points. */
function excerpt(text) {
  const characters = [...text];
  return characters.length > MAX_EXCERPT ? `${characters.slice(0, MAX_EXCERPT).join("")}…` : text;
}

function entryOf(conversation) {
  const { id, lastMessage, unread, status, lead } = conversation;
  const button = element("button", "entry");
  button.type = "button";
  if (id === chosen) button.setAttribute("aria-current", "true");
  const name = element("span", "name", nameOf(conversation));
  name.title = name.textContent;
  name.dir = "auto";
  const head = element("span", "line");
  head.append(name, " ", time(conversation.updatedAt));
  const last = element("span", "last", excerpt(lastMessage?.content ?? ""));
  last.dir = "auto";
  const body = element("span", "line");
  body.append(last, " ");
  if (unread > 0) {
    const badge = element("span", "unread", String(unread));
    badge.append(element("span", "for-readers", " unread"));
    body.append(badge);
  }
  button.append(head, " ", body, " ");
  const tags = element("span", "tags");
  if (status !== "open") tags.append(element("span", status === "waiting" ? "tag warm" : "tag", STATES[status]), " ");
  if (lead?.needsHandoff && status !== "waiting") tags.append(element("span", "tag warm", "Wants a person"), " ");
  if (sites.size > 1) tags.append(element("span", "tag", sites.get(conversation.siteId) ?? ""), " ");
  if (tags.childNodes.length > 0) button.append(tags);
  button.addEventListener("click", () => {
    if (id === chosen) openConversation(id);
    else location.hash = `#conversation=${encodeURIComponent(id)}`;
  });
  const item = element("li");
  item.dataset.id = id;
  item.append(button);
  return item;
}

/** Those who wait come first, the longest wait before all others. */
function inOrder(one, other) {
  const [first, second] = [one, other].map(({ status }) => (status === "waiting" ? 0 : 1));
  if (first !== second) return first - second;
  if (first === 0) return (one.waitingSince ?? "") < (other.waitingSince ?? "") ? -1 : 1;
  return one.updatedAt > other.updatedAt ? -1 : 1;
}

async function showList() {
  const filter = at("filter-status").value;
  const queries = FILTERS[filter].map((query) => get(`conversations?${query}&limit=${limit}`));
  const pages = await Promise.all(queries);
  if (filter !== at("filter-status").value) return;
  const conversations = pages.flatMap((page) => page.conversations).sort(inOrder);
  replaceRows(at("conversations"), conversations.map(entryOf));
  at("nobody").hidden = conversations.length > 0;
  at("more").hidden = limit >= MAX_LISTED || pages.every((page) => !page.nextBefore);
  const unread = conversations.reduce((sum, { unread }) => sum + unread, 0);
  document.title = unread > 0 ? `(${unread}) Console` : "Console";
}

function showTag(id, text, className = "tag") {
  at(id).hidden = !text;
  at(id).textContent = text;
  at(id).className = className;
}

const isPaused = ({ aiPausedUntil }) => Date.parse(aiPausedUntil ?? "") > Date.now();

function aiState(conversation) {
  if (!isPaused(conversation)) return "The AI answers";
  const end = new Date(conversation.aiPausedUntil);
  return end - Date.now() > ENDLESS_MS ? "The AI is off" : `The AI is off until ${time(end.toISOString()).textContent}`;
}

function showHead(conversation) {
  at("who").textContent = nameOf(conversation);
  const { status, assigneeId } = conversation;
  showTag("state", STATES[status] ?? status, status === "waiting" ? "tag warm" : "tag");
  showTag("ai-state", aiState(conversation));
  const name = assigneeId === me.id ? "you" : (operators.get(assigneeId) ?? "a colleague");
  showTag("assignee", assigneeId ? `Assigned to ${name}` : "");
  at("actions").hidden = false;
  at("assign").hidden = assigneeId === me.id;
  at("toggle-ai").textContent = isPaused(conversation) ? "Let the AI answer" : "Take over";
  at("close").textContent = status === "closed" ? "Reopen" : "Close";
}

async function showConversation() {
  const id = chosen;
  if (!id) return;
  const conversation = await get(conversationPath(id)).catch((error) => {
    if (error.status !== 404) throw error;
  });
  if (id !== chosen) return;
  if (!conversation) {
    leave();
    at("list-problem").textContent = "This conversation does not exist.";
    return;
  }
  current = conversation;
  showHead(conversation);
  showLog(conversation);
  showAbout(conversation, sites.get(conversation.siteId));
  if (conversation.unread > 0 && document.visibilityState === "visible") {
    await patch(conversationPath(id), { read: true });
  }
}

async function loadNames() {
  const [people, known] = await Promise.all([get("operators"), get("sites")]);
  operators = new Map(people.operators.map(({ id, name }) => [id, name]));
  sites = new Map(known.map(({ id, name }) => [id, name]));
}

/** Loads the list and the chosen conversation again. Once signed out, it does nothing. */
export const reloadConversations = serialised(async () => {
  if (!me) return;
  try {
    if (operators.size === 0) await loadNames();
    await Promise.all([showList(), showConversation()]);
    at("list-problem").textContent = "";
  } catch (error) {
    if (error.status !== 401) at("list-problem").textContent = error.message;
  }
});

/** Switches between the visitor's details and the messages on a narrow screen. */
function showDetails(visitor) {
  rooms.classList.toggle("telling", visitor);
  at("tell").setAttribute("aria-expanded", String(visitor));
}

function leave() {
  chosen = current = null;
  rooms.classList.remove("chosen");
  showDetails(false);
  compose(null);
  at("who").textContent = "No conversation chosen";
  for (const id of ["state", "ai-state", "assignee"]) showTag(id, "");
  at("actions").hidden = true;
  at("action-problem").textContent = "";
  clearLog();
  clearAbout();
}

/** Shows a conversation by its encoded id, or the list alone. */
export function openConversation(encoded) {
  const id = encoded ? decode(encoded) : null;
  if (!id) {
    if (chosen) leave();
  } else {
    if (chosen !== id) {
      leave();
      chosen = id;
      compose(id);
    }
    rooms.classList.add("chosen");
    showDetails(false);
    // On a touch screen, the keyboard would cover the conversation before it is read.
    at(matchMedia("(pointer: coarse)").matches ? "who" : "text").focus();
  }
  reloadConversations();
}

function decode(encoded) {
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
}

/** Loads the names of operators and sites again, and everything that shows them. */
export function reloadNames() {
  operators = new Map();
  reloadConversations();
}

/**
 * Begins with nothing shown, for an operator or for nobody. Drafts are kept for the operator who wrote them, whose session
 * may have ended meanwhile.
 */
export function resetConversations(operator) {
  leave();
  if (operator && operator.id !== author) {
    forgetDrafts();
    author = operator.id;
  }
  me = operator;
  limit = PAGE;
  operators = new Map();
  sites = new Map();
  at("conversations").replaceChildren();
  at("list-problem").textContent = "";
}

/** Changes the chosen conversation. */
async function change(changes) {
  const id = chosen;
  at("action-problem").textContent = "";
  try {
    await patch(conversationPath(id), changes);
    await reloadConversations();
  } catch (error) {
    if (id === chosen) at("action-problem").textContent = error.message;
  }
}

at("assign").addEventListener("click", () => {
  change({ assigneeId: me.id });
  at("text").focus();
});
at("toggle-ai").addEventListener("click", () =>
  change(current && isPaused(current) ? { aiPaused: false } : { aiPaused: true, assigneeId: me.id }),
);
at("close").addEventListener("click", () => change({ status: current?.status === "closed" ? "open" : "closed" }));
at("tell").addEventListener("click", () => showDetails(!rooms.classList.contains("telling")));
at("back").addEventListener("click", () => {
  const id = chosen;
  location.hash = "#conversations";
  leave();
  at("conversations")
    .querySelector(`li[data-id="${CSS.escape(id)}"] .entry`)
    ?.focus();
});
at("filter-status").addEventListener("change", () => {
  limit = PAGE;
  reloadConversations();
});
at("more").addEventListener("click", () => {
  limit = Math.min(limit + PAGE, MAX_LISTED);
  reloadConversations();
});
whenSent(async (id) => {
  if (id === chosen) goToEnd();
  await reloadConversations();
});
