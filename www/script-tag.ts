// The types of `window.chatWidget`: the controller of the script tag's widget, or the calls that wait for it.

import type { Control } from "./controls.js";
import type { ChatWidgetControls } from "./element.js";
import type { ChatWidget } from "./module.js";
import type { ChatWidgetEvent, ChatWidgetHandler, ChatWidgetState } from "./options.js";

/** A call of a control, as its name and its arguments: `["setTheme", "rose"]`. */
export type ChatWidgetCall =
  | { [Name in Control | "destroy"]: [name: Name, ...args: Parameters<ChatWidget[Name]>] }[Control | "destroy"]
  | {
      [Name in ChatWidgetEvent]: [name: "on" | "once", event: Name, handler: ChatWidgetHandler<Name>];
    }[ChatWidgetEvent];

/** The controls of the script tag's widget, which wait until it is mounted. */
export interface ChatWidgetController extends ChatWidgetControls {
  /** Removes the widget from the page. */
  destroy(): Promise<void>;
  /** Calls a handler on each event of a name. Returns a function that unsubscribes it. */
  on<Name extends ChatWidgetEvent>(name: Name, handler: ChatWidgetHandler<Name>): () => void;
  /** Calls a handler on the next event of a name. Returns a function that unsubscribes it. */
  once<Name extends ChatWidgetEvent>(name: Name, handler: ChatWidgetHandler<Name>): () => void;
  /** Makes a call, as the array does that may be here before the script runs. */
  push(call: ChatWidgetCall): void;
  /** Fulfilled with the widget when it is on the page. */
  readonly ready: Promise<ChatWidget>;
  /** A snapshot of the widget; `undefined` while there is none. */
  readonly state: ChatWidgetState | undefined;
}

declare global {
  interface Window {
    /** An array of calls before the script tag has run, and the controller afterwards. */
    chatWidget?: ChatWidgetController | ChatWidgetCall[];
  }
}
