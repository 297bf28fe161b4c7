// Alternates the page's title while there are unread messages, for a visitor in another tab.

import type { ChatWidgetEvents, ChatWidgetState } from "./options.js";
import type { Undo } from "./host-page.js";

/** The mark before the count. `src/browser/page.rs` removes it from a title that is reported. */
const MARK = "\u{1f4ac}";
const INTERVAL_MS = 1500;
/** Maximum changes of the title: after five minutes, the visitor is not at the screen. */
const MAX_CHANGES = 200;

/** Alternates the title until the returned function is called, which restores the page's title. */
export function alternateTitle(host: HTMLElement, widget: { readonly state?: ChatWidgetState | undefined }): Undo {
  let shown: string | undefined;
  let original = "";
  let changes = 0;
  let timer: number | undefined;
  const restore = () => {
    // The page may have set another title since.
    if (document.title === shown) document.title = original;
  };
  const change = (count: number) => {
    if (document.title === shown) return restore();
    original = document.title;
    document.title = shown = `${MARK} (${count}) ${original}`;
    // Some browsers trim the title.
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
  // Messages that arrived before this listened.
  follow(widget.state?.unread ?? 0);
  return () => {
    host.removeEventListener("chat-widget:unread", onUnread as EventListener);
    follow(0);
  };
}
