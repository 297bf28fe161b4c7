// The options of the widget: everything that is known about each. `npm run options` writes the types, the lists of the
// element, the settings for Rust, the table of the docs, the playground and the console's form from it;
// `scripts/option-files.mjs` has the list. The checks are filled in by the build.
//
// An option has:
//
// - `doc`: the comment in the types, which editors show as well. `docs`: the meaning in docs/frontend.md, and `docsType`
//   the column before it. In all texts, `{max}` stands for the number `max` of the check.
// - `effect`: of a change on a mounted widget. `mount` needs another widget, `redraw` renders the widget again, `live`
//   applies to what is there. `load` is for the script tag alone, before there is a widget.
// - `check`: the valid values. `kind` is a check of `www/option-checks.ts`, which explains the rest. `type` is the type in
//   TypeScript, if it does not follow from the kind.
// - `plain`: the pattern of values that are valid without the checks, as text, or as JSON if they are no text. The module
//   has these patterns, and loads the checks for other values and options. The options with a pattern are those that most
//   pages use and that need no file.
// - `element: false` for an option that `<chat-widget>` does not have; `hostPage` for one that needs `www/host-page.ts`.
// - `rust`: the field of `Settings`, or several, each with a comment of its own if `doc` does not fit. The entry passes the
//   option on as `option`, by default under its own name, unless it sets it on the host element itself (`onHost`). Without
//   `rust`, Leptos applications do not have the option.
// - `form`: the control of the playground, which does not have an option without it: its address holds all options, and is
//   no place for a secret. `kind` is `text`, `number`, `flag` (a boolean), `choice` (one of `values`, by
//   default those of the check), `lines` (strings, one a line), `pairs` (`name=value`, one a line) or `fields` (an object
//   of texts or numbers), by default that of the check. `sample` is the placeholder of the empty field.
// - `site`: the service delivers it in the chat config, if the site has set it there. The page's own value wins. `load` and
//   whatever protects the visitor's privacy are not among these: they apply before the config is there.
// - `console`: the control of the console's form, if it has one: `kind`, `half` as wide as the form, a `switch` in place of
//   a choice of two, `code` for a text without spelling. Its texts are those of `form`, unless
//   `crates/console/texts/` has `option_NAME`, `option_NAME_help`, `option_NAME_sample` and `option_NAME_is_VALUE`.

/** Attributes of the visitor that the site may know, with their labels. */
const VISITOR = {
  name: "Name",
  email: "E-mail",
  phone: "Phone",
  company: "Company",
  wechat: "WeChat",
  whatsapp: "WhatsApp",
  country: "Country",
  visitorId: "Visitor id",
};

/** All options, by their names, in the order of the docs, the forms and the snippets. */
export const TABLE = {
  proxy: {
    doc:
      "The prefix of the proxy on the customer's site, such as `/connector`, on the page's own origin whatever its `<base>` says. " +
      "A proxy on another origin needs the full address: `https://api.example/connector`. No other address is ever called, " +
      "except the assistant's picture at the https address in the chat config.",
    docsType: "string, required",
    docs: "prefix of the proxy on your site: [below](#set-the-proxy-address). The widget sends all requests to it",
    required: true,
    effect: "mount",
    type: "string",
    check: { kind: "proxy" },
    plain: { text: "(\\/[\\w-]+)+" },
    rust: {
      type: "String",
      doc: "Prefix of the proxy on the site, such as `/connector`; an address in full for another origin.",
    },
    form: {
      group: "Visitor",
      kind: "text",
      label: "Proxy",
      help: "Prefix of the proxy on your site, for the code. The widget on this page always uses /connector.",
      sample: "/connector",
    },
  },
  theme: {
    doc:
      "A preset, or `custom` to derive a theme from the colour `accent` of `themeTokens`, such as `#0a66c2`, for light and dark; " +
      "without an accent, `custom` is `teal`.",
    docsType: "a preset, which is one of the eleven themes, or `custom`; `teal`",
    docs: "the look: [themes.md](themes.md)",
    effect: "live",
    type: 'ThemeName | "custom"',
    check: {
      kind: "choice",
      noun: "a theme",
      words: "teal blue emerald violet amber rose slate light_teal light_blue light_amber light_rose custom",
    },
    plain: { text: "(light_)?(teal|blue|amber|rose)|emerald|violet|slate|custom" },
    form: { group: "Look", label: "Theme", help: "A preset, or custom for your own colours." },
    site: true,
    console: { half: true },
  },
  themeTokens: {
    doc: 'Tokens that replace those of the theme, by their names without `--cw-`: `{ accent: "#0a6" }`.',
    docs: "tokens (colours and sizes) that override those of the theme. Write their names without `--cw-`",
    effect: "live",
    hostPage: true,
    type: "Record<string, string>",
    check: { kind: "tokens", max: 500 },
    rust: {
      type: "Vec<(String, String)>",
      doc:
        "Tokens in place of the theme's: names without `--cw-`, such as `accent`, and values of CSS. " +
        "`docs/themes.md` lists them.",
      onHost: true,
    },
    form: {
      group: "Look",
      kind: "pairs",
      label: "Theme tokens",
      help: "Tokens that override the theme's. Leave out --cw- in their names.",
      sample: "radius-window=8px",
      // With the theme `custom`, the colours have their own inputs.
      colours: [{ name: "accent", label: "Accent", sample: "#6b2fb3" }],
    },
    site: true,
  },
  colorScheme: {
    doc: "`theme` uses the scheme of the theme, `auto` follows the system.",
    docs: "`auto` follows the visitor's system",
    effect: "redraw",
    check: { kind: "choice", noun: "a color scheme", words: "theme auto light dark", synonyms: { system: "auto" } },
    plain: { text: "theme|auto|light|dark" },
    rust: {
      type: "ColorScheme",
      doc: "Light or dark scheme.",
      about: "Whether the widget is light or dark.",
      variants: {
        theme: "The theme's own scheme.",
        auto: "The scheme of the visitor's system.",
        light: "Light.",
        dark: "Dark.",
      },
    },
    form: { group: "Look", label: "Colour scheme", help: "auto follows the visitor's system." },
    site: true,
    console: { half: true },
  },
  position: {
    doc: "The side of the page, in the direction of reading.",
    docs: "side of the page. `end` is the right side in languages that read from left to right",
    effect: "redraw",
    check: { kind: "side", noun: "a position", words: "end start" },
    plain: { text: "end|start" },
    rust: {
      type: "Position",
      doc: "Side of the page at which the launcher floats.",
      about: "The side of the page at which the launcher floats, in the direction of reading.",
      variants: {
        end: "On the right where text runs from left to right.",
        start: "On the left where text runs from left to right.",
      },
    },
    form: {
      group: "Place",
      label: "Position",
      help: "The side of the page. end is on the right in languages that read from left to right.",
    },
    site: true,
    console: { half: true },
  },
  offset: {
    doc: "The distance of launcher and window from the edges of the page, in pixels from 0 to {max}. Default: 20.",
    docsType: "`{x, y}` in pixels, 20",
    docs: "distance from the edges, 0 to {max}",
    effect: "live",
    hostPage: true,
    type: "{ x?: number; y?: number }",
    check: { kind: "offset", max: 10_000 },
    rust: { type: "Offset", doc: "Distance of the launcher from the edges of the page.", onHost: true },
    form: {
      group: "Place",
      kind: "fields",
      fields: [
        { name: "x", kind: "number", label: "x", sample: "20" },
        { name: "y", kind: "number", label: "y", sample: "20" },
      ],
      label: "Offset",
      help: "Distance from the edges of the page, in pixels.",
    },
  },
  zIndex: {
    doc: "The `z-index` of launcher and window, within ±{max}.",
    docs: "position above or below the page's other elements, within ±{max}",
    effect: "live",
    hostPage: true,
    // The largest integer of CSS.
    check: { kind: "integer", noun: "a layer", max: 2_147_483_647, instead: "2147483000" },
    rust: { type: "Option<i32>", doc: "`z-index` of the floating widget. 2,147,483,000 by default.", onHost: true },
    form: {
      group: "Place",
      label: "z-index",
      help: "Position above or below the page's other elements.",
      sample: "2147483000",
    },
  },
  launcher: {
    doc:
      "`none`, or a selector of the page's own buttons, which open and close the window. Default: `default`, the widget's " +
      "launcher.",
    docsType: "`default`, `none`, or a selector; `default`",
    docs: "with a selector, your own buttons open and close the window, and get `aria-expanded`. With `none`, there is no button",
    effect: "redraw",
    hostPage: true,
    type: '"default" | "none" | (string & {})',
    check: { kind: "launcher" },
    rust: {
      type: "bool",
      default: true,
      doc: "Whether the widget has a launcher. Without one, the page opens the window.",
    },
    form: {
      group: "Place",
      kind: "choice",
      values: { default: "default", none: "none", "#ask": "#ask: a button of the page" },
      label: "Launcher",
      help: "With none, there is no launcher. With a selector, your own buttons open and close the window.",
    },
    site: true,
    console: { half: true },
  },
  container: {
    doc: "An element or its selector. The window is in it, always open and of the same size.",
    docsType: "selector or element",
    docs: "the window fills this element, and is always open. The element `<chat-widget>` has `inline` instead",
    effect: "mount",
    hostPage: true,
    element: false,
    type: "string | Element",
    check: { kind: "container", instead: "a window that floats" },
    rust: {
      field: "inline",
      option: "inline",
      type: "bool",
      default: false,
      doc: "Whether the widget fills its place in the page, always open, instead of floating.",
    },
    form: {
      group: "Place",
      kind: "choice",
      values: { "": "none: the window floats", "#chat": "#chat: an element of the page" },
      label: "Container",
      help: "The window fills an element of the page, and is always open. The element <chat-widget> has inline instead.",
    },
  },
  isolate: {
    doc:
      "Whether the widget renders into a shadow root. With `false` it renders into the page, whose style sheets then apply to " +
      "it.",
    docs: "`false` renders into the page instead of into a shadow root",
    effect: "mount",
    hostPage: true,
    check: { kind: "switch" },
    rust: {
      doc:
        "Whether the widget renders into a shadow root. Without one, it renders into its host element, where " +
        "the page's style sheets reach it.",
    },
    form: {
      group: "Place",
      label: "Isolate",
      help: "If off, the widget renders into the page instead of a shadow root, and the page's styles apply to it.",
    },
  },
  locale: {
    doc:
      "A language tag (BCP 47) of at most {max} characters. It sets the format of times and selects the language of the texts " +
      "and their direction; a language that the widget does not have is shown in English. Default: the page's language, then " +
      "the browser's.",
    docsType: "BCP 47, at most {max} characters; the page's `lang`, then the browser's",
    docs: "language of texts and times, and the direction: [languages.md](languages.md). An invalid tag is ignored",
    effect: "redraw",
    type: "string",
    check: { kind: "locale", max: 35 },
    plain: { text: "[a-z]{2}(-[A-Z]{2})?" },
    rust: [
      {
        type: "Option<String>",
        doc:
          "Locale of times, BCP 47, at most {max} characters. The service receives it as well. Without a valid one, " +
          "the page's `lang` applies, then the browser's language.",
      },
      {
        field: "language",
        option: "language",
        type: "String",
        doc: "Language of the texts, BCP 47. `en`, unless `strings` translate them.",
      },
      { field: "direction", option: "direction", type: "Direction", doc: "Direction of that language." },
    ],
    form: {
      group: "Words",
      kind: "text",
      label: "Locale",
      help: "A BCP 47 tag. If empty, the page's language. It also sets the direction.",
      sample: "de-AT",
    },
    console: { half: true, code: true },
  },
  greeting: {
    doc:
      "A short text next to the closed launcher, shown `after` a number of seconds, 8 by default. The visitor can dismiss it " +
      "for good.",
    docsType: "string, or `{text, after}` with at most {max} seconds",
    docs:
      "a short text beside the closed launcher. `after` is the delay in seconds. If the visitor clicks the text, it becomes " +
      "the first message of the conversation",
    effect: "redraw",
    type: "string | { text: string; after?: number }",
    // At most a day.
    check: { kind: "greeting", max: 86_400 },
    plain: { text: "[^{][^]*" },
    rust: [
      { type: "Option<String>", doc: "The greeting beside the launcher of the closed window." },
      {
        field: "greeting_after_ms",
        option: "greetingAfter",
        type: "u32",
        default: "DEFAULT_GREETING_AFTER_MS",
        doc: "Delay of the greeting, in milliseconds. 8,000 by default, at most a day.",
      },
    ],
    form: {
      group: "Words",
      kind: "fields",
      fields: [
        { name: "text", kind: "text", label: "Text" },
        { name: "after", kind: "number", label: "After, in seconds", sample: "8" },
      ],
      label: "Greeting",
      help: "A short text beside the closed launcher, until the visitor dismisses it.",
    },
    site: true,
    console: { kind: "text" },
  },
  suggestedQuestions: {
    doc: "At most {max} questions to start with, each of 1 to {length} characters.",
    docs: "questions to click before the first message: at most {max}, each with 1 to {length} characters",
    effect: "redraw",
    // A question is sent as a message.
    check: { kind: "texts", noun: "a list of questions", one: "a question", max: 20, length: 4000 },
    plain: { json: '\\[("[^"\\\\]{1,200}",? ?){0,9}\\]' },
    rust: {},
    form: {
      group: "Words",
      label: "Suggested questions",
      help: "Questions to click before the first message, one on each line.",
      sample: "Do you ship?",
    },
    site: true,
    console: {},
  },
  operatorName: {
    doc: "The displayed name of all operators. Without it, the widget shows the name that the service tells, if any.",
    docs: "the name that visitors see for each person who answers; without it, the name that the service tells, as ours does",
    effect: "redraw",
    check: { kind: "text" },
    plain: { text: "[^{][^]*" },
    rust: {},
    form: {
      group: "Words",
      label: "Operator name",
      help: "The name that visitors see for a person who answers.",
      sample: "Maren",
    },
    site: true,
    console: { half: true },
  },
  replyTime: {
    doc: 'The usual time of an answer, in the site\'s own words, such as "We usually answer within a day".',
    docs: "your own text about when people answer. The introduction shows the whole text",
    effect: "redraw",
    check: { kind: "text" },
    plain: { text: "[^{][^]*" },
    rust: {},
    form: {
      group: "Words",
      label: "Reply time",
      help: "When people answer, in your own words.",
      sample: "We usually answer within a day.",
    },
    site: true,
    console: { half: true },
  },
  strings: {
    doc:
      "Texts that replace the widget's own, by their names. The forms of a plural are an object by CLDR category, in which the " +
      "forms that are not given stay; a string replaces all of them.",
    docs: "replaces single texts of the interface",
    effect: "redraw",
    type: "Record<string, string | Record<string, string>>",
    check: { kind: "strings" },
    rust: {
      type: "Vec<(String, String)>",
      doc:
        "Texts in place of the widget's own, by their names. Plural forms have names such as `newMessages.one`, " +
        "with the categories of CLDR.",
    },
    form: {
      group: "Words",
      kind: "pairs",
      label: "Strings",
      help: "Replaces single texts: name=value, one on each line. For a form of a plural: newMessages.one=…",
      sample: "write=Ask the potter",
    },
  },
  preview: {
    doc: "Whether the first lines of a message that arrives while the window is closed appear next to the launcher.",
    docs: "shows the first lines of a new message beside the launcher while the window is closed",
    effect: "redraw",
    check: { kind: "switch" },
    rust: {},
    form: {
      group: "Behaviour",
      label: "Preview",
      help: "Shows a new message beside the launcher while the window is closed.",
    },
  },
  // The title of a Leptos application is its own.
  titleAlert: {
    doc: "Whether the page's title alternates while there are unread messages.",
    docs: "the page's title alternates with `💬 (2) title` while there are unread messages",
    effect: "redraw",
    check: { kind: "switch" },
    form: {
      group: "Behaviour",
      label: "Title alert",
      help: "The page's title alternates while there are unread messages.",
    },
  },
  load: {
    effect: "load",
    check: { kind: "choice", noun: "a time to load", words: "idle intent eager" },
    plain: { text: "idle|intent|eager" },
    form: {
      group: "Behaviour",
      label: "Load",
      help: "When the module loads: once the page is idle, when the visitor moves to the launcher, or with the page.",
    },
    console: { half: true },
  },
  // Shown in place of a module that cannot run as well.
  contact: {
    doc:
      "The contact link that is shown when the chat cannot run, or takes no messages of the visitor: an address that begins " +
      "with `https://`, `mailto:` or `tel:`.",
    docsType: "string that begins with `https://`, `mailto:` or `tel:`",
    docs: "another way to contact you: [below](#when-the-chat-cannot-run)",
    effect: "redraw",
    type: "string",
    check: { kind: "contact" },
    rust: { type: "Option<String>" },
    form: {
      group: "Behaviour",
      kind: "text",
      label: "Contact",
      help: "Another way to contact you if the chat cannot be used: an address with https:, mailto: or tel:.",
      sample: "mailto:shop@example.com",
    },
    site: true,
    console: { code: true },
  },
  events: {
    doc: "`auto` reports page views, opening and closing, unless the browser sends Global Privacy Control.",
    docs: "which visitor events are reported: [below](#report-visitor-events)",
    effect: "mount",
    check: {
      kind: "choice",
      noun: "a mode of reporting",
      words: "auto manual off",
      synonyms: { none: "off", false: "off", no: "off", 0: "off", true: "auto", yes: "auto", 1: "auto", on: "auto" },
    },
    plain: { text: "auto|manual|off" },
    rust: {
      type: "EventMode",
      doc: "Events that are reported to the service.",
      about: "The visitor events that are reported (2.7). Global Privacy Control turns all of them off.",
      variants: {
        auto: "Page views, opening and closing, clicks on `data-chat-cta`, and events that the application tracks.",
        manual: "Events that the application tracks.",
        off: "No events.",
      },
    },
    form: {
      group: "Visitor",
      label: "Events",
      help: "auto reports page views and clicks, manual only the events that you track, off nothing.",
    },
    console: {},
  },
  consent: {
    doc: "With `required`, nothing is stored or reported until `grantConsent()`.",
    docs: "with `required`, nothing is stored or reported until `grantConsent()`",
    effect: "mount",
    // A page that sets it wants visitors to be asked: an invalid value must not be guessed at their expense.
    check: {
      kind: "choice",
      noun: "a state of consent",
      words: "granted required",
      instead: "required",
      substitute: "required",
    },
    rust: {
      type: "bool",
      default: true,
      doc: "Whether the visitor has given consent, or does not need to. Otherwise nothing is stored or reported.",
    },
    form: {
      group: "Visitor",
      label: "Consent",
      help: "With required, nothing is stored or reported until grantConsent().",
    },
    console: { switch: true },
  },
  visitor: {
    doc: "The site's data about the visitor.",
    docs: `your own data about the visitor: ${Object.keys(VISITOR)
      .map((name) => `\`${name}\``)
      .join(", ")}`,
    effect: "live",
    type: "VisitorProfile",
    check: { kind: "visitor", words: Object.keys(VISITOR).join(" ") },
    rust: { type: "VisitorProfile", doc: "The visitor's profile, as the site knows it (2.8)." },
    form: {
      group: "Visitor",
      kind: "fields",
      fields: Object.entries(VISITOR).map(([name, label]) => ({ name, kind: "text", label })),
      label: "Visitor",
      help: "What you know about the visitor.",
    },
  },
  customerId: {
    doc: "The site's own identifier of the visitor, at most {max} characters.",
    docsType: "string, at most {max} characters",
    docs: "each id has its own conversation, also in the same browser",
    effect: "mount",
    check: { kind: "text", noun: "a customer's id", max: 200 },
    rust: {
      doc: "The site's own id of the visitor, at most {max} characters. Another id has another conversation.",
    },
    form: {
      group: "Visitor",
      label: "Customer id",
      help: "Each id has its own conversation, also in the same browser.",
      sample: "customer-17",
    },
  },
  // Leptos applications pass it to the component, as a function is no setting.
  visitorToken: {
    doc:
      "The token by which the site proves who the visitor is, or a function that returns one, or a promise of one, and `null` " +
      "while nobody is signed in. The function is called again after the service has refused its last token. The token is " +
      "sent to the proxy only, and never stored.",
    docsType: "string or function",
    docs: "proves who a signed-in visitor is: [below](#prove-who-is-signed-in)",
    effect: "live",
    type: "VisitorToken | (() => VisitorToken | Promise<VisitorToken>)",
    check: { kind: "token" },
    plain: { text: "[\\w.-]+", json: "undefined" },
  },
};
