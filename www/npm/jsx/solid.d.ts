/** `<chat-widget>` in the JSX of Solid. */
import type { JSX as Solid } from "solid-js";
import type { ChatWidgetElement } from "../../element.js";
import type { ChatWidgetAttributes, ChatWidgetListeners } from "../jsx.js";

declare module "solid-js" {
  namespace JSX {
    interface IntrinsicElements {
      "chat-widget": Solid.HTMLAttributes<ChatWidgetElement> & ChatWidgetAttributes & ChatWidgetListeners<"on:">;
    }
  }
}
