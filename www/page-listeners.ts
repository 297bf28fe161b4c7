// What a widget does beside its window: F6, the sound, the page's title, and what the visitor does on the page. It is loaded behind the
// widget, which does not wait for it.

import type { loadChunk } from "./load-chunk.js";
import { listenForKeys } from "./keys.js";
import type { ChatWidgetEvents, ChatWidgetState } from "./options.js";
import type { Undo } from "./host-page.js";
import { alternateTitle } from "./title.js";

/** What is told of the page. */
export interface Tracks {
  readonly state?: ChatWidgetState | undefined;
  track(eventType: string, data?: object): void;
}

// Filled in by the build: kept while the visitor wants to hear what comes in.
declare const SOUND_KEY: string;

/** The tone, in hertz, and how long it sounds, in seconds. */
const PITCH = 660;
const LENGTH = 0.18;

let audio: AudioContext | undefined;

/** Whoever listens for a host: nobody is to hear, or to report, anything twice. */
const listening = new WeakMap<HTMLElement, Undo>();

/**
 * Listens until the function given back is called, or this one once more. With `reports`, page views and calls to action
 * are reported; with `titleAlert`, the page's title tells of unread messages.
 */
export default function listenOnPage(
  host: HTMLElement,
  widget: Tracks,
  load: typeof loadChunk,
  reports: boolean,
  titleAlert: boolean,
): Undo {
  listening.get(host)?.();
  // It is there when the module breaks, also without a line by then.
  load("recover").catch(() => {});
  const undo = [listenForKeys(host), listenForSound(host)];
  if (titleAlert) undo.push(alternateTitle(host, widget));
  if (reports) {
    const page = inTurn(widget, undo);
    undo.push(watchNavigation(page), watchCalls(page));
  }
  const end = () => undo.splice(0).forEach((one) => one());
  listening.set(host, end);
  return end;
}

/** The widgets that tell what happens on the page. */
const telling = new Set<Tracks>();

/** Of several widgets of one visitor, one tells it. */
function inTurn(widget: Tracks, undo: Undo[]): Tracks {
  telling.add(widget);
  undo.push(() => telling.delete(widget));
  const whose = ({ state }: Tracks) => state?.visitorId;
  return {
    track(eventType, data) {
      const first = [...telling].find((one) => whose(one) === whose(widget));
      if (first === widget) widget.track(eventType, data);
    },
  };
}

function listenForSound(host: HTMLElement): Undo {
  const onMessage = ({ detail }: CustomEvent<ChatWidgetEvents["message"]>) => {
    if (detail.role !== "visitor" && isWanted()) sound();
  };
  host.addEventListener("chat-widget:message", onMessage as EventListener);
  return () => host.removeEventListener("chat-widget:message", onMessage as EventListener);
}

function isWanted(): boolean {
  try {
    return localStorage.getItem(SOUND_KEY) !== null;
  } catch {
    // Storage is blocked, so that nobody has asked for a sound.
    return false;
  }
}

/** A short, soft tone. A browser that lets no page sound stays quiet. */
function sound(): void {
  try {
    audio ??= new AudioContext();
    const tone = new OscillatorNode(audio, { frequency: PITCH });
    const volume = new GainNode(audio, { gain: 0.08 });
    volume.gain.linearRampToValueAtTime(0, audio.currentTime + LENGTH);
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + LENGTH);
  } catch {
    // Sound is blocked.
  }
}

/** Reports a page view whenever a single-page application goes to another path or query. */
function watchNavigation(widget: Tracks): Undo {
  const { navigation } = window as { navigation?: EventTarget };
  const place = () => location.pathname + location.search;
  let before = place();
  let waiting: number | undefined;
  const moved = () => {
    if (place() === before) return;
    before = place();
    clearTimeout(waiting);
    // Applications give the page its title after they have moved.
    waiting = setTimeout(() => widget.track("page_view"), 100);
  };
  const undo = navigation ? listen(navigation, "currententrychange", moved) : watchHistory(moved);
  return () => {
    clearTimeout(waiting);
    undo();
  };
}

/** For browsers without the Navigation API: history does not say by itself what is put into it. */
function watchHistory(moved: () => void): Undo {
  const undo = [listen(window, "popstate", moved)];
  for (const name of ["pushState", "replaceState"] as const) {
    const own = Object.hasOwn(history, name);
    const original = history[name];
    const watched: typeof original = function (this: History, ...state) {
      original.apply(this, state);
      moved();
    };
    history[name] = watched;
    undo.push(() => {
      // Somebody else has put something on top, and calls this one.
      if (history[name] !== watched) moved = () => {};
      else if (own) history[name] = original;
      else delete (history as Partial<History>)[name];
    });
  }
  return () => undo.forEach((one) => one());
}

/** Reports clicks on what the page has marked with `data-chat-cta`, by the label that the mark gives, else by its text. */
function watchCalls(widget: Tracks): Undo {
  return listen(document, "click", ({ target }) => {
    const call = (target as Element | null)?.closest?.<HTMLElement>("[data-chat-cta]");
    const label = call?.dataset["chatCta"] || call?.textContent?.trim().slice(0, 100);
    if (call) widget.track("cta_clicked", { label });
  });
}

function listen(target: EventTarget, kind: string, run: (event: Event) => void): Undo {
  target.addEventListener(kind, run);
  return () => target.removeEventListener(kind, run);
}
