// The console: who is signed in, which view is shown, and the stream of changes.

import { begin, showSignIn, signOut } from "./account.js";
import { get, stream, whenSignedOut } from "./api.js";
import { forgetDrafts } from "./composer.js";
import { openConversation, reloadConversations, reloadNames, resetConversations } from "./conversations.js";
import { at } from "./page.js";
import { reloadSites, resetSites } from "./sites.js";

/** Milliseconds until an ended stream is opened again. */
const RECONNECT_INTERVAL_MS = 3000;

let session = null;
let changes = null;
let reconnection;

function showStatus(text, online) {
  at("status").firstElementChild.textContent = text;
  at("status").classList.toggle("online", online);
}

/** Shows the view that the address names: `#conversations`, `#conversation=ID` or `#sites`. */
function showView() {
  const isSites = location.hash === "#sites";
  at("view-sites").hidden = !isSites;
  at("view-conversations").hidden = isSites;
  for (const [id, isCurrent] of [
    ["to-sites", isSites],
    ["to-conversations", !isSites],
  ]) {
    if (isCurrent) at(id).setAttribute("aria-current", "page");
    else at(id).removeAttribute("aria-current");
  }
  if (isSites) reloadSites();
  else openConversation(/^#conversation=(.+)$/.exec(location.hash)?.[1]);
}

/** Follows the changes. The operator is online while the stream is open. */
function follow() {
  changes?.close();
  changes = stream();
  changes.addEventListener("open", () => {
    showStatus("You are online", true);
    // Changes may have been missed.
    reloadConversations();
  });
  changes.addEventListener("error", async () => {
    showStatus("Not connected, trying again", false);
    if (changes?.readyState !== EventSource.CLOSED) return;
    clearTimeout(reconnection);
    reconnection = setTimeout(reconnect, RECONNECT_INTERVAL_MS);
  });
  changes.addEventListener("conversation", reloadConversations);
  changes.addEventListener("settings", reloadNames);
  changes.addEventListener("reset", () => {
    reloadNames();
    if (!at("view-sites").hidden) reloadSites();
  });
  changes.addEventListener("site", () => {
    reloadNames();
    if (!at("view-sites").hidden) reloadSites();
  });
}

/** Opens the stream again, unless the session has ended. */
async function reconnect() {
  if (!session) return;
  try {
    await get("session");
  } catch (error) {
    if (error.status === 401) return;
  }
  if (session) follow();
}

function signedIn(current) {
  session = current;
  at("view-account").hidden = true;
  at("frame").hidden = false;
  document.title = "Console";
  resetConversations(current.operator);
  resetSites(current.operator);
  follow();
  showView();
  if (at("view-sites").hidden) at("to-conversations").focus();
}

function leave() {
  session = null;
  clearTimeout(reconnection);
  changes?.close();
  changes = null;
  resetConversations(null);
  resetSites(null);
}

whenSignedOut(() => {
  if (!session) return;
  leave();
  showSignIn("Your session has ended. Sign in again.");
});
at("sign-out").addEventListener("click", async () => {
  try {
    await signOut();
    leave();
    forgetDrafts();
  } catch {
    showStatus("Not signed out: the service cannot be reached", false);
  }
});
addEventListener("hashchange", () => {
  if (session) showView();
});
document.addEventListener("visibilitychange", () => {
  if (session && document.visibilityState === "visible") reloadConversations();
});
begin(signedIn);
