// The messages and notes of the chosen conversation, day by day. The log stays at its end until the operator scrolls
// back.

import { onSameDay, time } from "./dates.js";
import { markdown, plainText } from "./markdown.js";
import { at, element, joinParts } from "./page.js";

/** Maximum distance from the end at which the log counts as scrolled to the end, in pixels. */
const END_THRESHOLD_PX = 48;
const AUTHORS = { visitor: "Visitor", assistant: "Assistant", operator: "Operator", system: "System" };

const log = at("log");
let shown;
let shownIds = [];
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

/** Returns the container of an entry's day. An entry of another day begins a new container with its caption. */
function dayOf({ createdAt }) {
  if (day && onSameDay(day.createdAt, createdAt)) return day.entries;
  const entries = element("div", "day");
  const caption = element("p", "caption");
  caption.append(time(createdAt, "day"));
  entries.append(caption);
  log.append(entries);
  day = { createdAt, entries };
  return entries;
}

/** Returns the line with the sources that an answer of the AI was made from. */
function sourcesOf(sources) {
  const names = (Array.isArray(sources) ? sources : [])
    .map((source) => (typeof source === "string" ? source : joinParts(source?.title, source?.path ?? source?.url)))
    .filter(Boolean);
  return names.length > 0 ? element("p", "by", `Sources: ${names.join("; ")}`) : "";
}

function messageRow(message) {
  const { role, operatorName, content } = message;
  const row = element("article", `message ${Object.hasOwn(AUTHORS, role) ? role : "system"}`);
  const by = element("p", "by", `${operatorName || AUTHORS[role] || role}, `);
  by.append(time(message.createdAt, "clock"));
  const isVisitor = role === "visitor";
  const bubble = element("div", isVisitor ? "bubble" : "bubble formatted");
  if (isVisitor) bubble.dir = "auto";
  bubble.append(isVisitor ? plainText(content) : markdown(content));
  row.append(by, bubble, sourcesOf(message.sources));
  return row;
}

function noteRow(note) {
  const isNote = note.kind === "note";
  const row = element("article", isNote ? "message note" : "activity");
  const by = element("p", "by", joinParts(isNote && "Note", note.operatorName));
  by.append(", ", time(note.createdAt, "clock"));
  if (isNote) {
    const bubble = element("div", "bubble");
    bubble.dir = "auto";
    bubble.append(plainText(note.text));
    row.append(by, bubble);
  } else {
    by.prepend(`${note.text} · `);
    row.append(by);
  }
  return row;
}

/** Returns messages and notes in their order: a note follows the message that it was written after. */
function entriesOf({ messages, notes }) {
  const entries = [
    ...messages.map((message) => ({ ...message, place: message.sequence, order: 0, row: messageRow })),
    ...notes.map((note) => ({ ...note, place: note.afterSequence, order: 1, row: noteRow })),
  ];
  // The sort is stable, so that notes of one place keep their order.
  return entries.sort((one, other) => one.place - other.place || one.order - other.order);
}

/** Shows a conversation from its end, or appends what is new if it is already shown. */
export function showLog(conversation) {
  // The log may have been scrolled since the last frame.
  onScroll();
  const entries = entriesOf(conversation);
  const isContinued = shown === conversation.id && shownIds.every((id, index) => id === entries[index]?.id);
  if (!isContinued) {
    const wasAtEnd = shown !== conversation.id || isAtEnd;
    clearLog();
    isAtEnd = wasAtEnd;
  }
  shown = conversation.id;
  for (const entry of entries.slice(shownIds.length)) dayOf(entry).append(entry.row(entry));
  shownIds = entries.map(({ id }) => id);
  keepAtEnd();
}

export function clearLog() {
  log.replaceChildren();
  shown = day = undefined;
  shownIds = [];
  isAtEnd = true;
}

/** Scrolls to the end, where the next message appears. */
export function goToEnd() {
  isAtEnd = true;
  keepAtEnd();
}
