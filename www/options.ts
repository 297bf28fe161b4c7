// The options and events of the widget, as a page sees them.

export type { ChatWidgetOptions, ThemeName } from "./option-names.js";
export type { VisitorProfile } from "./visitor-profile.js";
export type { VisitorToken } from "./visitor-token.js";

/** The events of a widget, and the detail of each. */
export interface ChatWidgetEvents {
  /** The widget is on the page. */
  ready: Record<string, never>;
  /** The window opened. */
  open: Record<string, never>;
  /** The window closed. */
  close: Record<string, never>;
  /** A message was delivered or received. */
  message: { id?: string; role: string; content: string };
  /** The number of messages that the visitor has not seen changed. */
  unread: { count: number };
  /** Human operators went online or offline. */
  presence: { operatorOnline: boolean };
  /** The service assessed the visitor as a lead. */
  lead: { score?: number; hasContact: boolean; needsHandoff: boolean; summary?: string };
  /** `setTheme()` or `update()` changed the theme. */
  theme: { theme: string };
  /** Something failed; for developers. */
  error: { code: string; message: string };
  /** The widget was removed from the page. */
  destroy: Record<string, never>;
}

/** The name of an event. */
export type ChatWidgetEvent = keyof ChatWidgetEvents;

/** The events that an element dispatches, each under two names: some frameworks' templates allow no colon. */
export type ChatWidgetEventMap = {
  [Name in ChatWidgetEvent as `chat-widget:${Name}` | `chat-widget-${Name}`]: CustomEvent<ChatWidgetEvents[Name]>;
};

declare global {
  // All events bubble and are composed.
  interface HTMLElementEventMap extends ChatWidgetEventMap {}
  interface DocumentEventMap extends ChatWidgetEventMap {}
  interface WindowEventMap extends ChatWidgetEventMap {}
}

/** A function that is called with the detail of an event. */
export type ChatWidgetHandler<Name extends ChatWidgetEvent> = (detail: ChatWidgetEvents[Name]) => void;

/** The result of `diagnose()`. */
export interface ChatWidgetDiagnosis {
  /** Whether every check passed. */
  ok: boolean;
  /** The checks, in order. */
  checks: ChatWidgetCheck[];
}

/** One check of `diagnose()`. */
export interface ChatWidgetCheck {
  name: "options" | "wasm" | "files" | "launcher" | "proxy" | "config" | "clock" | "storage" | "policy";
  ok: boolean;
  /** The finding, and what to do about a failed check. */
  message: string;
}

/** A snapshot of a widget. */
export interface ChatWidgetState {
  /** Whether the window is open. */
  open: boolean;
  /** The number of messages that the visitor has not seen. */
  unread: number;
  /** Whether a human operator is online; undefined before the service has told it. */
  operatorOnline?: boolean;
  /** The visitor's stable id. */
  visitorId: string;
  /** The conversation, once there is one. */
  conversationId?: string;
}
