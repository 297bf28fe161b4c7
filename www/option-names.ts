// The options by their names: their types, and lists for what does not load the checks.
// Written by `npm run options` from `www/option-table.mjs`.

import type { VisitorProfile } from "./visitor-profile.js";
import type { VisitorToken } from "./visitor-token.js";

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

/** The options of a widget. */
export interface ChatWidgetOptions {
  /** The prefix of the proxy on the customer's site, such as `/connector`, on the page's own origin whatever its
   * `<base>` says. A proxy on another origin needs the full address: `https://api.example/connector`. No other
   * address is ever called, except the assistant's picture at the https address in the chat config. */
  proxy: string;
  /** A preset, or `custom` to derive a theme from the colour `accent` of `themeTokens`, such as `#0a66c2`, for light
   * and dark; without an accent, `custom` is `teal`. Default: `teal`. */
  theme?: ThemeName | "custom";
  /** Tokens that replace those of the theme, by their names without `--cw-`: `{ accent: "#0a6" }`. */
  themeTokens?: Record<string, string>;
  /** `theme` uses the scheme of the theme, `auto` follows the system. Default: `theme`. */
  colorScheme?: "theme" | "auto" | "light" | "dark";
  /** The side of the page, in the direction of reading. Default: `end`. */
  position?: "end" | "start";
  /** The distance of launcher and window from the edges of the page, in pixels from 0 to 10,000. Default: 20. */
  offset?: { x?: number; y?: number };
  /** The `z-index` of launcher and window, within ±2,147,483,647. */
  zIndex?: number;
  /** `none`, or a selector of the page's own buttons, which open and close the window. Default: `default`, the
   * widget's launcher. */
  launcher?: "default" | "none" | (string & {});
  /** An element or its selector. The window is in it, always open and of the same size. */
  container?: string | Element;
  /** Whether the widget renders into a shadow root. With `false` it renders into the page, whose style sheets then
   * apply to it. Default: true. */
  isolate?: boolean;
  /** A language tag (BCP 47) of at most 35 characters. It sets the format of times and selects the language of the
   * texts and their direction; a language that the widget does not have is shown in English. Default: the page's
   * language, then the browser's. */
  locale?: string;
  /** A short text next to the closed launcher, shown `after` a number of seconds, 8 by default. The visitor can
   * dismiss it for good. */
  greeting?: string | { text: string; after?: number };
  /** At most 20 questions to start with, each of 1 to 4,000 characters. */
  suggestedQuestions?: string[];
  /** The displayed name of all operators. Without it, the widget shows the name that the service tells, if any. */
  operatorName?: string;
  /** The usual time of an answer, in the site's own words, such as "We usually answer within a day". */
  replyTime?: string;
  /** Texts that replace the widget's own, by their names. The forms of a plural are an object by CLDR category, in
   * which the forms that are not given stay; a string replaces all of them. */
  strings?: Record<string, string | Record<string, string>>;
  /** Whether the first lines of a message that arrives while the window is closed appear next to the launcher.
   * Default: true. */
  preview?: boolean;
  /** Whether the page's title alternates while there are unread messages. Default: true. */
  titleAlert?: boolean;
  /** The contact link that is shown when the chat cannot run, or takes no messages of the visitor: an address that
   * begins with `https://`, `mailto:` or `tel:`. */
  contact?: string;
  /** `auto` reports page views, opening and closing, unless the browser sends Global Privacy Control. Default:
   * `auto`. */
  events?: "auto" | "manual" | "off";
  /** With `required`, nothing is stored or reported until `grantConsent()`. Default: `granted`. */
  consent?: "granted" | "required";
  /** The site's data about the visitor. */
  visitor?: VisitorProfile;
  /** The site's own identifier of the visitor, at most 200 characters. */
  customerId?: string;
  /** The token by which the site proves who the visitor is, or a function that returns one, or a promise of one, and
   * `null` while nobody is signed in. The function is called again after the service has refused its last token.
   * The token is sent to the proxy only, and never stored. */
  visitorToken?: VisitorToken | (() => VisitorToken | Promise<VisitorToken>);
}

/** The options that an element has as attributes and properties: all but `container`, which the element itself is. */
export const OPTIONS = [
  "proxy",
  "theme",
  "themeTokens",
  "colorScheme",
  "position",
  "offset",
  "zIndex",
  "launcher",
  "isolate",
  "locale",
  "greeting",
  "suggestedQuestions",
  "operatorName",
  "replyTime",
  "strings",
  "preview",
  "titleAlert",
  "contact",
  "events",
  "consent",
  "visitor",
  "customerId",
  "visitorToken",
] as const satisfies readonly (keyof ChatWidgetOptions)[];

export type Option = (typeof OPTIONS)[number];

/** The options whose attributes hold JSON. */
export const JSON_OPTIONS: readonly string[] =
  "themeTokens offset zIndex isolate suggestedQuestions strings preview titleAlert visitor".split(" ");

/** The options that need another widget when they change: those of the effect `mount`. */
export const MOUNT_OPTIONS: readonly string[] = "proxy container isolate events consent customerId".split(" ");

/** The options that change without a redraw: those of the effect `live`. */
export const LIVE_OPTIONS: readonly string[] = "theme themeTokens offset zIndex visitor visitorToken".split(" ");
