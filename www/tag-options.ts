// The options of a script tag as they are written, for the loader and the files that it loads before the module.

import { nullProto } from "./null-proto.js";

/** The values of `data-` attributes by their names in camel case. */
export type TagOptions = Record<string, string | undefined>;

/** Returns the end of the keys of a customer's stored values. */
export const suffixOf = ({ customerId }: TagOptions) => (customerId ? `@${customerId}` : "");

/** Whether the widget floats above the page, in a shadow root. */
export const isFloating = ({ container, isolate }: TagOptions) => !container && !/^([0fn]|off)/i.test(isolate!);

/** Whether storage may be used before the visitor has given consent. */
export const isStorageAllowed = ({ consent = "granted" }: TagOptions) => /^granted$/i.test(consent);

/** Parses the object of a JSON text; `undefined` for null, for invalid JSON and when `text` throws. */
export function parseObject(text: () => unknown): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text() as string) as Record<string, unknown> | null;
    return value == null ? undefined : nullProto(value);
  } catch {
    return undefined;
  }
}
