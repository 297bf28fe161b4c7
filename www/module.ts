// The ES module: puts widgets on the page.

import type { Handle } from "../target/glue/chat_widget.js";
import type diagnose from "./diagnose.js";
import { gather, type Pieces, readOptions } from "./gather.js";
import type { Undo } from "./host-page.js";
import { loadChunk, place } from "./load-chunk.js";
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
import { own } from "./own.js";
import type listenOnPage from "./page-listeners.js";
import type { ReadOptions } from "./plain.js";
import type { Left } from "./recover.js";
import type update from "./update.js";
import { loadModule, mounted, pause } from "./wasm.js";

export type * from "./options.js";
// For the element: a bundler, or the address, has exactly one of it.
export { loadChunk };

/**
 * Loads the WebAssembly module, once for all widgets. It is found in the folder of this file; a bundler that moves it may
 * give its address.
 */
export const load: (wasm?: string | URL) => Promise<unknown> = loadModule;

/** Gives a shadow root one more sheet. Without one, the page has it already. */
function addSheet(host: HTMLElement, text: string): void {
  const root = host.shadowRoot;
  if (!root) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
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
  /** The options are attributes with this prefix, or none: one that cannot be used is left out, with a warning. */
  prefix?: string;
}

/** A chat widget on the page. */
export class ChatWidget {
  readonly #host: HTMLElement;
  readonly #handlers = new Map<string, Set<(detail: never) => void>>();
  readonly #placement: Placement;
  #options: ReadOptions;
  #handle: Handle | undefined;
  #page: Undo | undefined;
  #later: Undo | undefined;
  #styles: Promise<void> | undefined;
  #update: Promise<typeof update> | undefined;
  #announce!: (widget: this) => void;

  /** Fulfilled with the widget when it is on the page, just before the event. */
  readonly ready = new Promise<this>((resolve) => (this.#announce = resolve));

  private constructor(host: HTMLElement, options: ReadOptions, placement: Placement) {
    this.#host = host;
    this.#options = options;
    this.#placement = placement;
  }

  /** Puts a widget on the page. It rejects with an `Error` that says which option cannot be used, or what failed. */
  static async mount(given: ChatWidgetOptions, place: Placement = {}): Promise<ChatWidget> {
    const placement = own(place);
    const options = await readOptions(Object.assign({ proxy: "" }, given), placement.prefix);
    const pieces = await gather(options, placement.inline);
    const container = pieces.page?.container();
    const host = placement.host ?? Object.assign(document.createElement("chat-widget"), { managed: "module" });
    options.visitor = { ...options.visitor };
    const widget = new ChatWidget(host, options, placement);
    let focused: Element | null | undefined;
    // Also in between, the module may break.
    mounted.set(widget, { fail: (error) => widget.#fail(error), revive: () => widget.#revive() });
    try {
      const handle = widget.#begin(pieces, placement.config);
      await pause();
      await placement.settled?.();
      if (container) container.append(host);
      else if (!host.isConnected) document.body.append(host);
      focused = host.shadowRoot?.activeElement;
      if (widget.#handle === handle) widget.#show(pieces);
    } catch (error) {
      mounted.delete(widget);
      widget.#handle?.free();
      widget.#leave();
      throw error;
    }
    // The loader's launcher made room for the same button, which takes the focus over.
    if (focused) host.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.focus();
    void widget.#listen().then(() => {
      if (!mounted.has(widget)) return;
      widget.#announce(widget);
      widget.#emit("ready", {});
      for (const [code, error] of pieces.missing) widget.#emit("error", { code, message: String(error) });
    });
    return widget;
  }

  /** Begins or goes on with the conversation. */
  #begin(pieces: Pieces, config?: unknown): Handle {
    // Later, so that a handler may do with the widget what it likes: none runs in the middle of a call.
    const tell = (name: ChatWidgetEvent, detail: never) => queueMicrotask(() => this.#emit(name, detail));
    return (this.#handle = new pieces.Handle(pieces.settings, config, tell));
  }

  #show(pieces: Pieces): void {
    this.#handle!.show(this.#host, pieces.sheet);
    this.#follow(pieces);
    this.#styles = pieces.deferredStyles.then((text) => addSheet(this.#host, text));
    this.#styles.catch(() => {});
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
    this.#begin(pieces);
    this.#show(pieces);
    await this.#listen();
  }

  /** The page's part: tokens, the page's own buttons and sheets. */
  #follow({ sheet, page, Handle }: Pieces): void {
    this.#page?.();
    this.#page = page?.follow(this.#host, this.#handle!, sheet, Handle.styleSheet);
  }

  /** What can come behind the widget. Without it, the chat goes on as well. */
  async #listen(): Promise<void> {
    try {
      const [listen] = await Promise.all([loadChunk<typeof listenOnPage>("page-listeners"), this.#styles]);
      const { events = "auto", consent, titleAlert = true } = this.#options;
      if (this.#handle)
        this.#later = listen(this.#host, this, loadChunk, events === "auto" && consent !== "required", titleAlert);
    } catch (error) {
      this.#emit("error", { code: "FILE_MISSING", message: String(error) });
    }
  }

  /**
   * Goes on with other options; those that are not named stay, and `undefined` takes one back. Where the widget stands and
   * whose conversation it is, `proxy`, `customerId`, `container`, `isolate`, `events` and `consent`, is for another widget.
   */
  async update(changes: Partial<ChatWidgetOptions>, prefix?: string): Promise<void> {
    // One promise for all: of several imports of a file that is on its way, any may be fulfilled first.
    return (await (this.#update ??= loadChunk<typeof update>("update")))(this, changes, {
      host: this.#host,
      options: () => this.#options,
      read: (changes) => readOptions(changes, prefix),
      gather: (options) => gather(options, this.#placement.inline),
      take: (options, pieces, anew) => {
        const { titleAlert } = this.#options;
        this.#options = options;
        if (!this.#handle) return;
        if (options.titleAlert !== titleAlert) void this.#listen();
        if (anew) this.#handle.change(pieces.settings);
        this.#follow(pieces);
      },
      emit: (theme) => this.#emit("theme", { theme }),
    });
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
    // Also for a module that follows one that breaks.
    Object.assign(this.#options.visitor!, profile);
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
    const { base, ...files } = place();
    return (await loadChunk<typeof diagnose>("diagnose"))(this.#options, base, { host: this.#host, ...files });
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

  /** Closes the window and makes the widget invisible, launcher and all; the conversation goes on. */
  hide(): void {
    this.close();
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
    this.#handle?.sendMessage(String(text ?? ""));
  }

  /** Puts a text into the composer. */
  setDraft(text: string): void {
    this.#handle?.setDraft(String(text ?? ""));
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
    for (const handler of new Set(this.#handlers.get(name))) {
      try {
        handler(detail as never);
      } catch (error) {
        console.error(`chat widget: a handler of ${name} threw`, error);
      }
    }
    for (const mark of ":-") {
      this.#host.dispatchEvent(
        new CustomEvent(`chat-widget${mark}${name}`, own({ detail, bubbles: true, composed: true })),
      );
    }
  }
}
