// Where a widget stands on the page, and how the page's own keys and buttons reach it.

import type { ChatWidgetOptions } from "./options.js";

/** Takes back what was done to the page. */
export type Undo = () => void;

/** What the page's keys and buttons do with a widget. */
export interface Reach {
  readonly isOpen: boolean;
  setOpen(open: boolean, byVisitor: boolean): void;
}

/** Puts the host into the container that the page chose, or at the end of the page. */
export function place(host: HTMLElement, { container, themeTokens, offset, zIndex }: ChatWidgetOptions): void {
  if (container !== undefined) {
    const element = typeof container === "string" ? document.querySelector(container) : container;
    if (!element) throw new Error(`chat widget: the option container finds no element: ${String(container)}`);
    element.append(host);
  } else if (!host.isConnected) document.body.append(host);
  const tokens: Record<string, unknown> = { ...themeTokens, "z-root": zIndex };
  for (const axis of ["x", "y"] as const) tokens[`offset-${axis}`] = offset?.[axis] === undefined ? undefined : `${offset[axis]}px`;
  for (const [name, value] of Object.entries(tokens)) {
    if (value !== undefined) host.style.setProperty(`--cw-${name}`, String(value));
  }
}

/** Gives the page the sheets of a host that has no shadow root. */
export function styleInPage(host: HTMLElement, texts: string[]): Undo {
  host.setAttribute("data-chat-widget", "");
  const sheets = texts.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text.replace(/:host(?:\(([^)]*)\))?/g, "[data-chat-widget]$1"));
    return sheet;
  });
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, ...sheets];
  return () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
  };
}

/** Listens to the page: F6 goes into the widget and back, and the page's own buttons open and close the window. */
export function listen(host: HTMLElement, widget: Reach, launcher: string | undefined): Undo {
  const ending = new AbortController();
  const { signal } = ending;
  let before: Element | null = null;
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "F6" || event.defaultPrevented || host.hidden) return;
    const inside = (host.shadowRoot ?? host).querySelector<HTMLElement>("[part=input],[part=launcher]");
    const isThere = event.composedPath().includes(host);
    if (!isThere) before = document.activeElement;
    const target = isThere ? before : inside;
    if (target instanceof HTMLElement && target !== document.body) target.focus();
    else if (isThere) (document.activeElement as HTMLElement | null)?.blur();
    if (isThere || inside) event.preventDefault();
  };
  document.addEventListener("keydown", onKey, { signal });
  if (launcher && launcher !== "default" && launcher !== "none") {
    const buttons = () => document.querySelectorAll<HTMLElement>(launcher);
    const tell = () => buttons().forEach((button) => button.setAttribute("aria-expanded", String(widget.isOpen)));
    let pressed: HTMLElement | null = null;
    const onClick = (event: MouseEvent) => {
      const button = (event.target as Element | null)?.closest?.<HTMLElement>(launcher);
      if (!button) return;
      pressed = button;
      widget.setOpen(!widget.isOpen, true);
    };
    const onClose = () => {
      tell();
      // The window took the focus along.
      if (document.activeElement === document.body || document.activeElement === host) pressed?.focus();
    };
    document.addEventListener("click", onClick, { signal });
    host.addEventListener("chat-widget:open", tell, { signal });
    host.addEventListener("chat-widget:close", onClose, { signal });
    tell();
  }
  return () => ending.abort();
}
