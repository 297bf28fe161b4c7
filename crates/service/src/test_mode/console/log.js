// The messages of the chosen conversation, day by day. The log stays at its end until the operator scrolls back.

import { onSameDay, time } from "./dates.js";
import { markdown, plainText } from "./markdown.js";
import { at, element } from "./page.js";

/** Maximum distance from the end at which the log counts as scrolled to the end, in pixels. */
const END_THRESHOLD_PX = 48;
const AUTHORS = { visitor: "Visitor", assistant: "Assistant", operator: "You" };

const log = at("log");
let shown;
let day;
let isAtEnd = true;
let measured = "";

const measure = () => `${log.clientWidth} ${log.clientHeight} ${log.scrollHeight}`;

function keepAtEnd() {
  if (isAtEnd) log.scrollTop = log.scrollHeight;
  measured = measure();
}

/** Notes the operator's scrolling, but not the browser's when the log changes its size. */
function onScroll() {
  if (measure() !== measured) return;
  isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < END_THRESHOLD_PX;
}

log.addEventListener("scroll", onScroll);
new ResizeObserver(keepAtEnd).observe(log);

/** Returns the container of a message's day. A message of another day begins a new container with its caption. */
function dayOf({ createdAt }) {
  if (day && onSameDay(day.createdAt, createdAt)) return day.messages;
  const messages = element("div", "day");
  const caption = element("p", "caption");
  caption.append(time(createdAt, "day"));
  messages.append(caption);
  log.append(messages);
  day = { createdAt, messages };
  return messages;
}

function articleOf(message) {
  const article = element("article", `message ${message.role}`);
  article.dataset.id = message.id;
  const by = element("p", "by", `${AUTHORS[message.role] ?? message.role}, `);
  by.append(time(message.createdAt, "clock"));
  const isVisitor = message.role === "visitor";
  const bubble = element("div", isVisitor ? "bubble" : "bubble formatted");
  if (isVisitor) bubble.dir = "auto";
  bubble.append(isVisitor ? plainText(message.content) : markdown(message.content));
  article.append(by, bubble);
  return article;
}

/** Shows a conversation from its end, or appends the new messages if it is already shown. */
export function showMessages({ id, messages }) {
  // The log may have been scrolled since the last frame.
  onScroll();
  if (shown !== id) clearMessages();
  shown = id;
  const known = new Set([...log.querySelectorAll("article")].map((article) => article.dataset.id));
  for (const message of messages) {
    if (!known.has(message.id)) dayOf(message).append(articleOf(message));
  }
  keepAtEnd();
}

export function clearMessages() {
  log.replaceChildren();
  shown = day = undefined;
  isAtEnd = true;
}

/** Scrolls to the end, where the next message appears. */
export function goToEnd() {
  isAtEnd = true;
  keepAtEnd();
}
