// Loads the files that the options of a widget need: module, theme, language, style sheets.

import type sheetOf from "./derive.js";
import type prepare from "./host-page.js";
import type { Page } from "./host-page.js";
import wordsIn from "./language.js";
import { loadChunk } from "./load-chunk.js";
import { localeOf } from "./locale.js";
import { nullProto } from "./null-proto.js";
import { type ParsedOptions, parsePlain } from "./parse-options.js";
import type validateOptions from "./validate-options.js";
import { loadModule, type Module } from "./wasm.js";

/**
 * Parses options: from code, where an invalid one throws, or with `prefix` from attributes that begin with it, where an
 * invalid one is left out.
 */
export async function parseOptions(given: object, prefix?: string): Promise<ParsedOptions> {
  return (
    parsePlain(given, prefix !== undefined) ??
    (await loadChunk<typeof validateOptions>("validate-options"))(given, prefix)
  );
}

/** The module, settings and files of a widget, by its options. */
export interface Pieces extends Module {
  sheet: string;
  /** The settings of the WebAssembly module. */
  settings: object;
  page: Page | undefined;
  /** Loads the style sheet of parts that are not visible at first. Nothing waits for it. */
  deferredStyles(): Promise<string>;
  /** The files that did not load, each with the code of its error event. */
  missing: [code: string, error: unknown][];
}

/** Loads the files that parsed options need, all at the same time. `wasm` is the module, if it was requested already. */
export async function gather(options: ParsedOptions, inline?: boolean, wasm?: Promise<Response>): Promise<Pieces> {
  const { container, launcher = "default", greeting, consent, theme = "teal", strings, ...others } = options;
  const locale = localeOf(options.locale);
  const missing: Pieces["missing"] = [];
  const deferredStyles = () => loadChunk<string>("styles");
  const lacksLanguage = (error: unknown) => void missing.push(["LANGUAGE_MISSING", error]);
  const [sheet, words, page] = await Promise.all([
    loadChunk<string>(`themes/${theme === "custom" ? "teal" : theme}`).catch(async (error: unknown) => {
      missing.push(["THEME_MISSING", error]);
      return (await loadChunk<typeof sheetOf>("derive"))();
    }),
    // The module contains the English texts.
    /^en\b/i.test(locale) && !strings ? undefined : wordsIn(locale, strings, loadChunk, lacksLanguage),
    options.page
      ? loadChunk<typeof prepare>("host-page").then((prepare) => prepare(options, loadChunk, deferredStyles))
      : undefined,
    loadModule(wasm),
  ]);
  // Another widget may have broken the module while the other files loaded.
  const module = (await loadModule()) as Module;
  const { after, text } = nullProto(typeof greeting === "object" ? greeting : { text: greeting, after: undefined });
  const settings = {
    ...others,
    // A path belongs to the page's own origin, whatever its `<base>` says; the address of a `srcdoc` has none.
    proxy: options.proxy.replace(/^\//, `${location.origin.replace("null", "")}/`),
    locale,
    greetingAfter: after && Math.round(after * 1000),
    greeting: text,
    ...words,
    consent: consent !== "required",
    inline: inline || !!container,
    launcher: launcher === "default",
  };
  return { ...module, sheet: sheet + (page?.sheet ?? ""), settings, page, deferredStyles, missing };
}
