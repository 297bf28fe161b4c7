// Changes the options of a mounted widget. It is loaded by pages that do so.

import { LIVE_OPTIONS, MOUNT_OPTIONS } from "./option-names.js";
import type { ChatWidgetOptions, VisitorProfile } from "./options.js";
import { nullProto } from "./null-proto.js";

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

/** The access of `update()` to a widget. */
export interface Changed<Pieces extends Sheet> {
  host: HTMLElement;
  /** Returns the current options. */
  options(): ChatWidgetOptions;
  /** Parses changes; throws for invalid ones from a page's code. */
  read(changes: Partial<ChatWidgetOptions>): Promise<Partial<ChatWidgetOptions>>;
  /** Loads the files that the options need. */
  gather(options: ChatWidgetOptions): Promise<Pieces>;
  /** Applies the options to a widget that is on the page; with `anew`, it is rendered again. */
  take(options: ChatWidgetOptions, pieces: Pieces, anew: boolean): void;
  /** Sets another proof of the visitor. What the page has said of the visitor may be of another person. */
  prove(token: ChatWidgetOptions["visitorToken"]): void;
  emit(theme: NonNullable<ChatWidgetOptions["theme"]>): void;
}

/** The options after the changes that are under way. */
const wanted = new WeakMap<Updatable, ChatWidgetOptions>();
/** The parsing of earlier changes, which may wait for a file. Changes are parsed one after the other. */
const turns = new WeakMap<Updatable, Promise<unknown>>();

/** Applies changes. Rejects for invalid options, and when a file that they need does not load. */
export default async function update<Pieces extends Sheet>(
  widget: Updatable,
  given: Partial<ChatWidgetOptions>,
  { host, options: current, read, gather, take, prove, emit }: Changed<Pieces>,
): Promise<void> {
  const accepted = Object.fromEntries(Object.entries(given).filter(([name]) => !MOUNT_OPTIONS.includes(name)));
  const reading = (turns.get(widget) ?? Promise.resolve()).then(() => read(accepted));
  turns.set(
    widget,
    reading.catch(() => {}),
  );
  const changes = await reading;
  const before = wanted.get(widget) ?? current();
  if ("visitorToken" in changes && changes.visitorToken !== before.visitorToken) prove(changes.visitorToken);
  const options = nullProto({ ...before, ...changes, ...staying(current()) });
  // The visitor's later answers are not overwritten by the site's first data.
  const known: Record<string, unknown> = { ...current().visitor };
  const isNews = Object.entries(changes.visitor ?? {}).some(([name, value]) => known[name] !== value);
  if (isNews) widget.identify(changes.visitor!);
  wanted.set(widget, options);
  let pieces: Pieces | undefined;
  let isLast = false;
  try {
    pieces = await gather(options);
    const lost = pieces.missing.find(([code]) => code === "THEME_MISSING");
    // The current theme is better than the default one.
    if (lost && changes.theme) throw lost[1];
  } finally {
    isLast = wanted.get(widget) === options;
    if (isLast) wanted.delete(widget);
  }
  // The last of several changes at a time contains the others.
  if (!isLast) return;
  const shown = current();
  const root = host.shadowRoot;
  const focused = root?.activeElement?.getAttribute("part");
  root?.adoptedStyleSheets[0]?.replaceSync(pieces.sheet);
  const anew = (Object.keys(options) as (keyof ChatWidgetOptions)[]).some(
    (name) => !LIVE_OPTIONS.includes(name) && options[name] !== shown[name],
  );
  take(nullProto({ ...options, ...staying(shown) }), pieces, anew);
  if (focused) root?.querySelector<HTMLElement>(`[part="${focused}"]`)?.focus();
  // The widget may have been destroyed in the meantime.
  if (changes.theme && widget.state) emit(changes.theme);
}

/** Returns the options that `update()` does not replace: those of the mount, and the visitor, whose fields add up. */
function staying(options: ChatWidgetOptions): Pick<ChatWidgetOptions, "proxy"> & Partial<ChatWidgetOptions> {
  const kept = Object.entries(options).filter(([name]) => name === "visitor" || MOUNT_OPTIONS.includes(name));
  return Object.fromEntries(kept) as unknown as ChatWidgetOptions;
}
