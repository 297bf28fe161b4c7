// The options of some pages: a container, their own buttons, tokens, a widget without a shadow root. Loaded by those pages.

import type { loadChunk } from "./load-chunk.js";
import type derive from "./derive.js";
import type { ChatWidgetOptions } from "./options.js";
import { nullProto } from "./null-proto.js";
import { setTokens } from "./tokens.js";

/** Undoes a change to the page. */
export type Undo = () => void;

/** The options of the look. A token without a value is removed. */
interface Looks extends Omit<ChatWidgetOptions, "themeTokens"> {
  themeTokens?: Record<string, string | undefined>;
}

/** The page's options beyond a launcher in the corner. */
export interface Page {
  /** The style sheet of the colours that are derived from the page's accent. */
  sheet: string;
  /** Returns the element that the page chose for the widget. Throws if it does not exist. */
  container(): Element | undefined;
  /** Applies the options to the page until the returned function is called. */
  follow(host: HTMLElement, widget: Openable, theme: string, styles: string): Undo;
}

/** A widget, as far as the page's buttons need it. */
export interface Openable {
  readonly state: { open: boolean };
  setOpen(open: boolean, byVisitor: boolean): void;
}

/** The page's button that opened each widget's window. It is kept while the options change. */
const pressed = new WeakMap<HTMLElement, HTMLElement>();

/** Prepares the page for parsed options. `deferredStyles` loads the style sheet that others get after the widget. */
export default async function prepare(
  options: ChatWidgetOptions,
  load: typeof loadChunk,
  deferredStyles: () => Promise<string>,
): Promise<Page> {
  const { container, launcher = "default", isolate = true, theme, themeTokens } = options;
  const accent = theme === "custom" ? nullProto(themeTokens ?? {})["accent"] : undefined;
  const isDerived = accent?.[0] === "#";
  // The derived accent replaces the brand's colour, which may lack contrast.
  const looks = isDerived ? { ...options, themeTokens: { ...themeTokens, accent: undefined } } : options;
  // A page without a shadow root gets all sheets at once.
  const more = isolate ? "" : await deferredStyles().catch(() => "");
  return {
    sheet: isDerived ? (await load<typeof derive>("derive"))(accent) : "",
    container() {
      const element = typeof container === "string" ? document.querySelector(container) : container;
      if (element === null) throw new Error(`chat widget: the option container finds no element: ${String(container)}`);
      return element;
    },
    follow(host, widget, theme, styles) {
      const undo = [giveTokens(host, looks)];
      if (!isolate) undo.push(styleInPage(host, [theme, styles + more]));
      if (launcher !== "default" && launcher !== "none") undo.push(followButtons(host, widget, launcher));
      return () => undo.forEach((one) => one());
    },
  };
}

/** Sets the page's own tokens on a host. */
export function giveTokens({ style }: HTMLElement, { themeTokens, offset, zIndex }: Looks): Undo {
  const remove = (name: string) => style.removeProperty(`--cw-${name}`);
  // The loader sets distances as they are written; an invalid one is none of the parsed ones.
  for (const side of ["x", "y"]) remove(`offset-${side}`);
  const names = setTokens(style, themeTokens, offset && nullProto(offset), zIndex);
  return () => names.forEach(remove);
}

/** Adds the sheets of a host without a shadow root to the page. */
function styleInPage(host: HTMLElement, texts: string[]): Undo {
  host.setAttribute("data-chat-widget", "");
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text.replace(/:host(?:\(([^)]*)\))?/g, "[data-chat-widget]$1"));
    return sheet;
  });
  // Without a shadow root, the announcer itself is hidden.
  host.querySelector(":scope > [slot=announcer]")?.classList.add("cw-hidden");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, ...sheets];
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
  };
}

/** Lets the page's own buttons open and close the window, and sets their `aria-expanded`. The loader leaves the one that was
 * clicked before the widget was there as `asked`. */
function followButtons(host: HTMLElement, widget: Openable, launcher: string): Undo {
  const ending = new AbortController();
  const { signal } = ending;
  const setExpanded = () => {
    const open = String(widget.state.open);
    document.querySelectorAll(launcher).forEach((button) => button.setAttribute("aria-expanded", open));
  };
  const press = (button: HTMLElement) => {
    pressed.set(host, button);
    widget.setOpen(!widget.state.open, true);
  };
  const onClick = (event: MouseEvent) => {
    const button = (event.target as Element | null)?.closest?.<HTMLElement>(launcher);
    if (button) press(button);
  };
  const onClose = () => {
    setExpanded();
    // The focus was in the window that closed.
    if (document.activeElement === document.body || document.activeElement === host) pressed.get(host)?.focus();
  };
  const until = nullProto({ signal });
  document.addEventListener("click", onClick, until);
  host.addEventListener("chat-widget:open", setExpanded, until);
  host.addEventListener("chat-widget:close", onClose, until);
  setExpanded();
  const early = host as { asked?: HTMLElement };
  if (early.asked) press(early.asked);
  delete early.asked;
  return () => {
    ending.abort();
    document.querySelectorAll(launcher).forEach((button) => button.removeAttribute("aria-expanded"));
  };
}
