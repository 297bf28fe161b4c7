// The error of a failed call of `BrowserWidgetClient`.

import { isTransient } from "./wire.js";

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
