// Watches the page for the events that are reported automatically: page views of a single-page application, and clicks on
// calls to action. The script tag's companion does so until the module has started, `page-listeners.ts` afterwards.

import type { Undo } from "./host-page.js";

/** Reports an event of this type, with the site's data. */
export type Track = (eventType: string, data?: object) => void;

/**
 * The event by which the companion asks whether a widget reports for the visitor of its `detail`. Such a widget prevents
 * the default.
 */
export const REPORTING = "chat-widget:reporting";

/** Reports the page's events until the returned function is called. */
export function watchPage(track: Track): Undo {
  const undo = [watchNavigation(track), watchCalls(track)];
  return () => undo.forEach((one) => one());
}

/** Reports a page view when a single-page application changes path or query. */
function watchNavigation(track: Track): Undo {
  const { navigation } = window as { navigation?: EventTarget };
  const place = () => location.pathname + location.search;
  let before = place();
  let waiting: number | undefined;
  const moved = () => {
    if (place() === before) return;
    before = place();
    clearTimeout(waiting);
    // Applications set the title after they have navigated.
    waiting = setTimeout(report, 100);
  };
  const report = () => {
    waiting = undefined;
    track("page_view");
  };
  const undo = navigation ? listen(navigation, "currententrychange", moved) : watchHistory(moved);
  return () => {
    undo();
    clearTimeout(waiting);
    // The next watcher begins at the present page.
    if (waiting) report();
  };
}

/** Wraps the History API in browsers without the Navigation API, because it dispatches no event for new entries. */
function watchHistory(moved: () => void): Undo {
  const undo = [listen(window, "popstate", moved)];
  for (const name of ["pushState", "replaceState"] as const) {
    const isOwn = Object.hasOwn(history, name);
    const original = history[name];
    const watched: typeof original = function (this: History, ...state) {
      original.apply(this, state);
      moved();
    };
    history[name] = watched;
    undo.push(() => {
      // Another script has wrapped this wrapper and still calls it.
      if (history[name] !== watched) moved = () => {};
      else if (isOwn) history[name] = original;
      else delete (history as Partial<History>)[name];
    });
  }
  return () => undo.forEach((one) => one());
}

/** Reports clicks on elements with `data-chat-cta`, labelled by the attribute's value, else by their text. */
function watchCalls(track: Track): Undo {
  return listen(document, "click", ({ target }) => {
    const call = (target as Element | null)?.closest?.<HTMLElement>("[data-chat-cta]");
    const label = call?.dataset["chatCta"] || call?.textContent?.trim().slice(0, 100);
    if (call) track("cta_clicked", { label });
  });
}

/** Listens to an event until the returned function is called. */
export function listen(target: EventTarget, kind: string, run: (event: Event) => void): Undo {
  target.addEventListener(kind, run);
  return () => target.removeEventListener(kind, run);
}
