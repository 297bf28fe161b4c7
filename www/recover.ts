// What is done when the WebAssembly module has broken. It is loaded behind the widget, to be there also without a line.

import type { loadChunk } from "./load-chunk.js";
import type showErrorState from "./error-state.js";
import type { ChatWidgetOptions } from "./options.js";

/** A widget, as far as it is needed here. */
export interface Revivable {
  readonly state?: { open: boolean; visitorId: string } | undefined;
  open(): void;
}

/** What can be done with a widget whose module has broken. */
export interface Broken {
  /** Takes back what was done to the page, tells it, and gives what is left. */
  fail(error: unknown): Left;
  /** Renders into the host with a new module, from what is stored. */
  revive(): Promise<void>;
}

/** What is left of a widget without its module. */
export interface Left {
  host: HTMLElement;
  options: ChatWidgetOptions;
}

/** What breaks once more after so many new beginnings breaks for a reason that stays, */
const MOST = 2;
/** unless it went well for so long. Milliseconds. */
const WELL = 5 * 60_000;

let times = 0;
let last = 0;
let turn = Promise.resolve();
/** Their windows are to be open again. */
const opened = new WeakSet<Revivable>();
const givenUp = new WeakSet<Revivable>();

/** Lets the widgets go on with a new module, or leaves what is plain in their places. One break after the other. */
export default function recover(
  widgets: Map<Revivable, Broken>,
  error: unknown,
  load: typeof loadChunk,
): Promise<void> {
  console.error("chat widget: the module broke", error);
  return (turn = turn.then(() => recoverAll(widgets, error, load)).catch(console.error));
}

async function recoverAll(widgets: Map<Revivable, Broken>, error: unknown, load: typeof loadChunk): Promise<void> {
  if (Date.now() - last > WELL) times = 0;
  times += 1;
  last = Date.now();
  for (const [widget, broken] of [...widgets]) {
    // One that the page has taken away meanwhile, one that is plain by now, and one that has a new module already.
    if (!widgets.has(widget) || givenUp.has(widget) || widget.state?.visitorId) continue;
    const { host, options } = broken.fail(error);
    const root = host.shadowRoot ?? host;
    if (root.querySelector(".cw-open")) opened.add(widget);
    const hadFocus = (host.shadowRoot ?? document).activeElement?.matches("[part~=input]") ?? false;
    // What the module would have taken back itself.
    host.querySelector(":scope > [slot=announcer]")?.remove();
    if (root.querySelector("[aria-modal=true]")) document.documentElement.style.removeProperty("overflow");
    try {
      if (times > MOST) throw error;
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

/** The page's own buttons go on to say what there is to be said, for as long as the widget is the page's. */
function answerButtons(launcher = "default", isThere: () => boolean, say: () => void): void {
  if (launcher === "default" || launcher === "none") return;
  const onClick = ({ target }: MouseEvent): void => {
    if (!isThere()) document.removeEventListener("click", onClick);
    else if ((target as Element | null)?.closest?.(launcher)) say();
  };
  document.addEventListener("click", onClick);
}
