// `<chat-widget>`: the widget as a custom element. Its options are attributes, in kebab case, and properties.

import { attributeOf } from "./attribute-name.js";
import { type Control, elementControls } from "./controls.js";
import type showErrorState from "./error-state.js";
import { loadChunk, ChatWidget } from "./module.js";
import { JSON_OPTIONS, MOUNT_OPTIONS, OPTIONS, type Option } from "./option-names.js";
import type { ChatWidgetOptions, ChatWidgetState } from "./options.js";
import { nullProto } from "./null-proto.js";

/** Returns a value as text, to detect changes, and a function itself. Another value that JSON cannot represent is compared
 * by its type. */
function textOf(value: unknown): unknown {
  if (typeof value === "function") return value;
  try {
    return JSON.stringify(value);
  } catch {
    return typeof value;
  }
}

/** The reason of a mount that was abandoned because the element left the page. */
const ABANDONED = new Error();

// A server has no elements and creates none.
const Base = globalThis.HTMLElement ?? class {};

/** The element that floats above the page. */
let floating: ChatWidgetElement | undefined;

/** The options of a widget as properties, and its controls, which wait until it is mounted. */
export interface ChatWidgetElement extends Partial<Pick<ChatWidgetOptions, Option>>, ChatWidgetControls {}

/** The controls of a widget that may not be mounted yet. */
export type ChatWidgetControls = {
  [Name in Control]: (...args: Parameters<ChatWidget[Name]>) => Promise<Awaited<ReturnType<ChatWidget[Name]>>>;
};

/** A chat widget: floating above the page, or with the attribute `inline` where the element stands. */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the static block defines the members of the interface
export class ChatWidgetElement extends Base {
  static readonly observedAttributes = ["inline", ...OPTIONS.map(attributeOf)];

  /** `page` for the script tag's element, which returns when the page's body is replaced; `module` for one of
   * `ChatWidget.mount`. */
  declare managed?: "page" | "module";
  /** The options that were set as properties. */
  #properties: Partial<Record<Option, unknown>> = nullProto({});
  #widget: ChatWidget | undefined;
  /** The options of the mounted widget as text, because the page may mutate an object that it has passed. */
  #mounted: Record<string, unknown> = nullProto({});
  #isInline = false;
  #settling = Promise.resolve();
  #willSettle = false;
  #announce!: (widget: ChatWidget) => void;
  #ready = this.#nextWidget();

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
      Object.defineProperty(ChatWidgetElement.prototype, name, nullProto(property));
    }
    for (const name of elementControls()) {
      const method: PropertyDescriptor & ThisType<ChatWidgetElement> = {
        value(...args: unknown[]) {
          return this.#call(name, ...args);
        },
        configurable: true,
        writable: true,
      };
      Object.defineProperty(ChatWidgetElement.prototype, name, nullProto(method));
    }
  }

  constructor() {
    super();
    // Properties that the page has set before the class was defined.
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

  /** A snapshot of the widget; `undefined` while there is none. */
  get state(): ChatWidgetState | undefined {
    return this.#widget?.state;
  }

  connectedCallback(): void {
    this.#settleLater();
  }

  /** A move within the page changes nothing. */
  connectedMoveCallback(): void {}

  disconnectedCallback(): void {
    // A script that moves the element, or replaces the page's body, inserts it again in the same task.
    setTimeout(() => {
      this.#return();
      this.#settleLater();
    });
  }

  /** Puts the script tag's element back when the page's body was replaced. */
  #return(): void {
    if (this.managed !== "page" || this.isConnected) return;
    if (document.body) document.body.append(this);
    else requestAnimationFrame(() => this.#return());
  }

  attributeChangedCallback(): void {
    if (this.isConnected) this.#settleLater();
  }

  /** Returns the value of an option; a property takes precedence over its attribute. Frameworks set both as text. */
  #get(name: Option): unknown {
    const given = this.#properties[name] ?? this.getAttribute(attributeOf(name)) ?? undefined;
    if (typeof given !== "string" || !JSON_OPTIONS.includes(name)) return given;
    try {
      return JSON.parse(given) as unknown;
    } catch {
      // The validation accepts other spellings, and reports an invalid value.
      return given;
    }
  }

  #set(name: Option, value: unknown): void {
    this.#properties[name] = value;
    // An unset property also removes an attribute that a server has rendered.
    if (value == null) this.removeAttribute(attributeOf(name));
    if (this.isConnected) this.#settleLater();
  }

  /** Calls a control of the widget once it is mounted. */
  async #call(control: string, ...args: unknown[]): Promise<unknown> {
    const widget = (await this.#ready) as unknown as Record<string, (...args: unknown[]) => unknown>;
    return widget[control]!(...args);
  }

  #nextWidget(): Promise<ChatWidget> {
    return new Promise((resolve) => (this.#announce = resolve));
  }

  /** Schedules one update for all changes of a task. Updates run one after the other. */
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
        this.dispatchEvent(
          new CustomEvent(`chat-widget${mark}error`, nullProto({ detail, bubbles: true, composed: true })),
        );
    });
  }

  /** Reconciles the widget with the element's options. */
  async #settle(): Promise<void> {
    const options = nullProto(
      Object.fromEntries(OPTIONS.map((name) => [name, this.#get(name)])),
    ) as unknown as ChatWidgetOptions;
    const isInline = this.hasAttribute("inline");
    const texts = nullProto(Object.fromEntries(OPTIONS.map((name) => [name, textOf(options[name])])));
    const changed = OPTIONS.filter((name) => texts[name] !== this.#mounted[name]);
    const isAnother = changed.some((name) => MOUNT_OPTIONS.includes(name));
    if (this.#widget && (!this.isConnected || isInline !== this.#isInline || isAnother)) {
      this.#widget.destroy();
      this.#widget = undefined;
      this.#ready = this.#nextWidget();
      if (floating === this) floating = undefined;
    }
    if (!this.isConnected) return;
    if (this.#widget) {
      this.#mounted = texts;
      // Options that the page has changed by a control stay.
      return changed.length
        ? this.#widget.update(Object.fromEntries(changed.map((name) => [name, options[name]])), "")
        : undefined;
    }
    this.#clear(options);
    // A script may insert the element before it sets the options.
    if (options.proxy === undefined) return;
    if (!isInline && this.#isSecond()) {
      throw new Error("chat widget: one widget floats above the page already; give this element the attribute inline");
    }
    if (!isInline) floating = this;
    this.#isInline = isInline;
    this.#mounted = texts;
    try {
      const host = this as unknown as HTMLElement;
      // The page may remove the element while the module loads.
      const settled = async () => {
        if (!this.isConnected) throw ABANDONED;
      };
      this.#widget = await ChatWidget.mount(options, { host, inline: isInline, stays: true, settled, prefix: "" });
    } catch (error) {
      if (floating === this) floating = undefined;
      if (error === ABANDONED) return;
      // An invalid option is reported to the developer; any other failure is shown to the visitor.
      if (!String(error).includes("chat widget: the option")) {
        (await loadChunk<typeof showErrorState>("error-state"))(this as unknown as HTMLElement, options, false);
      }
      throw error;
    }
    this.#announce(this.#widget);
    // The element may have left the page since.
    if (!this.isConnected) await this.#settle();
  }

  /** Whether another widget floats above the page: an element, the script tag's or a script's. */
  #isSecond(): boolean {
    if (floating && floating !== this && floating.isConnected) return true;
    return [...document.querySelectorAll<ChatWidgetElement>("chat-widget")].some(
      (one) => one.managed && (one.shadowRoot ?? one).querySelector(".cw:not([data-position=inline])"),
    );
  }

  /** Removes the rest of an earlier widget: the page was cloned, or this element had a shadow root. */
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
