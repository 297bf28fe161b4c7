// The page in the console's preview: puts the widget on it as the script tag does, with the options that the console
// sends, and again whenever they change.

const FILE = "/chat-widget/chat-widget.js";
/** The policy that creates the script's URL, because the page requires Trusted Types. */
const addresses = globalThis.trustedTypes?.createPolicy("preview", { createScriptURL: (address) => address });

let showing = Promise.resolve();
let latest;

addEventListener("message", ({ source, origin, data }) => {
  if (source !== parent || origin !== location.origin || typeof data?.options !== "object") return;
  const { options, open } = data;
  latest = options;
  // Of options that change quickly, only the last ones are shown.
  showing = showing
    .then(() => latest === options && show(options, open))
    .catch((error) => tell({ error: String(error) }));
});
tell({ ready: true });

function tell(message) {
  if (parent !== window) parent.postMessage(message, location.origin);
}

/** Replaces the page's widget by one with these options: texts, by their names in camelCase. */
async function show(options, open) {
  const wasOpen = window.chatWidget?.state?.open ?? open;
  await window.chatWidget?.destroy?.();
  document.getElementById("ask").hidden = options.launcher !== "#ask";
  const script = document.createElement("script");
  Object.assign(script.dataset, options);
  script.src = addresses?.createScriptURL(FILE) ?? FILE;
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error("The service has no files of the widget."));
    document.head.append(script);
  });
  script.remove();
  window.chatWidget.on("error", ({ code, message }) => tell({ error: `${code}: ${message}` }));
  if (wasOpen) window.chatWidget.open();
  tell({ shown: true });
}
