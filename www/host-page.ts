// What only some pages ask for: a container, buttons of their own, tokens, a widget without a shadow root. It is loaded by
// those that do.

import type { loadChunk } from "./load-chunk.js";
import type derive from "./derive.js";
import type { ChatWidgetOptions } from "./options.js";
import { own } from "./own.js";
import { setTokens } from "./tokens.js";

/** Takes back what was done to the page. */
export type Undo = () => void;

/** The options that say how a widget looks. A token without a value is taken back. */
interface Looks extends Omit<ChatWidgetOptions, "themeTokens"> {
  themeTokens?: Record<string, string | undefined>;
}

/** What a page asks for beyond a launcher in the corner. */
export interface Page {
  /** The colours that are derived from the page's accent, as a style sheet. */
  sheet: string;
  /** The element that the page chose to put the widget into. Throws where there is none. */
  container(): Element | undefined;
  /** Does to the page what the options say of it, until the function given back is called. */
  follow(host: HTMLElement, widget: Reach, theme: string, styles: string): Undo;
}

/** What the page's keys and buttons do with a widget. */
export interface Reach {
  readonly state: { open: boolean };
  setOpen(open: boolean, byVisitor: boolean): void;
}

/** The page's button that each widget's window was opened with, also while the options change. */
const pressed = new WeakMap<HTMLElement, HTMLElement>();

/** Gets ready what the options, which are read, ask of the page. `later` is the style sheet that comes behind the widget. */
export default async function prepare(
  options: ChatWidgetOptions,
  load: typeof loadChunk,
  later: Promise<string>,
): Promise<Page> {
  const { container, launcher = "default", isolate = true, theme, themeTokens } = options;
  const accent = theme === "custom" ? own(themeTokens ?? {})["accent"] : undefined;
  const isDerived = accent?.[0] === "#";
  // The brand's own colour as well may be another one where it would not be seen.
  const looks = isDerived ? { ...options, themeTokens: { ...themeTokens, accent: undefined } } : options;
  // The page's own sheets are given all at once.
  const more = isolate ? "" : await later.catch(() => "");
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
  const names = setTokens(style, themeTokens, offset && own(offset), zIndex);
  return () => names.forEach(remove);
}

/** Gives the page the sheets of a host that has no shadow root. */
function styleInPage(host: HTMLElement, texts: string[]): Undo {
  host.setAttribute("data-chat-widget", "");
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text.replace(/:host(?:\(([^)]*)\))?/g, "[data-chat-widget]$1"));
    return sheet;
  });
  // In a shadow root, it is what the announcer stands in that is not seen.
  host.querySelector(":scope > [slot=announcer]")?.classList.add("cw-hidden");
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, ...sheets];
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
  };
}

/** The page's own buttons open and close the window, and say whether it is open. The loader leaves one that was `asked`
 * before the widget was there. */
function followButtons(host: HTMLElement, widget: Reach, launcher: string): Undo {
  const ending = new AbortController();
  const { signal } = ending;
  const tell = () => {
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
    tell();
    // The window took the focus along.
    if (document.activeElement === document.body || document.activeElement === host) pressed.get(host)?.focus();
  };
  const until = own({ signal });
  document.addEventListener("click", onClick, until);
  host.addEventListener("chat-widget:open", tell, until);
  host.addEventListener("chat-widget:close", onClose, until);
  tell();
  const early = host as { asked?: HTMLElement };
  if (early.asked) press(early.asked);
  delete early.asked;
  return () => {
    ending.abort();
    document.querySelectorAll(launcher).forEach((button) => button.removeAttribute("aria-expanded"));
  };
}
