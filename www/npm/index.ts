// The entry of the npm package. A bundler includes only the imported parts.

export { BrowserWidgetClient, ChatWidgetError } from "../client.js";
export { ChatWidget, load } from "../module.js";
export type * from "../client.js";
export type { ChatWidgetElement } from "../element.js";
export type * from "../options.js";
export type * from "../script-tag.js";
