/** `<chat-widget>` in the JSX of Preact. */
import type { HTMLAttributes } from "preact";
import type { ChatWidgetElement } from "../../element.js";
import type { ChatWidgetAttributes, ChatWidgetListeners } from "../jsx.js";

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements {
      "chat-widget": HTMLAttributes<ChatWidgetElement> & ChatWidgetAttributes & ChatWidgetListeners<"on">;
    }
  }
}
