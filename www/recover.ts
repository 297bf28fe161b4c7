// What is done when the WebAssembly module has broken. It is loaded only then.

import type { beside } from "./beside.js";
import type fallback from "./fallback.js";
import type { ChatWidget } from "./module.js";
import type { ChatWidgetOptions } from "./options.js";

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

/** What breaks once more after so many new beginnings breaks for a reason that stays. */
const MOST = 2;

let times = 0;

/** Lets the widgets go on with a new module, or leaves what is plain in their places. */
export default async function recover(widgets: Map<ChatWidget, Broken>, error: unknown, load: typeof beside): Promise<void> {
  times += 1;
  console.error("chat widget: the module broke", error);
  for (const [widget, broken] of [...widgets]) {
    const { host, options } = broken.fail(error);
    const root = host.shadowRoot ?? host;
    const wasOpen = root.querySelector(".cw-open") !== null;
    // What the module would have taken back itself.
    host.querySelector(":scope > [slot=announcer]")?.remove();
    if (root.querySelector("[aria-modal=true]")) document.documentElement.style.removeProperty("overflow");
    try {
      if (times > MOST) throw error;
      await broken.revive();
      if (wasOpen) widget.open();
    } catch {
      (await load<typeof fallback>("fallback"))(host, options, false);
    }
  }
}
