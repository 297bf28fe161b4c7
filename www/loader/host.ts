// The element that holds the launcher and later the widget, and whether the page may have one.

export let host: HTMLElement | undefined;

/** Whether the site has switched the chat off, or the page has called `destroy()`. */
export let isRefused = false;

let isHidden = false;

/** Returns the host, and appends it to the page on the first call. */
export function hostElement(): HTMLElement {
  if (!host) {
    host = Object.assign(document.createElement("chat-widget"), { managed: "page" });
    // Turbo keeps no copy of it in its cache.
    host.dataset["turboTemporary"] = "";
    host.hidden = isHidden;
    document.body.append(host);
  }
  return host;
}

export function setHidden(hidden: boolean): void {
  isHidden = hidden;
  if (host) host.hidden = hidden;
}

/** Removes the host for good. */
export function refuse(): void {
  isRefused = true;
  host?.remove();
  host = undefined;
}

/** Restores the host after a page has replaced its body, until the custom element does so by itself. */
export const bodyObserver = new MutationObserver(() => host?.isConnected === false && document.body?.append(host));
