// The names of a widget's events. `options.ts` has what comes with each.

import type { ChatWidgetEvent } from "./options.js";

export const EVENTS = [
  "ready",
  "open",
  "close",
  "message",
  "unread",
  "presence",
  "lead",
  "theme",
  "error",
  "destroy",
] as const satisfies readonly ChatWidgetEvent[];

/** Fails to compile when an event of `ChatWidgetEvents` is missing above. */
type Missing = Exclude<ChatWidgetEvent, (typeof EVENTS)[number]>;
export const COMPLETE: [Missing] extends [never] ? true : Missing = true;
