// The admin API. Every request is one of the console itself, with the session's cookie.

const BASE = "/api/admin/v1/";

/** An error response. `status` is 0 when the service was not reached. */
export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

let onSignedOut = () => {};

/** Sets the function that is called when the session has ended. */
export const whenSignedOut = (handler) => void (onSignedOut = handler);

/** Sends a request, and returns the data of its response. */
export async function call(method, path, body, headers = {}) {
  const options = { method, headers: { ...headers }, credentials: "same-origin", cache: "no-store" };
  // Every request that changes something has this content type, which no form of another site can send.
  if (method !== "GET") {
    options.headers["Content-Type"] = "application/json";
    options.body = JSON.stringify(body ?? {});
  }
  const response = await fetch(BASE + path, options).catch(() => {
    throw new ApiError(0, "NOT_REACHED", "The service cannot be reached.");
  });
  const answer = await response.json().catch(() => undefined);
  if (response.ok) return answer?.data;
  const { code = "", message = `The service answered ${response.status}.` } = answer?.error ?? {};
  if (code === "SIGNED_OUT") onSignedOut();
  throw new ApiError(response.status, code, message);
}

export const get = (path) => call("GET", path);
export const post = (path, body, headers) => call("POST", path, body, headers);
export const patch = (path, body) => call("PATCH", path, body);
export const remove = (path) => call("DELETE", path);

/** Opens the stream of changes. */
export const stream = () => new EventSource(`${BASE}stream`);

export const conversationPath = (id) => `conversations/${encodeURIComponent(id)}`;
export const sitePath = (id) => `sites/${encodeURIComponent(id)}`;
