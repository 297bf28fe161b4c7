// Checks what prevents the widget from working on a page, with advice for the site's owner. Loaded by `diagnose()`.

import { attributeOf } from "./attribute-name.js";
import { parseAttributes, parseQuietly } from "./validate-options.js";
import { describe, type Finding, findFiles, findModule } from "./diagnose-files.js";
import { addressOf } from "./option-checks.js";
import { OPTIONS } from "./option-names.js";
import type { ChatWidgetCheck, ChatWidgetDiagnosis, ChatWidgetOptions } from "./options.js";
import { nullProto } from "./null-proto.js";

/** Maximum difference between the clocks of visitor and server, in milliseconds. */
const MAX_CLOCK_SKEW_MS = 5 * 60_000;

/** The source of the options, if it is not the script tag. */
export interface Source {
  /** The host of the widget. */
  host: HTMLElement;
  /** Loads the files that a bundler has moved. */
  load?: (path: string) => Promise<unknown>;
}

/**
 * Checks everything that the widget needs, one after the other. `base` is the address of a file of `dist/`, or of the
 * WebAssembly module itself if a bundler has moved it. Options without a `source` are those of the script tag, as text.
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
  const check = async (name: ChatWidgetCheck["name"], find: () => Finding | Promise<Finding>) => {
    const [ok, message] = await Promise.resolve()
      .then(find)
      .catch(
        (error: unknown): Finding => [
          false,
          `A function that the page has replaced threw an error during this check: ${describe(error)}.`,
        ],
      );
    checks.push({ name, ok, message });
  };
  const { wrong, options } = parse(given, source);
  for (const message of wrong) checks.push({ name: "options", ok: false, message });
  if (wrong.length === 0) checks.push({ name: "options", ok: true, message: "All options are valid." });
  await check("wasm", async () => {
    if (base instanceof URL) return findModule(base);
    // The second one contains the deferred functions.
    const findings = await Promise.all(
      ["chat-widget", "deferred"].map((name) => findModule(new URL(`./${name}.wasm`, base))),
    );
    return findings.find(([ok]) => !ok) ?? findings[0]!;
  });
  await check("files", () => findFiles(options, base, source?.load));
  await check("launcher", () => findLauncher(options, source));
  let answer: Response | undefined;
  await check("proxy", async () => {
    const text = String((given as { proxy?: unknown }).proxy ?? "");
    const prefix = addressOf(text);
    if (prefix === undefined)
      return [
        false,
        `invalid option proxy: expected a prefix on this site, such as "/connector", or a full address, such as "https://api.example/connector", got "${text}".`,
      ];
    const { origin } = new URL(prefix, document.baseURI);
    const isForeign = origin !== location.origin && location.origin !== "null";
    const where = isForeign ? ` The page is on another origin, and what visitors write goes to ${origin}.` : "";
    const url = `${prefix}/chat/config`;
    const shown = isForeign ? url : url.replace(location.origin, "");
    try {
      answer = await fetch(url, nullProto({ headers: { Accept: "application/json" }, cache: "no-store" as const }));
    } catch (error) {
      const allows = isForeign
        ? `, does it let pages of ${location.origin} in ("Allowed origins" in the service's console, or allowed_origins of the proxy)`
        : "";
      return [
        false,
        `The proxy cannot be reached at ${shown} (${describe(error)}). Is the server up${allows}, and does the page's Content-Security-Policy allow it in connect-src?${where}`,
      ];
    }
    if (answer.status === 404)
      return [
        false,
        `There is no proxy at ${shown}: the server answers 404. Check that the option proxy is the prefix that the server uses.${where}`,
      ];
    if (answer.status === 401)
      return [false, `The service refuses the proxy's token (401). Check the site token on the server.${where}`];
    return [
      answer.ok,
      `${shown} answers with status ${answer.status}.${answer.ok ? "" : " The server's log has the reason."}${where}`,
    ];
  });
  await check("config", async () => {
    if (!answer) return [false, "Not checked, because the proxy cannot be reached."];
    const body = (await answer
      .clone()
      .json()
      .catch(() => undefined)) as
      | { ok?: boolean; data?: { config?: { enabled?: boolean; widgetEnabled?: boolean } } }
      | undefined;
    if (!nullProto(body ?? {}).ok)
      return [
        false,
        "The proxy's answer is not the service's: it must be JSON with ok and data. The server may have another page at that address.",
      ];
    const { enabled, widgetEnabled } = nullProto(body?.data?.config ?? {});
    const off = enabled === false || widgetEnabled === false;
    return [
      !off,
      off
        ? "The chat is switched off in the service's settings. Therefore the widget shows nothing."
        : "The chat is switched on.",
    ];
  });
  await check("clock", () => {
    const date = Date.parse(answer?.headers.get("Date") ?? "");
    const off = Math.round((Date.now() - date) / 60_000);
    const wrong = Math.abs(Date.now() - date) > MAX_CLOCK_SKEW_MS;
    return [
      !wrong,
      wrong
        ? `The clock of this device and that of the server are ${Math.abs(off)} minutes apart. Therefore times in the chat look wrong.`
        : "The clock of this device agrees with that of the server.",
    ];
  });
  await check("storage", () => {
    try {
      localStorage.setItem("chat-widget:diagnosis", "1");
      localStorage.removeItem("chat-widget:diagnosis");
      return [true, "The browser stores data for this page."];
    } catch (error) {
      return [
        false,
        `The browser stores nothing for this page (${String(error)}). The chat works until the page closes.`,
      ];
    }
  });
  // Violations are reported in another task.
  await new Promise((resolve) => setTimeout(resolve));
  document.removeEventListener("securitypolicyviolation", onRefused);
  await check("policy", () => {
    const directives = [...new Set(refused.map(({ effectiveDirective }) => effectiveDirective))];
    if (directives.length === 0)
      return [true, "The page's Content-Security-Policy allows everything that the widget needs."];
    return [
      false,
      `The page's Content-Security-Policy blocks the widget by these directives: ${directives.join(", ")}. docs/csp.md has the lines to add.`,
    ];
  });
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** Returns the valid options, and the reports of invalid ones on the page. */
function parse(given: object, source: Source | undefined): { wrong: string[]; options: ChatWidgetOptions } {
  const wrong: string[] = [];
  // `mount()` has rejected invalid options. An element has all options, the widget only the valid ones.
  const host = source?.host as (HTMLElement & Record<string, unknown>) | undefined;
  const isElement = host !== undefined && host["managed"] === undefined;
  const written = isElement ? Object.fromEntries(OPTIONS.map((name) => [name, host[name]])) : given;
  if (!source || isElement) {
    const prefix = source ? "" : "data-";
    // The proxy has another check.
    parseAttributes({ ...written, proxy: "/" }, prefix, (message) => wrong.push(message));
    wrong.push(
      ...misspelt(isElement ? host.getAttributeNames() : Object.keys(given).map((name) => attributeOf(name)), prefix),
    );
  }
  return { wrong, options: parseQuietly(written) };
}

/** Returns reports of attributes that differ from an option's in hyphens, underscores or case only. */
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

/** Checks that visitors can open the window. */
function findLauncher({ launcher = "default", container }: ChatWidgetOptions, source: Source | undefined): Finding {
  if (container !== undefined) return [true, "The window stands in the page, always open."];
  if (source?.host.hasAttribute("inline")) return [true, "The window stands in the page, always open."];
  if (launcher === "none") return [true, "There is no launcher: the page opens the window by open()."];
  if (launcher === "default") return [true, "The launcher is the widget's own."];
  const buttons = [...document.querySelectorAll<HTMLElement>(launcher)];
  if (buttons.length === 0)
    return [
      false,
      `The option launcher, ${launcher}, matches nothing on this page, so that nobody can open the chat. Correct the selector, or put such a button on the page. Without the option, the widget shows its own launcher.`,
    ];
  const isSeen = (button: HTMLElement) =>
    button.getClientRects().length > 0 &&
    (button.checkVisibility?.(nullProto({ visibilityProperty: true, opacityProperty: true })) ?? true);
  if (!buttons.some(isSeen))
    return [
      false,
      `The option launcher, ${launcher}, matches ${buttons.length} of the page's elements, and none of them is visible, so that nobody can open the chat. Show one of them, or remove the option.`,
    ];
  return [true, `The option launcher, ${launcher}, matches a visible button.`];
}
