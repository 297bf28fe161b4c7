// `<chat-widget>`: the widget as an element of the page. Its options are attributes, in kebab-case, and properties.

import { type Control, elementControls } from "./controls.js";
import type showErrorState from "./error-state.js";
import { loadChunk, ChatWidget } from "./module.js";
import { attributeOf, JSON_OPTIONS, MOUNT_OPTIONS, OPTIONS, type Option } from "./option-names.js";
import type { ChatWidgetOptions, ChatWidgetState } from "./options.js";
import { own } from "./own.js";

/** A value as text, to see whether it changes. One that has no text of its own is as good as its kind. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return typeof value;
  }
}

/** Why a widget did not come that nobody waits for any more. */
const GONE = new Error();

// On a server there are no elements; nobody makes one there.
const Base = globalThis.HTMLElement ?? class {};

/** The one that floats above the page. */
let floating: ChatWidgetElement | undefined;

/** The options of a widget as properties, and its controls, which wait until it is there. */
export interface ChatWidgetElement extends Partial<Pick<ChatWidgetOptions, Option>>, ChatWidgetControls {}

/** The controls of a widget that may not be there yet. */
export type ChatWidgetControls = {
  [Name in Control]: (...args: Parameters<ChatWidget[Name]>) => Promise<Awaited<ReturnType<ChatWidget[Name]>>>;
};

/** A chat widget: floating above the page, or with the attribute `inline` where the element stands. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the static block defines the members of the interface
export class ChatWidgetElement extends Base {
  static readonly observedAttributes = ["inline", ...OPTIONS.map(attributeOf)];

  /** `page` for the script tag's own, which comes back when the page's body is replaced; `module` for one of `ChatWidget.mount`. */
  declare managed?: "page" | "module";
  /** What was set as properties. */
  #given: Partial<Record<Option, unknown>> = own({});
  #widget: ChatWidget | undefined;
  /** The options of the widget, as texts: the page may change an object that it has handed over. */
  #mounted: Record<string, string | undefined> = own({});
  #isInline = false;
  #settling = Promise.resolve();
  #willSettle = false;
  #announce!: (widget: ChatWidget) => void;
  #ready = this.#await();

  static {
    for (const name of OPTIONS) {
      const property: PropertyDescriptor & ThisType<ChatWidgetElement> = {
        get() {
          return this.#get(name);
        },
        set(value: unknown) {
          this.#set(name, value);
        },
        enumerable: true,
        configurable: true,
      };
      Object.defineProperty(ChatWidgetElement.prototype, name, own(property));
    }
    for (const name of elementControls()) {
      const method: PropertyDescriptor & ThisType<ChatWidgetElement> = {
        value(...args: unknown[]) {
          return this.#call(name, ...args);
        },
        configurable: true,
        writable: true,
      };
      Object.defineProperty(ChatWidgetElement.prototype, name, own(method));
    }
  }

  constructor() {
    super();
    // What the page has set before this class was there.
    const self = this as unknown as Record<string, unknown>;
    for (const name of OPTIONS) {
      if (!Object.hasOwn(this, name)) continue;
      const value = self[name];
      delete self[name];
      self[name] = value;
    }
  }

  /** Fulfilled with the widget when it is on the page. */
  get ready(): Promise<ChatWidget> {
    return this.#ready;
  }

  /** A snapshot, while the widget is there. */
  get state(): ChatWidgetState | undefined {
    return this.#widget?.state;
  }

  connectedCallback(): void {
    this.#settleLater();
  }

  /** Moved without leaving the page: nothing changes. */
  connectedMoveCallback(): void {}

  disconnectedCallback(): void {
    // Whoever moves the element, or replaces the page's body, puts it back before long.
    setTimeout(() => {
      this.#comeBack();
      this.#settleLater();
    });
  }

  /** The script tag's own stays on the page, whatever becomes of the body. */
  #comeBack(): void {
    if (this.managed !== "page" || this.isConnected) return;
    if (document.body) document.body.append(this);
    else requestAnimationFrame(() => this.#comeBack());
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#settleLater();
  }

  /** A property goes before its attribute. Frameworks set what they know as text either way. */
  #get(name: Option): unknown {
    const given = this.#given[name] ?? this.getAttribute(attributeOf(name)) ?? undefined;
    if (typeof given !== "string" || !JSON_OPTIONS.includes(name)) return given;
    try {
      return JSON.parse(given) as unknown;
    } catch {
      // What may be meant all the same is found out when it is read, and told if it is nothing.
      return given;
    }
  }

  #set(name: Option, value: unknown): void {
    this.#given[name] = value;
    // Taken back, also where a server had written it.
    if (value == null) this.removeAttribute(attributeOf(name));
    if (this.isConnected) this.#settleLater();
  }

  /** Calls a control of the widget once it is there. */
  async #call(control: string, ...args: unknown[]): Promise<unknown> {
    const widget = (await this.#ready) as unknown as Record<string, (...args: unknown[]) => unknown>;
    return widget[control]!(...args);
  }

  #await(): Promise<ChatWidget> {
    return new Promise((resolve) => (this.#announce = resolve));
  }

  /** One after the other, and once for all that changes at a time. */
  #settleLater(): void {
    if (this.managed || this.#willSettle) return;
    this.#willSettle = true;
    const settle = () => {
      this.#willSettle = false;
      return this.#settle();
    };
    this.#settling = this.#settling.then(settle).catch((error: unknown) => {
      console.error(error);
      const detail = { code: "NOT_MOUNTED", message: String(error) };
      for (const mark of ":-")
        this.dispatchEvent(new CustomEvent(`chat-widget${mark}error`, own({ detail, bubbles: true, composed: true })));
    });
  }

  /** Brings the widget to what the element says now. */
  async #settle(): Promise<void> {
    const options = own(
      Object.fromEntries(OPTIONS.map((name) => [name, this.#get(name)])),
    ) as unknown as ChatWidgetOptions;
    const isInline = this.hasAttribute("inline");
    const texts = own(Object.fromEntries(OPTIONS.map((name) => [name, textOf(options[name])])));
    const changed = OPTIONS.filter((name) => texts[name] !== this.#mounted[name]);
    const isAnother = changed.some((name) => MOUNT_OPTIONS.includes(name));
    if (this.#widget && (!this.isConnected || isInline !== this.#isInline || isAnother)) {
      this.#widget.destroy();
      this.#widget = undefined;
      this.#ready = this.#await();
      if (floating === this) floating = undefined;
    }
    if (!this.isConnected) return;
    if (this.#widget) {
      this.#mounted = texts;
      // What the page has changed by a control stays.
      return changed.length
        ? this.#widget.update(Object.fromEntries(changed.map((name) => [name, options[name]])), "")
        : undefined;
    }
    this.#clear(options);
    // Half of an element, as a script puts it on the page before it says more, is none.
    if (options.proxy === undefined) return;
    if (!isInline && this.#isSecond()) {
      throw new Error("chat widget: one widget floats above the page already; give this element the attribute inline");
    }
    if (!isInline) floating = this;
    this.#isInline = isInline;
    this.#mounted = texts;
    try {
      const host = this as unknown as HTMLElement;
      // The page may take it away while the module comes.
      const settled = async () => {
        if (!this.isConnected) throw GONE;
      };
      this.#widget = await ChatWidget.mount(options, { host, inline: isInline, stays: true, settled, prefix: "" });
    } catch (error) {
      if (floating === this) floating = undefined;
      if (error === GONE) return;
      // A wrong option is the page's to mend. Whatever else it was, the visitor is told where to turn to.
      if (!String(error).includes("chat widget: the option")) {
        (await loadChunk<typeof showErrorState>("error-state"))(this as unknown as HTMLElement, options, false);
      }
      throw error;
    }
    this.#announce(this.#widget);
    // It may have gone since.
    if (!this.isConnected) await this.#settle();
  }

  /** Another one floats above the page, be it an element, the script tag's or a script's own. */
  #isSecond(): boolean {
    if (floating && floating !== this && floating.isConnected) return true;
    return [...document.querySelectorAll<ChatWidgetElement>("chat-widget")].some(
      (one) => one.managed && (one.shadowRoot ?? one).querySelector(".cw:not([data-position=inline])"),
    );
  }

  /** Takes away what is left of another widget: the page was copied, or this one had a shadow root. */
  #clear({ isolate }: ChatWidgetOptions): void {
    for (const left of [...this.children]) {
      if (left.slot === "announcer" || left.querySelector(":scope > .cw")) left.remove();
    }
    if (!/^([0fn]|off)/i.test(String(isolate)) || !this.shadowRoot) return;
    this.shadowRoot.replaceChildren(document.createElement("slot"));
    this.shadowRoot.adoptedStyleSheets = [];
  }
}

if (globalThis.customElements && !customElements.get("chat-widget")) {
  customElements.define("chat-widget", ChatWidgetElement as unknown as CustomElementConstructor);
}

declare global {
  interface HTMLElementTagNameMap {
    "chat-widget": ChatWidgetElement;
  }
}
