// The error of a failed call of `BrowserWidgetClient`, and which errors are transient.

/**
 * Returns whether the same request may succeed later. A response of 2xx is an error when it is no envelope: a log-in page
 * or a cache between the page and the proxy. `tests/clients.json` holds this rule and the session's to the same cases.
 */
function isTransient(status: number, code: string): boolean {
  return (status < 300 || status >= 500 || [408, 409, 425, 429].includes(status)) && code !== "IDEMPOTENCY_CONFLICT";
}

/** A failed call. */
export class ChatWidgetError extends Error {
  override readonly name = "ChatWidgetError";
  /** The HTTP status; 0 without a response. */
  declare readonly status: number;
  /** The service's error code, or `NETWORK`, `TIMEOUT`, `INVALID_RESPONSE`. */
  declare readonly code: string;
  /** The identifier of the request in the service's log. */
  declare readonly requestId: string | undefined;
  /** The value of `Retry-After` in milliseconds. */
  declare readonly retryAfter: number | undefined;
  /** Whether the same call may succeed later. */
  declare readonly retryable: boolean;
  /** The key of a failed message, for a later `sendMessage()`. */
  declare readonly idempotencyKey: string | undefined;

  constructor(message: string, status: number, code: string, key?: string, requestId?: string, retryAfter?: number) {
    super(message);
    const retryable = isTransient(status, code);
    Object.assign(this, { status, code, requestId, retryAfter, retryable, idempotencyKey: key });
  }
}
