// Alternates the page's title while messages wait to be read, for a visitor who is in another tab.

import type { ChatWidgetEvents, ChatWidgetState } from "./options.js";
import type { Undo } from "./host-page.js";

/** The mark before the count. `src/browser/page.rs` takes it off again where the title is reported. */
const MARK = "\u{1f4ac}";
const INTERVAL_MS = 1500;
/** Maximum changes of the title. A visitor who has not looked by then is not at the screen. */
const MAX_CHANGES = 200;

/** Alternates the title until the function given back is called, which puts the page's own back. */
export function alternateTitle(host: HTMLElement, widget: { readonly state?: ChatWidgetState | undefined }): Undo {
  let shown: string | undefined;
  let own = "";
  let changes = 0;
  let timer: number | undefined;
  const restore = () => {
    // The page may have given itself another one since.
    if (document.title === shown) document.title = own;
  };
  const change = (count: number) => {
    if (document.title === shown) return restore();
    own = document.title;
    document.title = shown = `${MARK} (${count}) ${own}`;
    // Some browsers trim what they are given.
    shown = document.title;
    if (++changes >= MAX_CHANGES) clearInterval(timer);
  };
  const follow = (count: number) => {
    clearInterval(timer);
    restore();
    changes = 0;
    if (count === 0) return;
    change(count);
    timer = setInterval(change, INTERVAL_MS, count);
  };
  const onUnread = ({ detail }: CustomEvent<ChatWidgetEvents["unread"]>) => follow(detail.count);
  host.addEventListener("chat-widget:unread", onUnread as EventListener);
  // What came in before anybody listened.
  follow(widget.state?.unread ?? 0);
  return () => {
    host.removeEventListener("chat-widget:unread", onUnread as EventListener);
    follow(0);
  };
}
