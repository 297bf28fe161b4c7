// The one error type of the server library.

/** The stage at which a call failed. */
export type ErrorKind =
  /** Before the request: an option, an id or the token is invalid. */
  | "setup"
  /** The service cannot be reached, or the connection broke. */
  | "unreachable"
  /** No response arrived in time. */
  | "timeout"
  /** The service refused the call. */
  | "refused"
  /** The response is not one of this API. */
  | "invalid_response"
  /** The caller's signal aborted the call. */
  | "aborted";

/** What is known about a failed call. */
export interface ConnectorErrorDetails {
  status?: number | undefined;
  code?: string | undefined;
  requestId?: string | undefined;
  retryable?: boolean;
  retryAfterMs?: number | undefined;
  idempotencyKey?: string | undefined;
  cause?: unknown;
}

/** Maximum characters of a service's text in a message. */
const MAX_TEXT = 1000;

/** Returns a text as one line that is safe to print: control and format characters are escaped. */
export function printable(text: string): string {
  const escaped = text
    .slice(0, MAX_TEXT)
    .replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`);
  return text.length > MAX_TEXT ? `${escaped}…` : escaped;
}

/** A failed call. It never contains the token. */
export class ConnectorError extends Error {
  override readonly name: string = "ConnectorError";
  /** The stage of the failure. */
  readonly kind: ErrorKind;
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** `error.code` of the response; empty if there is none. */
  readonly code: string;
  /** `requestId`, for the operator of the service. */
  readonly requestId: string | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** The delay that the service asks for before a retry, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The key of all attempts of the call, if it changes something. */
  readonly idempotencyKey: string | undefined;

  constructor(kind: ErrorKind, message: string, details: ConnectorErrorDetails = {}) {
    super(message, "cause" in details ? { cause: details.cause } : undefined);
    this.kind = kind;
    this.status = details.status;
    this.code = details.code ?? "";
    this.requestId = details.requestId;
    this.retryable = details.retryable ?? (kind === "unreachable" || kind === "timeout");
    this.retryAfterMs = details.retryAfterMs;
    this.idempotencyKey = details.idempotencyKey;
  }

  /** Whether the claim no longer holds the reported job, so that nothing is left to do for it. */
  get isJobLost(): boolean {
    return (this.code === "NOT_FOUND" || this.code === "RESOURCE_CONFLICT") && !this.retryable;
  }
}

/** What to do about an error, by its code. */
const ADVICE: Record<string, string> = {
  INVALID_TOKEN: "; check the token, or activate the site again",
  INSUFFICIENT_QUOTA: "; the account's quota is exhausted",
};

/** Returns the error of a response that is no success. */
export function refusal(details: {
  status: number;
  code: string;
  message: string;
  requestId: string | undefined;
  retryAfterMs: number | undefined;
  idempotencyKey: string | undefined;
}): ConnectorError {
  const { status, code, message, requestId, retryAfterMs } = details;
  const isTransient =
    status >= 500 ||
    status === 408 ||
    status === 425 ||
    status === 429 ||
    (status === 409 && code !== "IDEMPOTENCY_CONFLICT" && retryAfterMs !== undefined);
  if (code === "" && !isTransient) {
    const text = `status ${status} is not a response of the connector API: check the service's origin`;
    return new ConnectorError("invalid_response", text, { ...details, code });
  }
  const id = requestId === undefined ? "" : ` (request ${printable(requestId)})`;
  const text =
    code === ""
      ? `the service answered ${status} without an error code`
      : `the service refused: ${status} ${printable(code)}: ${printable(message)}${id}${ADVICE[code] ?? ""}`;
  return new ConnectorError("refused", text, { ...details, retryable: isTransient });
}
