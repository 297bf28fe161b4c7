// Recovers from a broken WebAssembly module. It is loaded after the widget, so that it is there when the page is offline.

import type { loadChunk } from "./load-chunk.js";
import type showErrorState from "./error-state.js";
import type { ChatWidgetOptions } from "./options.js";

/** A widget, as far as it is needed here. */
export interface Revivable {
  readonly state?: { open: boolean; visitorId: string } | undefined;
  open(): void;
}

/** A widget whose module has broken. */
export interface Broken {
  /** Undoes the changes to the page, emits the error, and returns what is left. */
  fail(error: unknown): Left;
  /** Renders into the host with a new module, from storage. */
  revive(): Promise<void>;
}

/** The rest of a widget without its module. */
export interface Left {
  host: HTMLElement;
  options: ChatWidgetOptions;
}

/** Maximum recoveries in a row. A module that breaks again has a permanent reason. */
const MAX_RECOVERIES = 2;
/** The time without a break after which recoveries are counted anew, in milliseconds. */
const RESET_INTERVAL_MS = 5 * 60_000;

let recoveries = 0;
let lastBreak = 0;
let turn = Promise.resolve();
/** The widgets whose windows open again after the recovery. */
const opened = new WeakSet<Revivable>();
const givenUp = new WeakSet<Revivable>();

/** Restarts the widgets with a new module, or shows the error state in their places. Breaks are handled one after the other. */
export default function recover(
  widgets: Map<Revivable, Broken>,
  error: unknown,
  load: typeof loadChunk,
): Promise<void> {
  console.error("chat widget: the module broke", error);
  return (turn = turn.then(() => recoverAll(widgets, error, load)).catch(console.error));
}

async function recoverAll(widgets: Map<Revivable, Broken>, error: unknown, load: typeof loadChunk): Promise<void> {
  if (Date.now() - lastBreak > RESET_INTERVAL_MS) recoveries = 0;
  recoveries += 1;
  lastBreak = Date.now();
  for (const [widget, broken] of [...widgets]) {
    // Skips a widget that the page has removed, that shows the error state, or that has a new module already.
    if (!widgets.has(widget) || givenUp.has(widget) || widget.state?.visitorId) continue;
    const { host, options } = broken.fail(error);
    const root = host.shadowRoot ?? host;
    if (root.querySelector(".cw-open")) opened.add(widget);
    const hadFocus = (host.shadowRoot ?? document).activeElement?.matches("[part~=input]") ?? false;
    // The module would have removed these itself.
    host.querySelector(":scope > [slot=announcer]")?.remove();
    if (root.querySelector("[aria-modal=true]")) document.documentElement.style.removeProperty("overflow");
    try {
      if (recoveries > MAX_RECOVERIES) throw error;
      await broken.revive();
      if (!opened.has(widget)) continue;
      widget.open();
      await new Promise((resolve) => setTimeout(resolve));
      if (!widget.state?.open) continue;
      opened.delete(widget);
      if (hadFocus) root.querySelector<HTMLElement>("[part~=input]")?.focus();
    } catch {
      if (!widgets.has(widget)) continue;
      givenUp.add(widget);
      const shown = opened.has(widget);
      await load<typeof showErrorState>("error-state").then((showErrorState) => {
        showErrorState(host, options, false, shown);
        answerButtons(
          options.launcher,
          () => widgets.has(widget),
          () => showErrorState(host, options, false, true),
        );
      }, console.error);
    }
  }
}

/** The page's own buttons show the error state until the page destroys the widget. */
function answerButtons(launcher = "default", isMounted: () => boolean, show: () => void): void {
  if (launcher === "default" || launcher === "none") return;
  const onClick = ({ target }: MouseEvent): void => {
    if (!isMounted()) document.removeEventListener("click", onClick);
    else if ((target as Element | null)?.closest?.(launcher)) show();
  };
  document.addEventListener("click", onClick);
}
