// The ES module of `dist/`: that of `module.ts`, and the last part of the script tag's loader, which is loaded with it.

import { ChatWidget, type Placement } from "./module.js";
import { loadChunk } from "./load-chunk.js";
import { nullProto } from "./null-proto.js";
import type { ChatWidgetOptions } from "./options.js";

export * from "./module.js";

/** The place of the script tag's widget. */
export interface TagPlacement extends Placement {
  host: HTMLElement;
}

/**
 * Mounts the script tag's widget, whose options are attributes, into the loader's host. `asked` returns the page's own button
 * that the visitor has clicked, or true for the launcher, and throws if the site has refused the widget in the meantime.
 */
export async function mountTag(
  options: object,
  placement: TagPlacement,
  asked: () => Element | true | undefined,
): Promise<ChatWidget> {
  const { host } = placement;
  const settled = async () => {
    // A press that began on one button and ended on another would be no click. A tap that was a click stays active.
    if (!asked() && host.shadowRoot?.querySelector(":active")) await whenReleased();
    Object.assign(host, { asked: asked() });
  };
  const widget = await ChatWidget.mount(options as ChatWidgetOptions, { ...placement, settled, prefix: "data-" });
  // The custom element restores the host when the page's body is replaced, and lets the page have other widgets. Leaving
  // the page may abort the import, which is no error.
  loadChunk("element").catch(() => {});
  return widget;
}

/** Fulfilled at the end of a press, after its click was dispatched. */
function whenReleased(): Promise<void> {
  return new Promise((resolve) => {
    const release = () => setTimeout(resolve);
    for (const end of ["pointerup", "pointercancel", "keyup"])
      addEventListener(end, release, nullProto({ once: true }));
  });
}
