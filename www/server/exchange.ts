// One call: attempts with limits on size and time, until one succeeds or the call fails for good.

import { BACK_OFF, type BackOff, parseRetryAfter, waitAfter } from "./back-off.js";
import { ConnectorError, printable, refusal } from "./connector-error.js";
import { NOT_MODIFIED } from "./read-data.js";
import {
  address,
  BodyTooLarge,
  deadline,
  discard,
  jsonOf,
  parseOrigin,
  readBounded,
  requestHeaders,
  UnusableBody,
} from "./service.js";
import { atLeastOne, timeLimit, withDefaults } from "./settings.js";
import { sleep } from "./sleep.js";

/** The settings of a client. */
export interface ClientOptions {
  /** The service's origin, such as `https://service.example`, without `/api/connector/v1`. */
  origin: string;
  /** The site token. */
  token: string;
  /** The site's id, part of the keys of a content sync. By default it is read from the site's status. */
  siteId?: string;
  /** The time limit of one attempt in milliseconds; 35,000 by default, as an AI may take that long. */
  timeoutMs?: number;
  /** The number of attempts, and the delays between them. */
  backOff?: Partial<BackOff>;
  /** Maximum size of a response in bytes; 8 MiB by default. */
  answerLimit?: number;
  /** Sends the requests; the global `fetch` by default. */
  fetch?: typeof fetch;
  /** Returns a number from 0 to 1 for the jitter; `Math.random` by default. */
  random?: () => number;
  /** Waits between attempts; by default a timer that the signal clears. */
  sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The options of one call. */
export interface CallOptions {
  /** Aborts the call, also between two attempts. */
  signal?: AbortSignal | undefined;
}

/** A call to the service. */
export interface Call extends CallOptions {
  path: string;
  query?: Record<string, string | null | undefined>;
  /** The version of the data that the caller has. If it is still current, `read` gets `NOT_MODIFIED`. */
  etag?: string;
  /** The body and the key of a POST: every attempt sends the same bytes. Without them the call is a GET. */
  post?: { key: string; body: unknown };
}

/** What an envelope contains, before it is validated. */
type Members = Record<string, unknown>;

const membersOf = (value: unknown): Members =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
const textOf = (value: unknown) => (typeof value === "string" ? value : undefined);

/** The connection of a client to the service. */
export class Exchange {
  readonly #origin: URL;
  readonly #authorization: string | undefined;
  readonly #timeoutMs: number;
  readonly #answerLimit: number;
  readonly #backOff: BackOff;
  readonly #fetch: typeof fetch;
  readonly #random: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;

  constructor(options: Omit<ClientOptions, "token" | "siteId">, authorization: string | undefined) {
    this.#origin = parseOrigin(options.origin);
    this.#authorization = authorization;
    this.#timeoutMs = timeLimit("timeoutMs", options.timeoutMs ?? 35_000);
    this.#answerLimit = atLeastOne("answerLimit", options.answerLimit ?? 8 * 1024 * 1024);
    this.#backOff = withDefaults(BACK_OFF, options.backOff ?? {});
    atLeastOne("backOff.attempts", this.#backOff.attempts);
    this.#fetch = options.fetch ?? ((...args) => fetch(...args));
    this.#random = options.random ?? Math.random;
    this.#sleep = options.sleep ?? sleep;
  }

  /** Makes a call and returns the data of its response, as `read` validates it. */
  async call<Data>(call: Call, read: (data: unknown, etag?: string) => Data): Promise<Data> {
    const body = call.post && jsonOf(call.post.body, call.post.key);
    for (let failed = 1; ; failed += 1) {
      try {
        return await this.#attempt(call, body, read);
      } catch (thrown) {
        const error = thrown as ConnectorError;
        const wait = error.retryable ? waitAfter(this.#backOff, failed, error.retryAfterMs, this.#random) : undefined;
        if (wait === undefined) throw error;
        await this.#sleep(wait, call.signal);
      }
    }
  }

  async #attempt<Data>(
    call: Call,
    body: string | undefined,
    read: (data: unknown, etag?: string) => Data,
  ): Promise<Data> {
    const key = call.post?.key;
    const { signal, state, done } = deadline(this.#timeoutMs, call.signal);
    try {
      const response = await this.#send(call, body, signal);
      if (response.status === 304 && call.etag !== undefined) {
        discard(response.body);
        return read(NOT_MODIFIED, call.etag);
      }
      const bytes = await this.#bodyOf(response, signal).catch((error: unknown) => {
        if (!(error instanceof UnusableBody)) throw error;
        throw new ConnectorError("invalid_response", `invalid response: ${error.message}`, {
          status: response.status,
          idempotencyKey: key,
        });
      });
      return open(response, bytes, key, read);
    } catch (error) {
      if (error instanceof ConnectorError) throw error;
      const details = { cause: error, idempotencyKey: key };
      if (call.signal?.aborted) throw new ConnectorError("aborted", "the caller aborted the call", details);
      if (state.timedOut)
        throw new ConnectorError("timeout", `the service did not answer within ${this.#timeoutMs} ms`, details);
      throw new ConnectorError("unreachable", `cannot reach the service: ${reasonOf(error)}`, details);
    } finally {
      done();
    }
  }

  /** Reads a body within its limit. A declared size is checked before the body arrives. */
  async #bodyOf({ headers, body }: Response, signal: AbortSignal): Promise<Uint8Array> {
    const encoding = headers.get("Content-Encoding") ?? "identity";
    const isCompressed = encoding.toLowerCase() !== "identity";
    const limit = this.#answerLimit;
    if (isCompressed || Number(headers.get("Content-Length")) > limit) {
      discard(body);
      throw isCompressed ? new UnusableBody("expected a body without compression") : new BodyTooLarge(limit);
    }
    return readBounded(body, limit, signal);
  }

  #send(call: Call, body: string | undefined, signal: AbortSignal): Promise<Response> {
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(call.query ?? {})) if (value != null) parameters.append(name, value);
    const url = address(this.#origin, call.path, parameters.size > 0 ? `?${parameters}` : "");
    const headers = requestHeaders(this.#authorization);
    if (call.etag !== undefined) headers.set("If-None-Match", call.etag);
    const init: RequestInit = { headers, redirect: "manual", signal };
    if (call.post) {
      headers.set("Content-Type", "application/json");
      headers.set("Idempotency-Key", call.post.key);
      Object.assign(init, { method: "POST", body });
    }
    signal.throwIfAborted();
    return this.#fetch(url, init);
  }
}

/** Returns the reason of a failed `fetch`, which names the cause apart. */
function reasonOf(error: unknown): string {
  const { message, cause } = Object(error) as Error;
  const { code, message: reason } = Object(cause) as { code?: unknown; message?: unknown };
  return printable([message, reason || code].filter((text) => text).join(": "));
}

/** Opens a response's envelope, and reads its data. */
function open<Data>(
  { status, headers }: Response,
  bytes: Uint8Array,
  key: string | undefined,
  read: (data: unknown, etag?: string) => Data,
): Data {
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // A response without JSON has no envelope.
  }
  const envelope = membersOf(body);
  const isSuccess = status >= 200 && status < 300;
  const requestId = textOf(envelope["requestId"]) ?? headers.get("X-Request-Id") ?? undefined;
  if (!isSuccess || envelope["ok"] !== true) {
    const error = membersOf(envelope["error"]);
    throw refusal({
      status,
      code: textOf(error["code"]) ?? "",
      message: textOf(error["message"]) ?? "the response contains no error message",
      requestId,
      retryAfterMs: parseRetryAfter(headers.get("Retry-After"), Date.now()),
      idempotencyKey: key,
    });
  }
  try {
    return read(envelope["data"], headers.get("ETag") ?? undefined);
  } catch (error) {
    throw new ConnectorError("invalid_response", `invalid response: ${(error as Error).message}`, {
      status,
      requestId,
      idempotencyKey: key,
    });
  }
}
