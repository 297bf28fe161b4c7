// The options and events of the widget, as a page sees them.

/** The presets of `themes/`. */
export type ThemeName =
  | "teal"
  | "blue"
  | "emerald"
  | "violet"
  | "amber"
  | "rose"
  | "slate"
  | "light_teal"
  | "light_blue"
  | "light_amber"
  | "light_rose";

/** What the site knows about the visitor. All of it is optional. */
export interface VisitorProfile {
  visitorId?: string;
  name?: string;
  email?: string;
  phone?: string;
  company?: string;
  wechat?: string;
  whatsapp?: string;
  country?: string;
}

/** The options of a widget. */
export interface ChatWidgetOptions {
  /** Prefix of the proxy on the customer's site, such as `/connector`: of the page's own origin, whatever its `<base>`
   * says. Another origin is written in full, `https://api.example/connector`. Nothing else is ever called; only the
   * assistant's picture comes from where the chat config says, over https. */
  proxy: string;
  /** A preset; `teal` when it is not given. `custom` is derived from the colour `accent` of `themeTokens`, such as
   * `#0a66c2`, light and dark; without one it is `teal`. */
  theme?: ThemeName | "custom";
  /** Tokens in place of the theme's, by their names without `--cw-`: `{ accent: "#0a6" }`. */
  themeTokens?: Record<string, string>;
  /** `theme` keeps to the theme's own scheme, `auto` follows the system. */
  colorScheme?: "theme" | "auto" | "light" | "dark";
  /** BCP 47, at most 35 characters; the page's `lang` when it is not given, then the browser's. Times are written as it says; the texts in the
   * widget's language that fits, else in English, and the direction is theirs. */
  locale?: string;
  /** Texts in place of the widget's own, by their names. The forms of a plural are an object, by CLDR's categories, and
   * those that are not given stay; a string replaces all of them. */
  strings?: Record<string, string | Record<string, string>>;
  /** At most 20 questions to begin with, each of 1 to 4,000 characters. */
  suggestedQuestions?: string[];
  /** The side of the page, in the direction of reading. */
  position?: "end" | "start";
  /** How far launcher and window keep from the edges of the page, in pixels from 0 to 10,000; 20 when it is not given. */
  offset?: { x?: number; y?: number };
  /** Where launcher and window stand among what else floats above the page: a whole number within ±2,147,483,647. */
  zIndex?: number;
  /** `none`, or the page's own buttons as a selector: they open and close the window. */
  launcher?: "default" | "none" | (string & {});
  /** An element, or the selector of one: the widget stands in it, always open, and as large as it. */
  container?: string | Element;
  /** `false` renders into the page instead of a shadow root: the page's style sheets then reach the widget. */
  isolate?: boolean;
  /** `auto` reports page views, opening and closing; Global Privacy Control turns that off. */
  events?: "auto" | "manual" | "off";
  /** What the site knows about the visitor. */
  visitor?: VisitorProfile;
  /** The site's own name for the visitor, of at most 200 characters. */
  customerId?: string;
  /** With `required`, nothing is stored or reported until `grantConsent()` is called. */
  consent?: "granted" | "required";
  /** The name to show for people; without it, the widget claims none. */
  operatorName?: string;
  /** A few words beside the closed launcher, `after` so many seconds; 8 when it is not given. The visitor can dismiss
   * them for good. */
  greeting?: string | { text: string; after?: number };
  /** Whether the first lines of a message that comes in while the window is closed stand beside the launcher; `true`
   * when it is not given. */
  preview?: boolean;
  /** Whether the page's title alternates while there are unread messages; `true` when it is not given. */
  titleAlert?: boolean;
  /** Where else the visitor can turn to, if the chat cannot run: an address that begins with `https://`, `mailto:` or `tel:`. */
  contact?: string;
  /** When people answer, in the site's own words, such as "We usually answer within a day". */
  replyTime?: string;
}

/** The events of a widget, and what comes with each. */
export interface ChatWidgetEvents {
  /** The widget is on the page. */
  ready: Record<string, never>;
  /** The window opened. */
  open: Record<string, never>;
  /** The window closed. */
  close: Record<string, never>;
  /** A message was delivered or came in. */
  message: { id?: string; role: string; content: string };
  /** The count of messages that the visitor has not seen. */
  unread: { count: number };
  /** Whether a person is there. */
  presence: { operatorOnline: boolean };
  /** What the service makes of the visitor. */
  lead: { score?: number; hasContact: boolean; needsHandoff: boolean; summary?: string };
  /** `setTheme()` or `update()` has brought another theme. */
  theme: { theme: string };
  /** Something went wrong; for developers. */
  error: { code: string; message: string };
  /** The widget was taken off the page. */
  destroy: Record<string, never>;
}

/** The name of an event. */
export type ChatWidgetEvent = keyof ChatWidgetEvents;

/** The events as an element dispatches them, under two names each: templates of some frameworks know no colon in one. */
export type ChatWidgetEventMap = {
  [Name in ChatWidgetEvent as `chat-widget:${Name}` | `chat-widget-${Name}`]: CustomEvent<ChatWidgetEvents[Name]>;
};

declare global {
  // They bubble, and are composed.
  interface HTMLElementEventMap extends ChatWidgetEventMap {}
  interface DocumentEventMap extends ChatWidgetEventMap {}
  interface WindowEventMap extends ChatWidgetEventMap {}
}

/** A function that is called with what comes with an event. */
export type ChatWidgetHandler<Name extends ChatWidgetEvent> = (detail: ChatWidgetEvents[Name]) => void;

/** What `diagnose()` found. */
export interface ChatWidgetDiagnosis {
  /** Nothing is wrong that it looks for. */
  ok: boolean;
  /** What it looked at, in order. */
  checks: ChatWidgetCheck[];
}

/** One thing that `diagnose()` looked at. */
export interface ChatWidgetCheck {
  name: "options" | "wasm" | "files" | "launcher" | "proxy" | "config" | "clock" | "storage" | "policy";
  ok: boolean;
  /** What is wrong and what to do about it, or what was found. */
  message: string;
}

/** A snapshot of a widget. */
export interface ChatWidgetState {
  /** The window is open. */
  open: boolean;
  /** Messages that the visitor has not seen. */
  unread: number;
  /** A person is there; not known before the service has said so. */
  operatorOnline?: boolean;
  /** The visitor's stable id. */
  visitorId: string;
  /** The conversation, once there is one. */
  conversationId?: string;
}
