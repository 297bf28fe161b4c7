// What keeps the widget from working on a page, in words that a site's owner can act on. Loaded when somebody asks.

import { parseAttributes, parseQuietly } from "./validate-options.js";
import { describe, type Finding, findFiles, findModule } from "./diagnose-files.js";
import { attributeOf, OPTIONS } from "./option-names.js";
import { addressOf } from "./option-table.js";
import type { ChatWidgetCheck, ChatWidgetDiagnosis, ChatWidgetOptions } from "./options.js";
import { own } from "./own.js";

/** A visitor's clock that is further off than this shows wrong times. Milliseconds. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/** Where the options come from, if it is not the script tag. */
export interface Source {
  /** The element that the widget is in. */
  host: HTMLElement;
  /** Loads what a bundler has put elsewhere. */
  load?: (path: string) => Promise<unknown>;
}

/**
 * Looks at everything that the widget needs, one after the other. `base` is the address of a file of `dist/`, or of the
 * WebAssembly module itself where a bundler has moved it. Options without a `source` are those of the script tag, as text.
 */
export default async function diagnose(
  given: object,
  base: string | URL,
  source?: Source,
): Promise<ChatWidgetDiagnosis> {
  const refused: SecurityPolicyViolationEvent[] = [];
  const onRefused = (event: SecurityPolicyViolationEvent) => void refused.push(event);
  document.addEventListener("securitypolicyviolation", onRefused);
  const checks: ChatWidgetCheck[] = [];
  const look = async (name: ChatWidgetCheck["name"], find: () => Finding | Promise<Finding>) => {
    const [ok, message] = await Promise.resolve()
      .then(find)
      .catch(
        (error: unknown): Finding => [
          false,
          `Something of the page's own threw while this was looked at: ${describe(error)}.`,
        ],
      );
    checks.push({ name, ok, message });
  };
  const { wrong, options } = read(given, source);
  for (const message of wrong) checks.push({ name: "options", ok: false, message });
  if (wrong.length === 0) checks.push({ name: "options", ok: true, message: "Every option is one that can be used." });
  await look("wasm", () => findModule(base instanceof URL ? base : new URL("./chat-widget.wasm", base)));
  await look("files", () => findFiles(options, base, source?.load));
  await look("launcher", () => findLauncher(options, source));
  let answer: Response | undefined;
  await look("proxy", async () => {
    const prefix = addressOf(String((given as { proxy?: unknown }).proxy ?? ""));
    if (prefix === undefined)
      return [
        false,
        'The option proxy names no place: it is a prefix on this site, such as "/connector", or an address in full, such as "https://api.example/connector".',
      ];
    const { origin } = new URL(prefix, document.baseURI);
    const isForeign = origin !== location.origin && location.origin !== "null";
    const where = isForeign
      ? ` It is on another origin than the page, ${origin}, and what visitors write goes there.`
      : "";
    const url = `${prefix}/chat/config`;
    const shown = isForeign ? url : url.replace(location.origin, "");
    try {
      answer = await fetch(url, own({ headers: { Accept: "application/json" }, cache: "no-store" as const }));
    } catch (error) {
      const allows = isForeign ? ", does it let this page in (allowed_origins in docs/server.md)" : "";
      return [
        false,
        `The proxy cannot be reached at ${shown} (${describe(error)}). Is the server up${allows}, and does the page's Content-Security-Policy allow it in connect-src?${where}`,
      ];
    }
    if (answer.status === 404)
      return [
        false,
        `There is no proxy at ${shown}: the server answers 404. Is the option proxy the prefix under which the server has it?${where}`,
      ];
    if (answer.status === 401)
      return [
        false,
        `The service refuses the proxy's token (401). The server needs the site token that activation gave.${where}`,
      ];
    return [
      answer.ok,
      `${shown} answers with status ${answer.status}.${answer.ok ? "" : " The server's log says why."}${where}`,
    ];
  });
  await look("config", async () => {
    const body = (await answer
      ?.clone()
      .json()
      .catch(() => undefined)) as
      | { ok?: boolean; data?: { config?: { enabled?: boolean; widgetEnabled?: boolean } } }
      | undefined;
    if (!own(body ?? {}).ok)
      return [
        false,
        "The proxy's answer is not the service's: it must be JSON with ok and data. Another page may stand at that address.",
      ];
    const { enabled, widgetEnabled } = own(body?.data?.config ?? {});
    const off = enabled === false || widgetEnabled === false;
    return [
      !off,
      off
        ? "The chat is switched off in the service's settings, so that the widget shows nothing."
        : "The chat is switched on.",
    ];
  });
  await look("clock", () => {
    const date = Date.parse(answer?.headers.get("Date") ?? "");
    const off = Math.round((Date.now() - date) / 60_000);
    const wrong = Math.abs(Date.now() - date) > MAX_CLOCK_SKEW_MS;
    return [
      !wrong,
      wrong
        ? `The clock of this device and that of the server are ${Math.abs(off)} minutes apart; times in the chat look wrong.`
        : "The clock is right, as far as the server tells.",
    ];
  });
  await look("storage", () => {
    try {
      localStorage.setItem("chat-widget:diagnosis", "1");
      localStorage.removeItem("chat-widget:diagnosis");
      return [true, "The browser keeps what it is given."];
    } catch (error) {
      return [
        false,
        `The browser keeps nothing for this page (${String(error)}): the chat works, and is forgotten with the page.`,
      ];
    }
  });
  // A report comes in a task of its own.
  await new Promise((resolve) => setTimeout(resolve));
  document.removeEventListener("securitypolicyviolation", onRefused);
  await look("policy", () => {
    const directives = [...new Set(refused.map(({ effectiveDirective }) => effectiveDirective))];
    if (directives.length === 0) return [true, "The page's Content-Security-Policy lets the widget work."];
    return [
      false,
      `The page's Content-Security-Policy refuses what the widget needs: ${directives.join(", ")}. docs/csp.md has the lines to add.`,
    ];
  });
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** The options as they are used, and what is wrong with those that are written on the page. */
function read(given: object, source: Source | undefined): { wrong: string[]; options: ChatWidgetOptions } {
  const wrong: string[] = [];
  // Of `mount()`, wrong ones were refused. An element has its own, of which the widget has those alone that can be used.
  const host = source?.host as (HTMLElement & Record<string, unknown>) | undefined;
  const isElement = host !== undefined && host["managed"] === undefined;
  const written = isElement ? Object.fromEntries(OPTIONS.map((name) => [name, host[name]])) : given;
  if (!source || isElement) {
    const prefix = source ? "" : "data-";
    // The proxy has a check of its own.
    parseAttributes({ ...written, proxy: "/" }, prefix, (message) => wrong.push(message));
    wrong.push(
      ...misspelt(isElement ? host.getAttributeNames() : Object.keys(given).map((name) => attributeOf(name)), prefix),
    );
  }
  return { wrong, options: parseQuietly(written) };
}

/** Attributes that are an option's but for hyphens, underscores and case. */
function misspelt(attributes: string[], prefix: string): string[] {
  const bare = (name: string) => name.toLowerCase().replace(/[^a-z]/g, "");
  const options = new Map([...OPTIONS, "container", "load"].map((name) => [bare(name), attributeOf(name)]));
  return attributes.flatMap((name) => {
    const meant = options.get(bare(name));
    return meant === undefined || meant === name
      ? []
      : [`chat widget: ${prefix}${name} is not an option; expected ${prefix}${meant}; it is not read`];
  });
}

/** Whether visitors can reach the window. */
function findLauncher({ launcher = "default", container }: ChatWidgetOptions, source: Source | undefined): Finding {
  if (container !== undefined) return [true, "The window stands in the page, always open."];
  if (source?.host.hasAttribute("inline")) return [true, "The window stands in the page, always open."];
  if (launcher === "none") return [true, "There is no launcher: the page opens the window by a call of open()."];
  if (launcher === "default") return [true, "The launcher is the widget's own."];
  const buttons = [...document.querySelectorAll<HTMLElement>(launcher)];
  if (buttons.length === 0)
    return [
      false,
      `The option launcher, ${launcher}, matches nothing on this page, so that nobody can open the chat. Correct the selector, or put such a button on the page; without the option, the widget has a launcher of its own.`,
    ];
  const isSeen = (button: HTMLElement) =>
    button.getClientRects().length > 0 &&
    (button.checkVisibility?.(own({ visibilityProperty: true, opacityProperty: true })) ?? true);
  if (!buttons.some(isSeen))
    return [
      false,
      `The option launcher, ${launcher}, matches ${buttons.length} of the page's elements, and none of them is visible, so that nobody can open the chat. Show one of them, or leave the option out.`,
    ];
  return [true, `The option launcher, ${launcher}, matches a button that is visible.`];
}
