// The sites view: creating sites, and their settings.

import { get, patch, post, sitePath } from "./api.js";
import { at, element, onSubmit, replaceRows, serialised } from "./page.js";

/** The welcome message of all locales that have none of their own. */
const ALL_LOCALES = "";

let me = null;
let chosen = null;
let shown = null;

const scriptTag = ({ id }) =>
  `<script async src="${location.origin}/chat-widget/chat-widget.js" data-proxy="${location.origin}/connector/${id}"></script>`;

/** Returns the entries of a text with one a line. */
const lines = (text) =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

function rowOf(site) {
  const item = element("li");
  item.dataset.id = site.id;
  const button = element("button", "entry");
  button.type = "button";
  if (site.id === chosen) button.setAttribute("aria-current", "true");
  button.append(element("span", "name", site.name), " ");
  const state = site.disabled ? "Disabled" : site.allowedOrigins.join(", ") || "No allowed origins: it appears nowhere";
  button.append(element("span", "last", state));
  button.addEventListener("click", () => {
    chosen = site.id;
    shown = null;
    reloadSites().then(() => at("site-title").focus());
  });
  item.append(button);
  return item;
}

/** Shows the fields of the welcome messages: one for all locales, and one for each of the site's. */
function showWelcome({ welcome, supportedLocales }) {
  const locales = [...new Set([ALL_LOCALES, ...supportedLocales, ...Object.keys(welcome)])];
  const legend = at("site-welcome").querySelector("legend");
  const fields = locales.flatMap((locale, index) => {
    const label = element("label", "", locale === ALL_LOCALES ? "All languages" : `Language ${locale}`);
    label.htmlFor = `site-welcome-${index}`;
    const field = element("textarea");
    field.id = label.htmlFor;
    field.rows = 2;
    field.maxLength = 1000;
    field.dir = "auto";
    field.dataset.locale = locale;
    field.value = welcome[locale] ?? "";
    return [label, field];
  });
  at("site-welcome").replaceChildren(legend, ...fields);
}

function showSite(site) {
  at("site").hidden = false;
  at("script-tag").textContent = scriptTag(site);
  // A form that is being edited is not overwritten by a change from elsewhere.
  if (shown === site.id) return;
  shown = site.id;
  at("site-title").textContent = site.name;
  at("copied").textContent = at("saved").textContent = "";
  at("settings").querySelector(".problem").textContent = "";
  at("site-name").value = site.name;
  at("site-origins").value = site.allowedOrigins.join("\n");
  at("site-chat").checked = site.chatEnabled;
  at("site-widget").checked = site.widgetEnabled;
  at("site-tracking").checked = site.trackingEnabled;
  at("site-assistant").value = site.assistantName ?? "";
  showWelcome(site);
  at("site-ai-base").value = site.ai?.base ?? "";
  at("site-ai-model").value = site.ai?.model ?? "";
  at("site-ai-key").value = "";
  at("site-ai-key").placeholder = site.ai?.hasKey ? "Stored; leave empty to keep it" : "";
}

/** Loads the sites again. Once signed out, it does nothing. */
export const reloadSites = serialised(async () => {
  if (!me) return;
  try {
    const sites = await get("sites");
    if (!sites.some(({ id }) => id === chosen)) chosen = sites[0]?.id ?? null;
    replaceRows(at("sites"), sites.map(rowOf));
    at("no-sites").hidden = sites.length > 0;
    at("sites-problem").textContent = "";
    const site = sites.find(({ id }) => id === chosen);
    if (site) showSite(site);
    else at("site").hidden = true;
  } catch (error) {
    if (error.status !== 401) at("sites-problem").textContent = error.message;
  }
});

/** Begins with nothing shown, for an operator or for nobody. Agents see the sites, and change nothing. */
export function resetSites(operator) {
  me = operator;
  chosen = shown = null;
  at("sites").replaceChildren();
  at("site").hidden = true;
  at("new-site").reset();
  at("new-site").hidden = at("settings").hidden = operator?.role === "agent";
}

/** Returns the settings of the form. */
function settings() {
  const welcome = {};
  for (const field of at("site-welcome").querySelectorAll("textarea")) {
    if (field.value.trim()) welcome[field.dataset.locale] = field.value.trim();
  }
  const [base, model, key] = ["site-ai-base", "site-ai-model", "site-ai-key"].map((id) => at(id).value.trim());
  return {
    name: at("site-name").value,
    allowedOrigins: lines(at("site-origins").value),
    chatEnabled: at("site-chat").checked,
    widgetEnabled: at("site-widget").checked,
    trackingEnabled: at("site-tracking").checked,
    assistantName: at("site-assistant").value.trim() || null,
    welcome,
    ai: base || model ? { base, model, ...(key ? { key } : {}) } : null,
  };
}

onSubmit(at("new-site"), async () => {
  const origin = at("new-site-origin").value.trim();
  const site = await post("sites", {
    name: at("new-site-name").value,
    settings: { allowedOrigins: origin ? [origin] : [] },
  });
  at("new-site").reset();
  chosen = site.id;
  shown = null;
  await reloadSites();
  at("site-title").focus();
});

onSubmit(at("settings"), async () => {
  at("saved").textContent = "";
  await patch(sitePath(chosen), settings());
  shown = null;
  await reloadSites();
  at("saved").textContent = "Saved.";
});

at("copy").addEventListener("click", async () => {
  const text = at("script-tag").textContent;
  try {
    await navigator.clipboard.writeText(text);
    at("copied").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(at("script-tag"));
    at("copied").textContent = "Copy the selected text.";
  }
});
