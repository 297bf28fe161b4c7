// The field for answers and notes. Each conversation has its own draft.

import { conversationPath, post } from "./api.js";
import { at } from "./page.js";

const field = at("text");
const drafts = new Map();
/** The message of each conversation that was not confirmed: it keeps its key, so that it is stored once. */
const unconfirmed = new Map();
let chosen = null;
let sending = false;
let onSent = async () => {};

const kind = () => document.querySelector('input[name="kind"]:checked').value;

/** Sets the function that is called when a text was stored. */
export const whenSent = (handler) => void (onSent = handler);

function keepDraft() {
  if (chosen) drafts.set(chosen, { kind: kind(), text: field.value });
}

function showKind() {
  const isNote = kind() === "note";
  at("text-label").textContent = isNote ? "Your note, which visitors never see" : "Your answer";
  at("send").textContent = isNote ? "Add note" : "Send";
  at("answer").classList.toggle("noting", isNote);
}

/** Makes the field that of a conversation; `null` is none. */
export function compose(id) {
  keepDraft();
  chosen = id;
  const draft = drafts.get(id) ?? { kind: "message", text: "" };
  document.querySelector(`input[name="kind"][value="${draft.kind}"]`).checked = true;
  field.value = draft.text;
  field.disabled = at("send").disabled = id === null;
  at("problem").textContent = "";
  showKind();
}

/** Forgets all drafts. */
export function forgetDrafts() {
  chosen = null;
  drafts.clear();
  unconfirmed.clear();
  compose(null);
}

/** Returns the key of a message: a new one, unless the same text was not confirmed before. */
function keyOf(id, text) {
  const before = unconfirmed.get(id);
  if (before?.text === text) return before.key;
  const key = crypto.randomUUID();
  unconfirmed.set(id, { text, key });
  return key;
}

/** Returns the part of a draft that was typed after a text was sent. */
const draftAfter = (draft, sent) => (draft.startsWith(sent) ? draft.slice(sent.length).trimStart() : draft);

/** Stores the text. The field keeps the focus and any text that is typed meanwhile. */
async function send() {
  field.focus();
  const text = field.value;
  if (!chosen || sending || text.trim() === "") return;
  const [to, as] = [chosen, kind()];
  const path = conversationPath(to);
  sending = true;
  at("problem").textContent = "";
  try {
    if (as === "note") {
      await post(`${path}/notes`, { text });
    } else {
      await post(`${path}/messages`, { text }, { "Idempotency-Key": keyOf(to, text) });
      unconfirmed.delete(to);
    }
    if (to === chosen) {
      field.value = draftAfter(field.value, text);
    } else {
      const draft = drafts.get(to);
      if (draft) drafts.set(to, { ...draft, text: draftAfter(draft.text, text) });
    }
    await onSent(to);
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
field.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    send();
  }
});
for (const choice of document.querySelectorAll('input[name="kind"]')) choice.addEventListener("change", showKind);
