// The rules of requests to the proxy that `BrowserWidgetClient` and the script tag's companion share.

/**
 * Returns whether the same request may succeed later. A response of 2xx is an error when it is no envelope: a log-in page
 * or a cache between the page and the proxy. `tests/clients.json` holds this rule and the session's to the same cases.
 */
export function isTransient(status: number, code: string): boolean {
  return (status < 300 || status >= 500 || [408, 409, 425, 429].includes(status)) && code !== "IDEMPOTENCY_CONFLICT";
}

/** Returns a UUIDv4. `crypto.randomUUID` exists in secure contexts alone. */
export const uuid = () =>
  "10000000-1000-4000-8000-100000000000".replace(/[018]/g, (digit) =>
    (+digit ^ (crypto.getRandomValues(new Uint8Array(1))[0]! & (15 >> (+digit / 4)))).toString(16),
  );

/** Whether a stored visitor id is used. The widget has the same rule: an id that no header can carry is replaced. */
export const isUsableId = (id: unknown): id is string => typeof id === "string" && /^[!-~]{8,128}$/.test(id);

/** Returns the address of a proxy's prefix. A path belongs to the page's own origin, whatever its `<base>` says. */
export function proxyAddress(prefix: string): string {
  const { origin, href } = globalThis.location ?? {};
  const base = /^https?:/i.test(prefix) || !href ? "" : prefix[0] === "/" ? origin : new URL(".", href);
  return base + prefix.replace(/\/+$/, "");
}
