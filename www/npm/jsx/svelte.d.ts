/** `<chat-widget>` in templates of Svelte; version 4 has the colon in the names of listeners. */
import type { HTMLAttributes } from "svelte/elements";
import type { ChatWidgetElement } from "../../element.js";
import type { ChatWidgetAttributes, ChatWidgetListeners } from "../jsx.js";

declare module "svelte/elements" {
  interface SvelteHTMLElements {
    "chat-widget": HTMLAttributes<ChatWidgetElement> &
      ChatWidgetAttributes &
      ChatWidgetListeners<"on"> &
      ChatWidgetListeners<"on:">;
  }
}
