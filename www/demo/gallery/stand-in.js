// The stand-ins of a gallery page: a clock, a storage and a service. They replace the browser's own before the widget
// loads.

/** The local time of every page, a Thursday. */
const BEGINS = new Date(2026, 2, 12, 9, 20).getTime();
const CONVERSATION = "gallery";

/** A clock that starts at the same minute on each page, can jump, and stops once the state is shown. */
export function takeClock() {
  const RealDate = Date;
  const elapsed = performance.now.bind(performance);
  const start = elapsed();
  let skipped = 0;
  let stoppedAt;
  const own = () => stoppedAt ?? elapsed() - start + skipped;
  const wall = () => BEGINS + Math.floor(own());
  performance.now = own;
  globalThis.Date = class extends RealDate {
    constructor(...given) {
      if (given.length > 0) super(...given);
      else super(wall());
    }

    static now() {
      return wall();
    }
  };
  return {
    skip(ms) {
      skipped += ms;
      // The widget reads the clock when the page becomes visible.
      document.dispatchEvent(new Event("visibilitychange"));
    },
    stop() {
      stoppedAt = own();
    },
  };
}

/** Storages that end with the page, so that pages do not affect each other. */
export function takeStorage() {
  for (const name of ["localStorage", "sessionStorage"]) Object.defineProperty(window, name, { value: storage() });
}

/** Returns a storage whose only enumerable members are its items, as in a browser. */
function storage() {
  const kept = {};
  return Object.defineProperties(kept, {
    length: { get: () => Object.keys(kept).length },
    key: { value: (index) => Object.keys(kept)[index] ?? null },
    getItem: { value: (key) => (Object.hasOwn(kept, key) ? kept[key] : null) },
    setItem: { value: (key, text) => void (kept[key] = text) },
    removeItem: { value: (key) => void delete kept[key] },
  });
}

/** Makes the widget believe that there is no network. */
export function goOffline() {
  Object.defineProperty(navigator, "onLine", { value: false });
  dispatchEvent(new Event("offline"));
}

/** The service behind the proxy, in the page. `state` has its data and its responses. */
export class Service {
  /** The number of polls for messages. */
  reads = 0;
  #state;
  #messages;
  #personHere;

  constructor(state) {
    this.#state = state;
    this.#personHere = state.personHere === true;
    this.#messages = (state.history ?? []).map((message, index) => ({ id: `m${index}`, ...message }));
  }

  /** Intercepts the requests to the proxy and forwards all others. Returns the widget's customer id. */
  take(prefix) {
    const send = window.fetch.bind(window);
    window.fetch = (resource, init = {}) => {
      const { pathname, searchParams } = new URL(resource, location.href);
      if (!pathname.startsWith(`${prefix}/`)) return send(resource, init);
      return this.#answer(`${init.method ?? "GET"} ${pathname.slice(prefix.length)}`, searchParams, init);
    };
    // Otherwise pages in several tabs would be tabs of one visitor.
    const customerId = crypto.randomUUID();
    if (this.#messages.length > 0) this.#keep(customerId);
    return customerId;
  }

  /** Returns whether the conversation is empty. */
  get isEmpty() {
    return this.#messages.length === 0;
  }

  /** Starts with this conversation, which the customer's next widget continues. */
  begin(customerId, messages) {
    for (const { role, content } of messages) this.says(role, content);
    this.#keep(customerId);
  }

  #keep(customerId) {
    const conversation = JSON.stringify({ v: 1, conversationId: CONVERSATION });
    localStorage.setItem(`chat-widget:conversation@${customerId}`, conversation);
  }

  /** Adds a message of the assistant or an operator. */
  says(role, content) {
    const message = { id: `m${this.#messages.length}`, role, content, createdAt: new Date().toISOString() };
    this.#messages.push(message);
    return message;
  }

  /** Sets whether an operator is online. */
  setPersonHere(isHere) {
    this.#personHere = isHere;
  }

  async #answer(call, query, { body, signal }) {
    switch (call) {
      case "GET /chat/config":
        return success({ config: this.#state.config, locale: query.get("locale") });
      case "GET /chat/presence":
        return success({ operatorOnline: this.#personHere, shouldPollMessages: true, ...this.#state.presence });
      case "GET /chat/messages":
        return success(this.#read(query.get("after")));
      case "POST /chat/messages":
        return this.#take(JSON.parse(body), signal);
      default:
        return success({ accepted: 0 });
    }
  }

  #read(after) {
    this.reads += 1;
    const known = this.#messages.findIndex(({ id }) => id === after);
    const messages = this.#messages.slice(known + 1);
    return { conversationId: CONVERSATION, messages, nextAfter: this.#messages.at(-1)?.id };
  }

  async #take({ message }, signal) {
    const { outcome = {} } = this.#state;
    const {
      status,
      silent,
      delay,
      answer = "I have passed that on to Maren.",
      ...fields
    } = typeof outcome === "function" ? outcome(message) : outcome;
    if (status) return failure(status);
    // The service has accepted the message: polls return it while its reply is being written.
    const { id } = this.says("visitor", message);
    if (silent) return aborted(signal);
    if (delay) await Promise.race([aborted(signal), new Promise((resolve) => setTimeout(resolve, delay))]);
    const reply = fields.aiStatus ? null : this.says("assistant", answer);
    return success({ conversationId: CONVERSATION, userMessageId: id, message: reply, ...fields });
  }
}

/** Rejects when the widget aborts the request. */
function aborted(signal) {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
}

function success(data) {
  return Response.json({ ok: true, data, requestId: "gallery" });
}

function failure(status) {
  const error = { code: "INVALID_REQUEST", message: "the gallery refuses this message" };
  return Response.json({ ok: false, error, requestId: "gallery" }, { status });
}
