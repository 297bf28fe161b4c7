// Goes on with other options. It is loaded by pages that change some.

import { LIVE_OPTIONS, MOUNT_OPTIONS } from "./option-names.js";
import type { ChatWidgetOptions, VisitorProfile } from "./options.js";
import { own } from "./own.js";

/** A widget, as far as it is needed here. */
interface Updatable {
  readonly state?: object | undefined;
  identify(profile: VisitorProfile): void;
}

/** The files of a widget, as far as they are needed here. */
interface Sheet {
  sheet: string;
  missing: [code: string, error: unknown][];
}

/** What a widget lets be changed. */
export interface Changed<Pieces extends Sheet> {
  host: HTMLElement;
  /** The options so far. */
  options(): ChatWidgetOptions;
  /** Reads changes; throws when they are a page's code and cannot be used. */
  read(changes: Partial<ChatWidgetOptions>): Promise<Partial<ChatWidgetOptions>>;
  /** Loads what the options ask for. */
  gather(options: ChatWidgetOptions): Promise<Pieces>;
  /** Goes on with these options, at once if the widget is on the page; `anew`: what is there is drawn once more. */
  take(options: ChatWidgetOptions, pieces: Pieces, anew: boolean): void;
  emit(theme: NonNullable<ChatWidgetOptions["theme"]>): void;
}

/** What the changes that are under way make of the options. */
const wanted = new WeakMap<Updatable, ChatWidgetOptions>();
/** Changes are read one after the other: some need a file for it. */
const turns = new WeakMap<Updatable, Promise<unknown>>();

/** Goes on with these changes. It rejects when the options cannot be used, and when what they ask for cannot be loaded. */
export default async function update<Pieces extends Sheet>(
  widget: Updatable,
  given: Partial<ChatWidgetOptions>,
  { host, options: current, read, gather, take, emit }: Changed<Pieces>,
): Promise<void> {
  const accepted = Object.fromEntries(Object.entries(given).filter(([name]) => !MOUNT_OPTIONS.includes(name)));
  const reading = (turns.get(widget) ?? Promise.resolve()).then(() => read(accepted));
  turns.set(
    widget,
    reading.catch(() => {}),
  );
  const changes = await reading;
  const options = own({ ...(wanted.get(widget) ?? current()), ...changes, ...staying(current()) });
  // What the visitor has said since is not overwritten by what the site knew at first.
  const known: Record<string, unknown> = { ...current().visitor };
  const isNews = Object.entries(changes.visitor ?? {}).some(([name, value]) => known[name] !== value);
  if (isNews) widget.identify(changes.visitor!);
  wanted.set(widget, options);
  let pieces: Pieces | undefined;
  let isLast = false;
  try {
    pieces = await gather(options);
    const lost = pieces.missing.find(([code]) => code === "THEME_MISSING");
    // The look that is there is better than the default one.
    if (lost && changes.theme) throw lost[1];
  } finally {
    isLast = wanted.get(widget) === options;
    if (isLast) wanted.delete(widget);
  }
  // Of several changes at a time, the last one has all of them.
  if (!isLast) return;
  const before = current();
  const root = host.shadowRoot;
  const focused = root?.activeElement?.getAttribute("part");
  root?.adoptedStyleSheets[0]?.replaceSync(pieces.sheet);
  const anew = (Object.keys(options) as (keyof ChatWidgetOptions)[]).some(
    (name) => !LIVE_OPTIONS.includes(name) && options[name] !== before[name],
  );
  take(own({ ...options, ...staying(before) }), pieces, anew);
  if (focused) root?.querySelector<HTMLElement>(`[part="${focused}"]`)?.focus();
  // It may have gone in the meantime.
  if (changes.theme && widget.state) emit(changes.theme);
}

/** Returns the options that `update()` does not replace: those of the mount, and the visitor, whose fields add up. */
function staying(options: ChatWidgetOptions): Pick<ChatWidgetOptions, "proxy"> & Partial<ChatWidgetOptions> {
  const kept = Object.entries(options).filter(([name]) => name === "visitor" || MOUNT_OPTIONS.includes(name));
  return Object.fromEntries(kept) as unknown as ChatWidgetOptions;
}
