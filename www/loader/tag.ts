// The script tag: its options as they are written, and the files in its folder.

import { nullProto } from "../null-proto.js";
import type { TagOptions } from "../tag-options.js";

type Help = typeof import("../error-state.js");

export const script = document.currentScript as HTMLScriptElement | null;

/** The attributes of the tag. */
export const own = (script?.dataset ?? {}) as TagOptions;

/** The options as text, with those of the config. The module parses all of them, the loader those that it needs. */
export const options = nullProto(own);

/** Returns the selector of the page's own buttons, `none`, or `default` for the widget's launcher. */
export function buttons(): string {
  const { launcher = "" } = options;
  try {
    document.querySelector(launcher);
    return launcher;
  } catch {
    return "default";
  }
}

export const hasLauncher = () => /^(default|true)$/i.test(buttons());

/** Returns the address of a file in the folder of the script. */
export const fileUrl = (name: string) => new URL(name, script!.src).href;

/** Imports a module from the folder of the script. */
export function importFile<Kind>(name: string): Promise<Kind> {
  return import(fileUrl(`${name}.mjs`));
}

/**
 * Loads the error state and the diagnosis; as a classic script where modules cannot be imported, such as from a host that
 * sends no CORS header or the wrong type for `.mjs`.
 */
export function importHelp(): Promise<Help> {
  return importFile<Help>("error-state").catch(
    () =>
      new Promise((arrive, onerror) => {
        const src = fileUrl("error-state.js");
        document.head.append(Object.assign(document.createElement("script"), { src, arrive, onerror }));
      }),
  );
}
