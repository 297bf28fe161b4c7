// The ES module: loads the WebAssembly module once, and puts widgets on the page.

import glue, { type Handle } from "../target/glue/chat_widget.js";
import { beside } from "./beside.js";
import { check } from "./check.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import type languageOf from "./language.js";
import type later from "./later.js";
import type {
  ChatWidgetDiagnosis,
  ChatWidgetEvent,
  ChatWidgetEvents,
  ChatWidgetHandler,
  ChatWidgetOptions,
  ChatWidgetState,
  ThemeName,
  VisitorProfile,
} from "./options.js";
import type steps from "./page.js";
import type { Undo } from "./page.js";
import type recover from "./recover.js";
import type { Broken, Left } from "./recover.js";

export type * from "./options.js";
// For the element, which is a bundler's to find things by, or the address's.
export { beside };

type Module = Awaited<ReturnType<typeof glue>>;

let loading: Promise<Module> | undefined;
let address: string | URL | undefined;

// A widget that nobody refers to would be collected, and go from the page.
const mounted = new Map<ChatWidget, Broken>();

/**
 * Loads the WebAssembly module, once for all widgets. It is found beside this file; a bundler that moves it may give
 * its address.
 */
export function load(wasm?: string | URL): Promise<unknown> {
  if (loading) return loading;
  address = wasm ?? address ?? new URL("./chat-widget.wasm", import.meta.url);
  return (loading = glue(address, onBroken).catch((error: unknown) => {
    loading = undefined;
    throw error;
  }));
}

/** The module is of no use any more. */
function onBroken(error: unknown): void {
  loading = undefined;
  beside<typeof recover>("recover").then((recover) => recover(mounted, error, beside), console.error);
}

/** What most pages do not ask for. */
const PAGE_OPTIONS = ["container", "isolate", "launcher", "offset", "themeTokens", "zIndex"] as const;

type Page = typeof steps;
type Texts = Record<string, unknown>;

/** What a widget is made of, by its options. */
interface Pieces extends Module {
  sheet: string;
  /** The settings of the WebAssembly module. */
  settings: object;
  page: Page | undefined;
  /** Why the texts of the language did not come. */
  missing: unknown;
}

/** Loads what the options, which are checked, ask for. */
async function gather(options: ChatWidgetOptions, inline?: boolean): Promise<Pieces> {
  const { container, launcher = "default", isolate = true, greeting, consent, theme = "teal", ...others } = options;
  const locale = options.locale || document.documentElement.lang || navigator.language;
  let language: string | undefined;
  let missing: unknown;
  const translate = async () => {
    language = (await beside<typeof languageOf>("language"))(locale);
    return language ? beside<Texts>(`locales/${language}`) : undefined;
  };
  const [sheet, texts, page, module] = await Promise.all([
    beside<string>(`themes/${theme === "custom" ? "teal" : theme}`),
    // The texts that are in the module.
    /^en\b/i.test(locale) ? undefined : translate().catch((error: unknown) => void (missing = error) as undefined),
    PAGE_OPTIONS.some((name) => options[name] !== undefined) ? beside<Page>("page") : undefined,
    load() as Promise<Module>,
  ]);
  const { text, after } = typeof greeting === "string" ? { text: greeting, after: undefined } : (greeting ?? {});
  const settings = {
    ...others,
    greeting: text,
    greetingAfter: after === undefined ? undefined : Math.round(after * 1000),
    language: texts && language,
    direction: texts && RIGHT_TO_LEFT.test(language!) ? "rtl" : "ltr",
    strings: replaced(texts, options.strings),
    isolate,
    consent: consent !== "required",
    inline: inline || container !== undefined,
    launcher: launcher === "default",
  };
  return { ...module, sheet, settings, page, missing };
}

/** The texts of a language with the page's own in their place; the form of a plural has the name `name.category`. */
function replaced(texts: Texts | undefined, own: ChatWidgetOptions["strings"] = {}): Texts {
  const all: Texts = { ...texts };
  for (const name in own) {
    const text = own[name];
    if (typeof text === "object") for (const category in text) all[name + "." + category] = text[category];
    else all[name] = text;
  }
  return all;
}

/** What the loader hands over with a launcher that it has painted. */
export interface Placement {
  /** The element to render into; a new one at the end of the page without it. */
  host?: HTMLElement;
  /** `data` of the chat config, when it was asked for already. */
  config?: unknown;
  /** The widget stands in the host, which stands where it stands. */
  inline?: boolean;
  /** The host stays on the page when the widget goes. */
  stays?: boolean;
  /** Waited for at the last moment before the host is rendered into. */
  settled?: () => Promise<void>;
}

/** A chat widget on the page. */
export class ChatWidget {
  readonly #host: HTMLElement;
  readonly #handlers = new Map<string, Set<(detail: never) => void>>();
  readonly #placement: Placement;
  #options: ChatWidgetOptions;
  /** What a change that is under way makes of them. */
  #wanted: ChatWidgetOptions | undefined;
  /** The visitor that the module was told of. */
  #visitor: string | undefined;
  #handle: Handle | undefined;
  #page: Undo | undefined;
  #later: Undo | undefined;
  #changes = 0;
  #announce!: (widget: this) => void;

  /** Fulfilled with the widget when it is on the page, just before the event. */
  readonly ready = new Promise<this>((resolve) => (this.#announce = resolve));

  private constructor(host: HTMLElement, options: ChatWidgetOptions, placement: Placement) {
    this.#host = host;
    this.#placement = placement;
    this.#options = options;
    this.#visitor = JSON.stringify(options.visitor);
  }

  /** Puts a widget on the page. It rejects with an `Error` that says which option cannot be used, or what failed. */
  static async mount(options: ChatWidgetOptions, placement: Placement = {}): Promise<ChatWidget> {
    check(options);
    const pieces = await gather(options, placement.inline);
    await placement.settled?.();
    const host = placement.host ?? Object.assign(document.createElement("chat-widget"), { managed: "module" });
    const container = pieces.page?.containerOf(options);
    if (container) container.append(host);
    else if (!host.isConnected) document.body.append(host);
    const widget = new ChatWidget(host, { ...options }, placement);
    const focused = host.shadowRoot?.activeElement;
    try {
      widget.#appear(pieces, placement.config);
    } catch (error) {
      widget.#leave();
      throw error;
    }
    // The loader's launcher made room for the same button, which takes the focus over.
    if (focused) host.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.focus();
    mounted.set(widget, { fail: (error) => widget.#fail(error), revive: () => widget.#revive() });
    void widget.#listen().then(() => {
      if (!mounted.has(widget)) return;
      widget.#announce(widget);
      widget.#emit("ready", {});
      const { missing } = pieces;
      if (missing) widget.#emit("error", { code: "LANGUAGE_MISSING", message: String(missing) });
    });
    return widget;
  }

  #appear(pieces: Pieces, config?: unknown): void {
    // Later, so that a handler may do with the widget what it likes: none runs in the middle of a call.
    const tell = (name: ChatWidgetEvent, detail: never) => queueMicrotask(() => this.#emit(name, detail));
    this.#handle = new pieces.Handle(this.#host, pieces.settings, pieces.sheet, config, tell);
    this.#follow(pieces);
  }

  /** The module broke. What was done to the page is taken back, and the page told. */
  #fail(error: unknown): Left {
    this.#end();
    this.#emit("error", { code: "BROKEN", message: String(error) });
    return { host: this.#host, options: this.#options };
  }

  /** Goes on with a new module, from what is stored. */
  async #revive(): Promise<void> {
    const pieces = await gather(this.#options, this.#placement.inline);
    // The page may have taken it away in the meantime.
    if (!mounted.has(this)) return;
    this.#appear(pieces);
    await this.#listen();
  }

  /** The page's part: tokens, the page's own buttons and sheets. */
  #follow({ sheet, page, Handle }: Pieces): void {
    this.#page?.();
    this.#page = page?.follow(this.#host, this.#handle!, this.#options, [sheet, Handle.styleSheet]);
  }

  /** What can come behind the widget. Without it, the chat goes on as well. */
  async #listen(): Promise<void> {
    try {
      const listen = await beside<typeof later>("later");
      const { events = "auto", consent } = this.#options;
      if (this.#handle) this.#later = listen(this.#host, this, events === "auto" && consent !== "required");
    } catch (error) {
      this.#emit("error", { code: "FILE_MISSING", message: String(error) });
    }
  }

  /**
   * Goes on with other options; those that are not named stay, and `undefined` takes one back. Where the widget stands and
   * whose conversation it is, `proxy`, `customerId`, `container`, `isolate`, `events` and `consent`, is for another widget.
   */
  async update(changes: Partial<ChatWidgetOptions>): Promise<void> {
    const order = (this.#changes += 1);
    const { proxy, customerId, container, isolate, events, consent } = this.#options;
    const options = { ...(this.#wanted ?? this.#options), ...changes, proxy, customerId, container, isolate, events, consent } as ChatWidgetOptions;
    check(options);
    this.#wanted = options;
    let pieces: Pieces;
    try {
      pieces = await gather(options, this.#placement.inline);
    } finally {
      if (order === this.#changes) this.#wanted = undefined;
    }
    // Of several changes at a time, the last one has all of them.
    if (!this.#handle || order !== this.#changes) return;
    this.#options = options;
    // What the visitor has said since is not overwritten by what the site knew at first.
    const visitor = JSON.stringify(options.visitor);
    if (visitor !== this.#visitor) this.#handle.identify(options.visitor);
    this.#visitor = visitor;
    const root = this.#host.shadowRoot;
    const focused = root?.activeElement?.getAttribute("part");
    root?.adoptedStyleSheets[0]?.replaceSync(pieces.sheet);
    this.#handle.change(pieces.settings);
    this.#follow(pieces);
    if (focused) root?.querySelector<HTMLElement>(`[part="${focused}"]`)?.focus();
    if (changes.theme) this.#emit("theme", { theme: changes.theme });
  }

  /** Shows another theme, with tokens in place of its own if there are any. */
  setTheme(theme: ThemeName | "custom", themeTokens?: Record<string, string>): Promise<void> {
    return this.update({ theme, themeTokens });
  }

  /** Goes on in another language: BCP 47. */
  setLocale(locale: string): Promise<void> {
    return this.update({ locale });
  }

  /** Says more about the visitor; it goes along with what is sent from now on. */
  identify(profile: VisitorProfile): void {
    this.#handle?.identify(profile);
  }

  /** Reports an event, unless the visitor or the options do not want that. */
  track(event: string, data?: object): void {
    this.#handle?.track(String(event), data);
  }

  /** The visitor agreed to be remembered: from now on, what was held back by `consent: "required"` is kept and reported. */
  grantConsent(): void {
    if (this.#options.consent !== "required") return;
    this.#options.consent = "granted";
    this.#handle?.grantConsent();
    this.#later?.();
    void this.#listen();
  }

  /** Finds out what keeps the widget from working on this page, in words that a site's owner can act on. */
  async diagnose(): Promise<ChatWidgetDiagnosis> {
    const look = await beside<(options: ChatWidgetOptions, base: string) => Promise<ChatWidgetDiagnosis>>("diagnose");
    return look(this.#options, import.meta.url);
  }

  /** Opens the window. */
  open(): void {
    this.#handle?.setOpen(true, false);
  }

  /** Closes the window. */
  close(): void {
    this.#handle?.setOpen(false, false);
  }

  /** Opens the window when it is closed, and closes it when it is open. */
  toggle(): void {
    this.#handle?.setOpen(!this.state?.open, false);
  }

  /** Shows the widget again after `hide()`. */
  show(): void {
    this.#host.hidden = false;
  }

  /** Makes the widget invisible, launcher and all; the conversation goes on. */
  hide(): void {
    this.#host.hidden = true;
  }

  /** Asks the proxy for the chat config again. */
  reloadConfig(): void {
    this.#handle?.reloadConfig();
  }

  /** Forgets the visitor and the conversation on this device, in all its tabs. What the service has stays there. */
  reset(): void {
    this.#handle?.reset();
  }

  /** Sends a message as the visitor would; one that is empty or too long is not sent. */
  sendMessage(text: string): void {
    this.#handle?.sendMessage(String(text));
  }

  /** Puts a text into the composer. */
  setDraft(text: string): void {
    this.#handle?.setDraft(String(text));
  }

  /** A snapshot; `undefined` after `destroy()`. */
  get state(): ChatWidgetState | undefined {
    return this.#handle?.state as ChatWidgetState | undefined;
  }

  /** Calls a function on each event of a name. The function given back stops that. */
  on<Name extends ChatWidgetEvent>(name: Name, handler: ChatWidgetHandler<Name>): () => void {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(handler as (detail: never) => void));
    return () => void handlers.delete(handler as (detail: never) => void);
  }

  /** Calls a function on the next event of a name. */
  once<Name extends ChatWidgetEvent>(name: Name, handler: ChatWidgetHandler<Name>): () => void {
    const off = this.on(name, (detail) => {
      off();
      handler(detail);
    });
    return off;
  }

  /** Takes the widget off the page. */
  destroy(): void {
    if (!mounted.delete(this)) return;
    this.#handle?.free();
    this.#handle = undefined;
    this.#emit("destroy", {});
    this.#leave();
    this.#handlers.clear();
  }

  #leave(): void {
    this.#end();
    if (!this.#placement.stays) this.#host.remove();
  }

  /** What was done to the page is taken back. */
  #end(): void {
    this.#handle = undefined;
    this.#page?.();
    this.#later?.();
  }

  #emit<Name extends ChatWidgetEvent>(name: Name, detail: ChatWidgetEvents[Name]): void {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) {
      try {
        handler(detail as never);
      } catch (error) {
        console.error(`chat widget: a handler of "${name}" threw`, error);
      }
    }
    this.#host.dispatchEvent(new CustomEvent(`chat-widget:${name}`, { detail, bubbles: true, composed: true }));
  }
}
