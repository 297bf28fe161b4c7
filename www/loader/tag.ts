// The script tag: its options as they are written, and the files in its folder.

import { nullProto } from "../null-proto.js";

type Texts = Record<string, string | undefined>;
type Help = typeof import("../error-state.js");

export const script = document.currentScript as HTMLScriptElement | null;

/** The options as text. The module parses all of them, the loader those that it needs. */
export const options = nullProto(script?.dataset ?? {}) as Texts;

const { launcher = "" } = options;

/** The selector of the page's own buttons, `none`, or `default` for the widget's launcher. */
export let buttons = launcher;
try {
  document.querySelector(buttons);
} catch {
  buttons = "default";
}

export const hasLauncher = /^(default|true)$/i.test(buttons);
export const isFloating = !options["container"] && !/^([0fn]|off)/i.test(options["isolate"]!);
/** Whether storage may be used before the visitor has given consent. */
export const isStorageAllowed = /^granted$/i.test(options["consent"] ?? "granted");

/** Parses the object of a JSON text; `undefined` for null, for invalid JSON and when `text` throws. */
export function parseObject(text: () => unknown): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text() as string) as Record<string, unknown> | null;
    return value == null ? undefined : nullProto(value);
  } catch {
    return undefined;
  }
}

/** Imports a module from the folder of the script. */
export function importFile<Kind>(name: string): Promise<Kind> {
  return import(new URL(`./${name}.mjs`, script!.src).href);
}

/**
 * Loads the error state and the diagnosis; as a classic script where modules cannot be imported, such as from a host that
 * sends no CORS header or the wrong type for `.mjs`.
 */
export function importHelp(): Promise<Help> {
  return importFile<Help>("error-state").catch(
    () =>
      new Promise((arrive, onerror) => {
        const src = new URL("error-state.js", script!.src);
        document.head.append(Object.assign(document.createElement("script"), { src, arrive, onerror }));
      }),
  );
}
