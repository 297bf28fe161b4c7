// An idle page without a sign that the visitor wants the chat: starts the companion, prefetches the module's files, and starts
// the module when a greeting is due. The script tag's loader imports it.

import type startCompanion from "./companion.js";
import { languageOf } from "./language.js";
import { loadChunk } from "./load-chunk.js";
import { localeOf } from "./locale.js";
import { nullProto } from "./null-proto.js";
import { parsePlain } from "./parse-options.js";
import { type TagOptions, isFloating, isStorageAllowed, parseObject, suffixOf } from "./tag-options.js";

/** The delay of a greeting without one of its own, in seconds, and the maximum. */
const GREETING_AFTER = 8;
const MAX_GREETING_AFTER = 86_400;

/**
 * Waits until the page is idle. `mount` starts the module. Returns the function that starts the companion, unless the widget
 * reports no events by itself.
 */
export default async function wait(options: TagOptions, mount: () => void): Promise<typeof startCompanion | undefined> {
  await whenIdle();
  // Only a widget that floats has a launcher that a visitor could point at.
  if (!isFloating(options)) {
    mount();
    return undefined;
  }
  greetInTime(options, mount);
  if (!/intent/i.test(options["load"]!) && !isSlow()) prefetch(options).catch(() => {});
  return isReporting(options) ? loadChunk<typeof startCompanion>("companion").catch(() => undefined) : undefined;
}

function whenIdle(): Promise<unknown> {
  return new Promise((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(resolve, nullProto({ timeout: 3000 }));
    else setTimeout(resolve, 200);
  });
}

/** Whether events may be reported automatically. */
function isReporting(options: TagOptions): boolean {
  const { globalPrivacyControl } = navigator as { globalPrivacyControl?: boolean };
  if (globalPrivacyControl || !isStorageAllowed(options) || /^\s*([mnf0]|of)/i.test(options["events"]!)) return false;
  const tracking = parseObject(() => localStorage.getItem(`chat-widget:tracking${suffixOf(options)}`));
  return !((tracking?.["offUntil"] as number) > Date.now());
}

/** Starts the module when the greeting is due, unless the visitor has seen it. */
function greetInTime(options: TagOptions, mount: () => void): void {
  const { greeting } = options;
  if (!greeting || (isStorageAllowed(options) && parseObject(() => localStorage.getItem("chat-widget:greeted"))))
    return;
  const given = /^\s*\{/.test(greeting) ? parseObject(() => greeting) : { text: greeting };
  const after = given?.["after"] as number;
  const greet = () => {
    options["greeting"] = JSON.stringify({ ...given, after: 0 });
    mount();
  };
  setTimeout(greet, 1000 * (after <= MAX_GREETING_AFTER ? after : GREETING_AFTER));
}

/** Whether the browser saves data or is on a very slow line. */
function isSlow(): boolean {
  const { saveData, effectiveType } =
    (navigator as { connection?: { saveData?: boolean; effectiveType?: string } }).connection ?? {};
  return saveData === true || /2g/.test(effectiveType!);
}

/**
 * Fetches the files of the window for the browser's cache, one after the other and at the lowest priority. Nothing is
 * compiled.
 */
async function prefetch(options: TagOptions): Promise<void> {
  const theme = parsePlain({ theme: options["theme"] }, true)?.theme ?? "custom";
  const language = languageOf(localeOf(options["locale"]));
  const files = ["chat-widget.mjs", "chat-widget.wasm", `themes/${theme === "custom" ? "teal" : theme}.mjs`];
  if (language) files.push(`locales/${language}.mjs`);
  if (!parsePlain(options, true)) files.push("validate-options.mjs", "host-page.mjs");
  // Last, because no window waits for it.
  files.push("deferred.wasm");
  for (const file of files) {
    // The body has to be read for the cache to keep it.
    const response = await fetch(new URL(file, import.meta.url), nullProto({ priority: "low" }) as RequestInit);
    await response.arrayBuffer();
  }
}
