// The page in the playground's frame: puts the widget on it as the script tag does, with the options of its address, and
// with others when the playground says so.

import { replies } from "./answers.js";
import { chosenIn, optionsOf, parametersOf } from "./choices.js";
import { SHORT } from "./conversations.js";
import { attributeText } from "./snippets.js";
import { Service, takeStorage } from "./stand-in.js";
import { SHOP } from "./states.js";

const PROXY = "/connector";
const LOADER = new URL("../chat-widget/chat-widget.js", import.meta.url).href;
/** The polling interval of the stand-in in milliseconds, so short that a person's message appears at once. */
const POLL_MS = 1_000;
const query = new URLSearchParams(location.search);
/** The policy that creates the script's URL on pages with Trusted Types. */
const addresses = globalThis.trustedTypes?.createPolicy("playground", { createScriptURL: (address) => address });

let latest;
let showing = Promise.resolve();
let service;
let suffix = "";
if (query.get("service") !== "real") {
  takeStorage();
  service = new Service({ config: SHOP, outcome: replies, presence: { suggestedMessageIntervalMs: POLL_MS } });
  suffix = `@${service.take(PROXY)}`;
}

addEventListener("message", ({ source, data }) => {
  if (source !== parent || parent === window) return;
  if (data.search !== undefined) show(data.search);
  if (data.call) window.chatWidget?.[data.call]();
  if (data.says && service) void writes(data.says);
});
new MutationObserver(() => tell({ title: document.title })).observe(document.querySelector("title"), {
  childList: true,
});
tell({ title: document.title });
show(location.search);

function tell(message) {
  if (parent !== window) parent.postMessage(message, location.origin);
}

/** Shows the options of an address, one address after the other. */
function show(search) {
  const chosen = (latest = chosenIn(search));
  showing = showing
    .then(() => mount(optionsOf(chosen)))
    .catch((error) => tell({ error: String(error) }))
    .then(() => tell({ shown: parametersOf(chosen).toString() }));
}

/** Adds a person's message. Starts a conversation if there is none, because the widget polls only an existing one. */
async function writes(text) {
  service.setPersonHere(true);
  if (service.isEmpty) {
    const { reads } = service;
    service.begin(customerOf(optionsOf(latest)), SHORT);
    show(parametersOf(latest));
    // After the second poll, which finds nothing more, messages count as new.
    while (service.reads < reads + 2) await new Promise((resolve) => setTimeout(resolve, POLL_MS / 10));
  }
  service.says("operator", text);
}

/** Returns the customer id of a widget, which is different in each tab. */
function customerOf({ customerId = "" }) {
  return customerId + suffix;
}

/** Replaces the page's widget by one with these options. */
async function mount(chosen) {
  const options = { ...chosen, proxy: PROXY };
  if (suffix) options.customerId = customerOf(options);
  const wasOpen = window.chatWidget?.state?.open && !options.container;
  await window.chatWidget?.destroy();
  document.getElementById("ask").hidden = options.launcher !== "#ask";
  document.getElementById("chat").hidden = !options.container;
  const script = document.createElement("script");
  for (const [name, value] of Object.entries(options)) script.dataset[name] = attributeText(name, value);
  script.src = addresses?.createScriptURL(LOADER) ?? LOADER;
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error("chat-widget.js did not load"));
    document.head.append(script);
  });
  script.remove();
  window.chatWidget.on("error", ({ code, message }) => tell({ error: `${code}: ${message}` }));
  if (wasOpen) window.chatWidget.open();
}
