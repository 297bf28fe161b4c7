// The entry of the npm package. Whoever takes only a part of it gets only that part.

export { BrowserWidgetClient, ChatWidgetError } from "../client.js";
export { ChatWidget, load } from "../module.js";
export type * from "../client.js";
export type { ChatWidgetElement } from "../element.js";
export type * from "../options.js";
