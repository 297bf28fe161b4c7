// Reports page views and calls to action for the script tag as long as there is no module, by the rules and in the storage
// format of `crates/session/src/tracking`: `tests/clients.json` holds both to the same bytes. What cannot be sent stays in
// storage, for a session or for the companion of a later page.

import { nullProto } from "./null-proto.js";
import { REPORTING, type Track, listen, watchPage } from "./page-reports.js";
import { isTransient, isUsableId, proxyAddress, uuid } from "./wire.js";

/** The time that events are collected for a batch, in milliseconds. */
const BATCH_DELAY_MS = 3000;
const MAX_EVENTS = 50;
/** Maximum length of a batch: browsers allow 64 KiB for a page that is left, and a character has up to three bytes. */
const MAX_LENGTH = 20_000;
/** Maximum batches that are kept while none can be delivered. */
const MAX_BATCHES = 20;
/** The wait after a failed attempt without `Retry-After`, in milliseconds. */
const HOLD_MS = 2000;
const TRACKING_OFF_MS = 24 * 60 * 60 * 1000;
/** The version of stored values. */
const v = 2;

type Fields = Record<string, unknown>;

/** The companion of a widget that may start later. */
export interface Companion {
  /**
   * Stops sending, because a session starts from storage, and passes further events on to `track`. Returns the values that
   * storage has refused, by their keys. Without `track` it goes on, because the widget could not start.
   */
  pass(track?: Track): Fields;
  /** Ends for good. Events that wait are stored for a later page. */
  end(): void;
}

/** Reports the page view, and further events of the page, by the options of the script tag. */
export default function accompany(options: Record<string, string | undefined>): Companion {
  const { proxy, customerId, visitor } = options;
  let { visitorToken } = options;
  const prefix = "chat-widget:";
  const suffix = customerId ? `@${customerId}` : "";
  const url = `${proxyAddress(proxy!)}/events`;
  /** The values that storage has refused. */
  const memory: Fields = {};
  /** The names and texts of events that are not in a batch yet. */
  let waiting: [name: string, text: string][] = [];
  let timer: number | undefined;
  let isSending = false;
  let holdUntil = 0;
  let pass: Track | undefined;

  const keyOf = (name: string) => prefix + name + suffix;
  const read = (name: string) => memory[keyOf(name)] ?? attempt(() => parse(localStorage.getItem(keyOf(name))));
  /** Stores a text, or removes the value. */
  const write = (name: string, text?: string) => {
    const key = keyOf(name);
    delete memory[key];
    try {
      if (text) localStorage.setItem(key, text);
      else localStorage.removeItem(key);
    } catch {
      if (text) memory[key] = parse(text);
    }
  };
  /** Returns the names of the visitor's values of a kind. With an `@` in its name, a value is another customer's. */
  const namesOf = (kind: string) =>
    Object.keys({ ...attempt(() => localStorage), ...memory })
      .filter((key) => key.startsWith(prefix + kind) && key.endsWith(suffix))
      .map((key) => key.slice(prefix.length, key.length - suffix.length))
      .filter((name) => !name.includes("@"));

  const visitorId = () => {
    const stored = read("visitor")?.visitorId;
    const id = parse(visitor)?.visitorId || (isUsableId(stored) ? stored : uuid());
    if (id !== stored) {
      write("visitor", JSON.stringify({ v, visitorId: id }));
      // For a session, which may adopt the visitor of another tab instead.
      if (memory[keyOf("visitor")]) memory[keyOf("visitor")] = { visitorId: id, isNew: true };
    }
    return id;
  };

  const report: Track = (eventType, eventData) => {
    if (pass) return pass(eventType, eventData);
    const name = `event:${nameOf()}`;
    const text = JSON.stringify({
      eventType,
      visitorId: visitorId(),
      customerId: customerId || undefined,
      channel: "webchat",
      path: location.pathname,
      url: location.href,
      title: document.title,
      referrer: document.referrer || undefined,
      eventData,
      createdAt: new Date().toISOString(),
    });
    waiting.push([name, text]);
    write(name, text);
    timer ??= setTimeout(flush, BATCH_DELAY_MS);
  };

  /** Moves the waiting events to batches. Returns the name of the last one. */
  const freeze = () => {
    clearTimeout(timer);
    timer = undefined;
    // A session of another tab has taken over those that are gone.
    waiting = waiting.filter(([name]) => read(name));
    let frozen = "";
    while (waiting[0]) {
      let length = 0;
      const end = waiting.findIndex(
        ([, text], index) => ((length += text.length) > MAX_LENGTH && index > 0) || index === MAX_EVENTS,
      );
      const taken = waiting.splice(0, end < 0 ? MAX_EVENTS : end);
      const name = nameOf();
      frozen = `batch:${name}`;
      const body = `{"events":[${taken.map(([, text]) => text)}]}`;
      write(frozen, JSON.stringify({ v, key: `events-${name}`, body }));
      taken.forEach(([name]) => {
        write(name);
        // A session that has started in another tab since may have read the event.
        attempt(() => {
          const channel = new BroadcastChannel(prefix + suffix);
          channel.postMessage(JSON.stringify({ visitor: visitorId(), does: "keep", name }));
          channel.close();
        });
      });
    }
    return frozen;
  };

  /** Sends what waits, and what earlier pages have left. */
  const flush = async () => {
    timer = undefined;
    if (isSending || Date.now() < holdUntil) return;
    isSending = true;
    freeze();
    const names = namesOf("batch:");
    if (names.length > MAX_BATCHES) write(names.pop()!);
    for (const name of names) if (!pass && Date.now() >= holdUntil) await send(name);
    isSending = false;
  };

  /** Stores what waits, and sends it from a page that may not come back. */
  const leave = () => {
    const name = pass ? "" : freeze();
    if (name && Date.now() >= holdUntil) void send(name, true);
  };

  const send = async (name: string, keepalive = false) => {
    const { key, body } = read(name) ?? {};
    const Accept = "application/json";
    const proof = visitorToken && { "Visitor-Token": visitorToken };
    const headers = { Accept, "Content-Type": Accept, "Idempotency-Key": key, ...proof };
    let wait = 0;
    try {
      keepalive &&= body.length < MAX_LENGTH + 99;
      const response = await fetch(
        url,
        nullProto({ method: "POST", headers, body, cache: "no-store", keepalive }) as object,
      );
      wait = Number(response.headers.get("Retry-After")) * 1000;
      const envelope = await response.json().catch(() => {});
      // A session on this page repeats the batch with its key.
      if (pass) return;
      const code = envelope?.error?.code;
      if (code === "INVALID_VISITOR_TOKEN") {
        visitorToken = "";
        throw 0;
      }
      if (envelope?.ok !== true && isTransient(response.status, code)) throw 0;
      write(name);
      if (envelope?.data?.tracking !== "disabled") return;
      write("tracking", JSON.stringify({ v, offUntil: Date.now() + TRACKING_OFF_MS }));
      [...namesOf("event:"), ...namesOf("batch:")].forEach((name) => write(name));
      waiting = [];
      pass = () => {};
    } catch {
      holdUntil = Date.now() + (wait || HOLD_MS);
    }
  };

  const undo = [
    // Another widget on the page may report for this visitor.
    watchPage((eventType, data) => {
      const question = new CustomEvent(REPORTING, { detail: visitorId(), cancelable: true });
      if (document.dispatchEvent(question)) report(eventType, data);
    }),
    listen(window, "pagehide", leave),
    listen(document, "visibilitychange", () => document.hidden && leave()),
  ];
  report("page_view");

  return {
    pass(track) {
      pass = track;
      clearTimeout(timer);
      timer = undefined;
      return memory;
    },
    end() {
      undo.forEach((one) => one());
      if (!pass) freeze();
      pass = () => {};
    },
  };
}

/** Returns 16 hexadecimal digits. */
const nameOf = () => uuid().replace(/-/g, "").slice(16);

/** Returns the value of a function; `undefined` where storage or tabs are blocked. */
function attempt<Value>(run: () => Value): Value | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Parses a stored value; `undefined` if it is not JSON. */
// biome-ignore lint/suspicious/noExplicitAny: storage may hold anything
const parse = (text: string | null | undefined): any => attempt(() => JSON.parse(text!) ?? undefined);
