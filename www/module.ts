// The ES module: loads the WebAssembly module once, and puts widgets on the page.

import init, { Handle } from "../target/glue/chat_widget.js";
import { check } from "./check.js";
import { listenForKeys } from "./keys.js";
import type steps from "./page.js";
import type { Undo } from "./page.js";
import type {
  ChatWidgetEvent,
  ChatWidgetEvents,
  ChatWidgetHandler,
  ChatWidgetOptions,
  ChatWidgetState,
} from "./options.js";
import { languageOf, RIGHT_TO_LEFT } from "./language.js";

export type * from "./options.js";

let loading: Promise<unknown> | undefined;

// A widget that nobody refers to would be collected, and go from the page.
const mounted = new Set<ChatWidget>();

/**
 * Loads the WebAssembly module, once for all widgets. It is found beside this file; a bundler that moves it may give
 * its address.
 */
export function load(wasm?: string | URL): Promise<unknown> {
  loading ??= init({ module_or_path: wasm ?? new URL("./chat-widget.wasm", import.meta.url) }).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

/** What most pages do not ask for. */
const PAGE_OPTIONS = ["container", "isolate", "launcher", "offset", "themeTokens", "zIndex"] as const;
// Filled in by the build: kept while the visitor wants to hear what comes in.
declare const SOUND_KEY: string;

type Page = typeof steps;
type Texts = Record<string, unknown>;

/** What a small module beside this one has to say: a page loads the theme and the language that it shows. */
async function beside<Kind>(path: string): Promise<Kind> {
  const url = new URL(`./${path}.mjs`, import.meta.url).href;
  return ((await import(/* @vite-ignore */ /* webpackIgnore: true */ url)) as { default: Kind }).default;
}

/** The texts of a language with the page's own in their place; the form of a plural has the name `name.category`. */
function replaced(texts: Texts | "" | undefined, own: ChatWidgetOptions["strings"] = {}): Texts {
  const all: Texts = { ...texts };
  for (const name in own) {
    const text = own[name];
    if (typeof text === "object") for (const category in text) all[name + "." + category] = text[category];
    else all[name] = text;
  }
  return all;
}

/** What came in is heard, if the visitor wants that. */
function sound(): void {
  try {
    if (localStorage.getItem(SOUND_KEY)) void beside<() => void>("sound").then((chime) => chime());
  } catch {
    // Storage is blocked, so that nobody has asked for a sound.
  }
}

/** What the loader hands over with a launcher that it has painted. */
export interface Placement {
  /** The element to render into; a new one at the end of the page without it. */
  host?: HTMLElement;
  /** `data` of the chat config, when it was asked for already. */
  config?: unknown;
  /** Waited for at the last moment before the host is rendered into. */
  settled?: () => Promise<void>;
}

/** A chat widget on the page. */
export class ChatWidget {
  readonly #host: HTMLElement;
  readonly #handlers = new Map<string, Set<(detail: never) => void>>();
  readonly #undo: Undo[] = [];
  #handle: Handle | undefined;

  private constructor(host: HTMLElement) {
    this.#host = host;
  }

  /** Puts a widget on the page. It rejects with an `Error` that says which option cannot be used, or what failed. */
  static async mount(options: ChatWidgetOptions, placement: Placement = {}): Promise<ChatWidget> {
    check(options);
    const theme = options.theme ?? "teal";
    const language = languageOf(options.locale || document.documentElement.lang || navigator.language);
    let missing: unknown;
    const [sheet, texts] = await Promise.all([
      beside<string>(`themes/${theme === "custom" ? "teal" : theme}`),
      language && beside<Texts>(`locales/${language}`).catch((error: unknown) => void (missing = error) as undefined),
      load(),
    ]);
    const page = PAGE_OPTIONS.some((name) => options[name] !== undefined) ? await beside<Page>("page") : undefined;
    await placement.settled?.();
    const host = placement.host ?? document.createElement("chat-widget");
    page?.place(host, options);
    if (!host.isConnected) document.body.append(host);
    const widget = new ChatWidget(host);
    const focused = host.shadowRoot?.activeElement;
    try {
      // Later, so that a handler may do with the widget what it likes: none runs in the middle of a call.
      const tell = (name: ChatWidgetEvent, detail: never) => queueMicrotask(() => widget.#emit(name, detail));
      const { container, launcher = "default", isolate = true, greeting, ...others } = options;
      if (!isolate) widget.#undo.push(page!.styleInPage(host, [sheet, Handle.styleSheet]));
      const { text, after } = typeof greeting === "string" ? { text: greeting, after: undefined } : (greeting ?? {});
      const greets = { greeting: text, greetingAfter: after === undefined ? undefined : Math.round(after * 1000) };
      const settings = {
        ...others,
        ...greets,
        language: texts && language,
        direction: texts && RIGHT_TO_LEFT.test(language!) ? "rtl" : "ltr",
        strings: replaced(texts, options.strings),
        isolate,
        inline: container !== undefined,
        launcher: launcher === "default",
      };
      const handle = new Handle(host, settings, sheet, placement.config, tell);
      widget.#handle = handle;
      widget.#undo.push(listenForKeys(host));
      if (launcher !== "default" && launcher !== "none") widget.#undo.push(page!.follow(host, handle, launcher));
    } catch (error) {
      widget.#leave();
      throw error;
    }
    // The loader's launcher made room for the same button, which takes the focus over.
    if (focused) host.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.focus();
    mounted.add(widget);
    // In a task of its own: whoever waits for this function has its handlers in place by then.
    setTimeout(() => {
      if (!widget.#handle) return;
      widget.#emit("ready", {});
      if (missing) widget.#emit("error", { code: "LANGUAGE_MISSING", message: String(missing) });
    });
    return widget;
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
    if (this.#handle) this.#handle.setOpen(!this.#handle.isOpen, false);
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
    const handle = this.#handle;
    if (!handle) return;
    this.#handle = undefined;
    handle.free();
    mounted.delete(this);
    this.#emit("destroy", {});
    this.#leave();
    this.#handlers.clear();
  }

  #leave(): void {
    for (const undo of this.#undo.splice(0)) undo();
    this.#host.remove();
  }

  #emit<Name extends ChatWidgetEvent>(name: Name, detail: ChatWidgetEvents[Name]): void {
    if (name === "message" && (detail as ChatWidgetEvents["message"]).role !== "visitor") sound();
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
