// Listeners on the page: F6, the sound, the page's title, page views and calls to action. Loaded after the widget, which
// does not wait for them.

import type { loadChunk } from "./load-chunk.js";
import { listenForKeys } from "./keys.js";
import type { ChatWidgetEvents, ChatWidgetState } from "./options.js";
import type { Undo } from "./host-page.js";
import { type Track, REPORTING, listen, watchPage } from "./page-reports.js";
import { alternateTitle } from "./title.js";

/** A widget, as far as the listeners need it. */
export interface Tracker {
  readonly state?: ChatWidgetState | undefined;
  track(eventType: string, data?: object): void;
}

// Filled in by the build: the storage key that exists while the visitor wants a sound for new messages.
declare const SOUND_KEY: string;

/** The tone of the sound. */
const FREQUENCY_HZ = 660;
const DURATION_S = 0.18;

let audio: AudioContext | undefined;

/** The listeners of each host, so that none is doubled. */
const listening = new WeakMap<HTMLElement, Undo>();

/**
 * Listens until the returned function is called, or this function is called again. With `reports`, it reports page views and
 * calls to action; with `titleAlert`, the page's title shows unread messages.
 */
export default function listenOnPage(
  host: HTMLElement,
  widget: Tracker,
  load: typeof loadChunk,
  reports: boolean,
  titleAlert: boolean,
): Undo {
  listening.get(host)?.();
  // Needed when the module breaks, possibly offline.
  load("recover").catch(() => {});
  const undo = [listenForKeys(host), listenForSound(host)];
  if (titleAlert) undo.push(alternateTitle(host, widget));
  if (reports) {
    undo.push(watchPage(onePerVisitor(widget, undo)));
  }
  const end = () => undo.splice(0).forEach((one) => one());
  listening.set(host, end);
  return end;
}

/** The widgets that report events of the page. */
const reporting = new Set<Tracker>();

/** Returns a function that reports only from the first of several widgets of one visitor. */
function onePerVisitor(widget: Tracker, undo: Undo[]): Track {
  const whose = ({ state }: Tracker) => state?.visitorId;
  reporting.add(widget);
  undo.push(
    () => reporting.delete(widget),
    // The companion of the script tag, whose widget has not started, leaves its visitor's events to this widget.
    listen(document, REPORTING, (event) => {
      if ((event as CustomEvent<string>).detail === whose(widget)) event.preventDefault();
    }),
  );
  return (eventType, data) => {
    const first = [...reporting].find((one) => whose(one) === whose(widget));
    if (first === widget) widget.track(eventType, data);
  };
}

function listenForSound(host: HTMLElement): Undo {
  const onMessage = ({ detail }: CustomEvent<ChatWidgetEvents["message"]>) => {
    if (detail.role !== "visitor" && isSoundOn()) sound();
  };
  host.addEventListener("chat-widget:message", onMessage as EventListener);
  return () => host.removeEventListener("chat-widget:message", onMessage as EventListener);
}

function isSoundOn(): boolean {
  try {
    return localStorage.getItem(SOUND_KEY) !== null;
  } catch {
    // Storage is blocked, so the sound was never switched on.
    return false;
  }
}

/** Plays a short, soft tone, if the browser allows sound. */
function sound(): void {
  try {
    audio ??= new AudioContext();
    const tone = new OscillatorNode(audio, { frequency: FREQUENCY_HZ });
    const volume = new GainNode(audio, { gain: 0.08 });
    volume.gain.linearRampToValueAtTime(0, audio.currentTime + DURATION_S);
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + DURATION_S);
  } catch {
    // Sound is blocked.
  }
}
