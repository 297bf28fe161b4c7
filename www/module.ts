// The ES module: puts widgets on the page.

import type { Handle } from "../target/glue/chat_widget.js";
import type diagnose from "./diagnose.js";
import { gather, type Pieces, parseOptions } from "./gather.js";
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
import { nullProto } from "./null-proto.js";
import type listenOnPage from "./page-listeners.js";
import type { ParsedOptions } from "./parse-options.js";
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

/** Adds a style sheet to a shadow root. Without a shadow root, the page has the sheet already. */
function addSheet(host: HTMLElement, text: string): void {
  const root = host.shadowRoot;
  if (!root) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

/** The place of a widget: the loader passes the launcher that it has painted, an element itself. */
export interface Placement {
  /** The element to render into; by default, a new one at the end of the page. */
  host?: HTMLElement;
  /** `data` of the chat config, if it was requested already. */
  config?: unknown;
  /** Whether the widget is part of the page's layout instead of floating. */
  inline?: boolean;
  /** Whether the host stays on the page when the widget is destroyed. */
  stays?: boolean;
  /** Awaited last before the widget renders into the host. */
  settled?: () => Promise<void>;
  /** The prefix of options that are attributes: an invalid one is left out with a warning. */
  prefix?: string;
  /** The WebAssembly module, if it was requested already. */
  wasm?: Promise<Response>;
  /** Has reported the page view, and reports events until the widget does. */
  companion?:
    | { pass(track?: (event: string, data?: object) => void): Record<string, unknown>; end(): void }
    | undefined;
}

/** A chat widget on the page. */
export class ChatWidget {
  readonly #host: HTMLElement;
  readonly #handlers = new Map<string, Set<(detail: never) => void>>();
  readonly #placement: Placement;
  #options: ParsedOptions;
  #handle: Handle | undefined;
  #page: Undo | undefined;
  #listeners: Undo | undefined;
  #styles: Promise<void> | undefined;
  #update: Promise<typeof update> | undefined;
  #announce!: (widget: this) => void;

  /** Fulfilled with the widget when it is on the page, just before the event `ready`. */
  readonly ready = new Promise<this>((resolve) => (this.#announce = resolve));

  private constructor(host: HTMLElement, options: ParsedOptions, placement: Placement) {
    this.#host = host;
    this.#options = options;
    this.#placement = placement;
  }

  /** Puts a widget on the page. Rejects with an `Error` that names the invalid option or the failure. */
  static async mount(given: ChatWidgetOptions, place: Placement = {}): Promise<ChatWidget> {
    const placement = nullProto(place);
    const options = await parseOptions(Object.assign({ proxy: "" }, given), placement.prefix);
    const pieces = await gather(options, placement.inline, placement.wasm);
    const container = pieces.page?.container();
    const host = placement.host ?? Object.assign(document.createElement("chat-widget"), { managed: "module" });
    options.visitor = { ...options.visitor };
    const widget = new ChatWidget(host, options, placement);
    let focused: Element | null | undefined;
    // The module may break while it mounts.
    mounted.set(widget, { fail: (error) => widget.#fail(error), revive: () => widget.#revive() });
    try {
      const handle = widget.#begin(pieces, placement.config, placement.companion?.pass(widget.track.bind(widget)));
      await pause();
      await placement.settled?.();
      if (container) container.append(host);
      else if (!host.isConnected) document.body.append(host);
      focused = host.shadowRoot?.activeElement;
      if (widget.#handle === handle) widget.#show(pieces);
    } catch (error) {
      mounted.delete(widget);
      widget.#handle?.free();
      placement.companion?.pass();
      widget.#leave();
      throw error;
    }
    // The module's launcher has replaced the loader's and takes over the focus.
    if (focused) host.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.focus();
    void widget.#listen().then(() => {
      if (!mounted.has(widget)) return;
      widget.#announce(widget);
      widget.#emit("ready", {});
      for (const [code, error] of pieces.missing) widget.#emit("error", { code, message: String(error) });
    });
    return widget;
  }

  /** Starts or continues the conversation. `handover` are the values of a companion; it has reported the page view. */
  #begin(pieces: Pieces, config?: unknown, handover?: object): Handle {
    // In a microtask, because a handler may call the widget, which must not be in the middle of a call.
    const onEvent = (name: ChatWidgetEvent, detail: never) => queueMicrotask(() => this.#emit(name, detail));
    return (this.#handle = new pieces.Handle(pieces.settings, config, handover, onEvent));
  }

  #show(pieces: Pieces): void {
    this.#handle!.show(this.#host, pieces.sheet);
    this.#follow(pieces);
    this.#styles = pieces.deferredStyles().then((text) => addSheet(this.#host, text));
    this.#styles.catch(() => {});
    const handle = this.#handle;
    pieces.deferred.catch((error: unknown) => this.#handle === handle && this.#missFile(error));
  }

  /** Handles a broken module: undoes the changes to the page and emits the error. */
  #fail(error: unknown): Left {
    this.#end();
    this.#emit("error", { code: "BROKEN", message: String(error) });
    return { host: this.#host, options: this.#options };
  }

  /** Restarts the widget with a new module, from storage. */
  async #revive(): Promise<void> {
    const pieces = await gather(this.#options, this.#placement.inline);
    // The page may have destroyed the widget in the meantime.
    if (!mounted.has(this)) return;
    this.#begin(pieces, undefined, {});
    this.#show(pieces);
    await this.#listen();
  }

  /** Applies the options of the page: tokens, the page's own buttons, sheets. */
  #follow({ sheet, page, Handle }: Pieces): void {
    this.#page?.();
    this.#page = page?.follow(this.#host, this.#handle!, sheet, Handle.styleSheet);
  }

  /** Loads the listeners and the deferred styles. The chat works without them. */
  async #listen(): Promise<void> {
    try {
      const [listen] = await Promise.all([loadChunk<typeof listenOnPage>("page-listeners"), this.#styles]);
      const { events = "auto", consent, titleAlert = true } = this.#options;
      if (!this.#handle) return;
      this.#placement.companion?.end();
      this.#listeners = listen(this.#host, this, loadChunk, events === "auto" && consent !== "required", titleAlert);
    } catch (error) {
      this.#missFile(error);
    }
  }

  #missFile(error: unknown): void {
    this.#emit("error", { code: "FILE_MISSING", message: String(error) });
  }

  /**
   * Changes options; those that are not named stay, and `undefined` resets one. `proxy`, `customerId`, `container`, `isolate`,
   * `events` and `consent` are ignored: they need another widget.
   */
  async update(changes: Partial<ChatWidgetOptions>, prefix?: string): Promise<void> {
    // One promise for all calls: several imports of the same file may be fulfilled in any order.
    return (await (this.#update ??= loadChunk<typeof update>("update")))(this, changes, {
      host: this.#host,
      options: () => this.#options,
      read: (changes) => parseOptions(changes, prefix),
      gather: (options) => gather(options, this.#placement.inline),
      take: (options, pieces, anew) => {
        const { titleAlert } = this.#options;
        this.#options = options;
        if (!this.#handle) return;
        if (options.titleAlert !== titleAlert) void this.#listen();
        if (anew) this.#handle.change(pieces.settings);
        this.#follow(pieces);
      },
      prove: (token) => {
        if (this.#options.visitorToken) this.#options.visitor = {};
        this.#options.visitorToken = token;
        this.#handle?.setVisitorToken(token);
      },
      emit: (theme) => this.#emit("theme", { theme }),
    });
  }

  /** Changes the theme, and the tokens that replace those of the theme. */
  setTheme(theme: ThemeName | "custom", themeTokens?: Record<string, string>): Promise<void> {
    return this.update({ theme, themeTokens });
  }

  /** Changes the locale, a language tag (BCP 47). */
  setLocale(locale: string): Promise<void> {
    return this.update({ locale });
  }

  /** Adds data about the visitor, which is sent with all later messages. */
  identify(profile: VisitorProfile): void {
    // Kept for a module that replaces a broken one.
    Object.assign(this.#options.visitor!, profile);
    this.#handle?.identify(profile);
  }

  /** Reports an event, unless the options or the visitor forbid it. */
  track(event: string, data?: object): void {
    this.#handle?.track(String(event), data);
  }

  /** Records the visitor's consent: from now on, storage and reports that `consent: "required"` prevents are allowed. */
  grantConsent(): void {
    if (this.#options.consent !== "required") return;
    this.#options.consent = "granted";
    this.#handle?.grantConsent();
    this.#listeners?.();
    void this.#listen();
  }

  /** Checks what prevents the widget from working on this page, with advice for the site's owner. */
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

  /** Opens a closed window, and closes an open one. */
  toggle(): void {
    this.#handle?.setOpen(!this.state?.open, false);
  }

  /** Shows the widget again after `hide()`. */
  show(): void {
    this.#host.hidden = false;
  }

  /** Closes the window and hides the widget with its launcher. The conversation continues. */
  hide(): void {
    this.close();
    this.#host.hidden = true;
  }

  /** Requests the chat config again. */
  reloadConfig(): void {
    this.#handle?.reloadConfig();
  }

  /** Deletes visitor and conversation on this device, in all its tabs. The service keeps its data. */
  reset(): void {
    this.#handle?.reset();
  }

  /** Sends a message as the visitor would. An empty or too long one is not sent. */
  sendMessage(text: string): void {
    this.#handle?.sendMessage(String(text ?? ""));
  }

  /** Sets the text of the composer. */
  setDraft(text: string): void {
    this.#handle?.setDraft(String(text ?? ""));
  }

  /** A snapshot of the widget; `undefined` after `destroy()`. */
  get state(): ChatWidgetState | undefined {
    return this.#handle?.state as ChatWidgetState | undefined;
  }

  /** Calls a handler on each event of a name. Returns a function that unsubscribes it. */
  on<Name extends ChatWidgetEvent>(name: Name, handler: ChatWidgetHandler<Name>): () => void {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(handler as (detail: never) => void));
    return () => void handlers.delete(handler as (detail: never) => void);
  }

  /** Calls a handler on the next event of a name. Returns a function that unsubscribes it. */
  once<Name extends ChatWidgetEvent>(name: Name, handler: ChatWidgetHandler<Name>): () => void {
    const off = this.on(name, (detail) => {
      off();
      handler(detail);
    });
    return off;
  }

  /** Removes the widget from the page. */
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

  /** Undoes the changes to the page. */
  #end(): void {
    this.#handle = undefined;
    this.#page?.();
    this.#listeners?.();
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
        new CustomEvent(`chat-widget${mark}${name}`, nullProto({ detail, bubbles: true, composed: true })),
      );
    }
  }
}
