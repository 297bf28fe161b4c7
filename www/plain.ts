// Reads the options that are plainly right, which nearly all are. For others, the option table is loaded.

import type { ChatWidgetOptions } from "./options.js";

// Filled in by the build from the option table: a pattern of what is plainly right, `name=text` or `name:JSON`.
declare const PLAIN: string;

const plain = new RegExp(PLAIN);

/** Options that were read: in an object that inherits nothing, and none is wrong. */
export interface ReadOptions extends ChatWidgetOptions {
  /** Some of them were for `host-page.ts`. */
  page?: boolean;
}

/** Reads options; `undefined` if one of them is to be looked up. With `areAttributes`, JSON is read from text. */
export function readPlain(given: object, areAttributes: boolean): ReadOptions | undefined {
  const options: Record<string, unknown> = Object.create(null);
  for (const [name, value] of Object.entries(given)) {
    const isText = typeof value === "string";
    if ((isText && plain.test(`${name}=${value}`)) || (value == null && name !== "proxy")) options[name] = value;
    else {
      try {
        const json = isText && areAttributes ? value : JSON.stringify(value);
        if (!plain.test(`${name}:${json}`)) return undefined;
        options[name] = JSON.parse(json);
      } catch {
        return undefined;
      }
    }
  }
  return options as unknown as ReadOptions;
}
