// Parses options with common valid values, as nearly all pages have. For others, the option table is loaded.

import type { ChatWidgetOptions } from "./options.js";

// Filled in by the build from the option table: the pattern of common valid values, `name=text` or `name:JSON`.
declare const PLAIN: string;

const plain = new RegExp(PLAIN);

/** Valid options, in an object that inherits nothing. */
export interface ParsedOptions extends ChatWidgetOptions {
  /** Whether some of them need `host-page.ts`. */
  page?: boolean;
}

/** Returns the options; `undefined` if one of them needs the table. With `areAttributes`, JSON is parsed from text. */
export function parsePlain(given: object, areAttributes: boolean): ParsedOptions | undefined {
  const options: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const isText = typeof value === "string";
    if ((isText && plain.test(`${name}=${value}`)) || (value == null && name !== "proxy")) options[name] = value;
    else {
      try {
        const json: string | undefined = isText && areAttributes ? value : JSON.stringify(value);
        if (!plain.test(`${name}:${json}`)) return undefined;
        // A function has no JSON.
        options[name] = json === undefined ? value : JSON.parse(json);
      } catch {
        return undefined;
      }
    }
  }
  return options as unknown as ParsedOptions;
}
