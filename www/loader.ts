// The script tag: asks for the config, paints the launcher, and brings the rest when it is wanted.

import { RIGHT_TO_LEFT } from "./direction.js";
import { readOption } from "./read.js";
import type { ChatWidget, ChatWidgetHandler, ChatWidgetEvent, ChatWidgetOptions } from "./module.js";

// Filled in by the build: the launcher's style sheet with its tokens, and each theme's colours for it.
declare const LAUNCHER_SHEET: string;
declare const LAUNCHER_COLOURS: Record<string, string>;
declare const LAUNCHER_ICON: string;
declare const LAUNCHER_LABEL: string;

type Control = (...args: unknown[]) => unknown;
type Call = [name: string, ...args: unknown[]];
type Controller = Record<string, unknown> & { push(call: Call): void };
type Module = typeof import("./module.js");

/** A first visitor's launcher waits so long for the config. Milliseconds. */
const CONFIG_WITHIN = 1000;
const CONFIG_KEY = "chat-widget:config";
const CONVERSATION_KEY = "chat-widget:conversation";

function stored(key: string, where: "localStorage" | "sessionStorage" = "localStorage"): { data?: ConfigData } | null {
  try {
    return JSON.parse(window[where].getItem(key) ?? "null") as { data?: ConfigData } | null;
  } catch {
    return null;
  }
}

interface ConfigData {
  config?: { enabled?: boolean; widgetEnabled?: boolean };
}

function isShown(data: ConfigData | undefined): boolean {
  return data?.config?.enabled !== false && data?.config?.widgetEnabled !== false;
}

function readOptions(script: HTMLScriptElement): ChatWidgetOptions & { load?: string } {
  const options: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(script.dataset)) options[name] = readOption(name, text!);
  return options as unknown as ChatWidgetOptions & { load?: string };
}

function start(script: HTMLScriptElement, queued: Call[]): void {
  const { load: when = "idle", ...options } = readOptions(script);
  if (!options.proxy) {
    console.error('chat widget: the script tag needs data-proxy="/connector"');
    return;
  }
  /** Loads what stands beside the loader. */
  const load = (name: string): Promise<unknown> => import(new URL(`./${name}.mjs`, script.src).href);
  const { launcher: button = "default" } = options;
  const floats = !options.container && options.isolate !== false;
  const remembers = options.consent !== "required";
  let host: HTMLElement | undefined;
  let launcher: HTMLButtonElement | undefined;
  let config: ConfigData | undefined;
  let refused = false;
  let destroyed = false;
  let hidden = false;
  let clicked = false;
  let widget: ChatWidget | undefined;
  let arriving: Promise<void> | undefined;
  const onError: ChatWidgetHandler<"error">[] = [];
  let pressed: Promise<void> | undefined;
  let asked: Element | undefined;
  let announce: (widget: ChatWidget) => void;
  const mounted = new Promise<ChatWidget>((resolve) => (announce = resolve));

  // The controller: what is called before the module has come waits for it.
  const controller: Controller = {
    // One that goes wrong is told, and keeps none back.
    push: (call) => void Promise.resolve(call).then(([name, ...args]) => (controller[name] as Control)(...args)).catch(console.error),
    ready: mounted.then(({ ready }) => ready),
    get state() {
      return widget?.state;
    },
  };
  const names = "open close toggle show hide reloadConfig setTheme setLocale update identify sendMessage setDraft track grantConsent reset destroy";
  for (const name of names.split(" ")) {
    controller[name] = (...args: unknown[]) => call(name, args);
  }
  for (const name of ["on", "once"] as const) {
    controller[name] = (event: ChatWidgetEvent, handler: ChatWidgetHandler<ChatWidgetEvent>) => {
      if (widget) return widget[name](event, handler);
      let off: () => void = () => {
        handler = () => {};
      };
      const tell = (detail: unknown) => handler(detail as never);
      if (event === "error") onError.push(tell);
      void mounted.then((widget) => (off = widget[name](event, tell)));
      return () => off();
    };
  }
  // It helps most where nothing else has come.
  controller["diagnose"] = () =>
    load("diagnose").then((module) => (module as typeof import("./diagnose.js")).default(options, script.src));
  window.chatWidget = controller;

  async function call(name: string, args: unknown[]): Promise<unknown> {
    if (!widget) {
      if (name === "destroy") {
        destroyed = true;
        swaps.disconnect();
        host?.remove();
        return forget();
      }
      hidden = name === "hide" || (hidden && name !== "show");
      if (host) host.hidden = hidden;
      if (/^open|toggle|send/.test(name)) bring();
    }
    return ((widget ?? (await mounted)) as unknown as Record<string, Control>)[name]!(...args);
  }

  function forget(): void {
    if (host) Object.assign(host, { managed: "module" });
    if (window.chatWidget === controller) delete window.chatWidget;
  }

  /** Brings the module, and lets it take the launcher over. */
  function bring(): void {
    if (refused || destroyed) return;
    arriving ??= settled.then(async () => {
      if (refused || destroyed) return;
      const module = (await load("chat-widget")) as Module;
      await whenBody();
      if (refused || destroyed) return;
      const settled = async () => {
        // A press that began on one button and ended on another would be no click.
        await pressed;
        if (refused || destroyed) throw new Error();
        Object.assign(host!, { asked });
      };
      widget = await module.ChatWidget.mount(options, { host: hostElement(), config, settled });
      widget.once("destroy", forget);
      // From then on it comes back when the page's body is replaced, and the page may have others as elements. A page that
      // is left meanwhile has it cut off, which is no error of the page's.
      load("element").catch(() => {});
      announce(widget);
      // What was called before goes first.
      await mounted;
      // A click as the visitor's, so that the focus follows; more of them meant the same.
      if (clicked && !widget.state?.open) host?.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.click();
    });
    arriving.catch((error: unknown) => {
      if (refused || destroyed) return host?.remove();
      arriving = undefined;
      launcher?.removeAttribute("aria-busy");
      console.error("chat widget: the module did not load", error);
      load("fallback").then(
        (module) => (module as typeof import("./fallback.js")).tell(error, onError, (clicked || asked) && hostElement(), options),
        // What is beside the loader cannot be reached at all, such as by a page without an origin of its own.
        () => {
          for (const tell of onError) tell({ code: "NOT_LOADED", message: `${error} from origin ${origin}` });
        },
      ).catch(console.error);
    });
  }

  function hostElement(): HTMLElement {
    if (!host) {
      host = Object.assign(document.createElement("chat-widget"), { managed: "page" });
      // Turbo keeps no copy of it.
      host.dataset["turboTemporary"] = "";
      host.hidden = hidden;
      document.body.append(host);
    }
    return host;
  }

  /** The launcher alone, as the module will draw it: same place, same size, same colours. */
  function paint(): void {
    if (launcher || widget || refused || destroyed) return;
    if (button !== "default" || !floats) return;
    const root = hostElement().attachShadow({ mode: "open" });
    const { offset, themeTokens, zIndex } = options;
    const tokens = { ...themeTokens, "z-root": zIndex, "offset-x": pixels(offset?.x), "offset-y": pixels(offset?.y) };
    for (const [name, value] of Object.entries(tokens)) if (value != null) host!.style.setProperty("--cw-" + name, String(value));
    const sheet = new CSSStyleSheet();
    const colours = LAUNCHER_COLOURS[options.theme!] ?? LAUNCHER_COLOURS["teal"];
    sheet.replaceSync(`${LAUNCHER_SHEET}:host{${colours}}`);
    root.adoptedStyleSheets = [sheet];
    const frame = document.createElement("div");
    frame.className = "cw";
    frame.dir = RIGHT_TO_LEFT.test(localeOf(options)) ? "rtl" : "ltr";
    frame.dataset["scheme"] = options.colorScheme ?? "theme";
    frame.dataset["position"] = options.position ?? "end";
    launcher = document.createElement("button");
    launcher.className = "cw-launcher";
    launcher.type = "button";
    launcher.setAttribute("part", "launcher");
    launcher.setAttribute("aria-label", (options.strings?.["openChat"] as string) ?? LAUNCHER_LABEL);
    launcher.setAttribute("aria-haspopup", "dialog");
    launcher.setAttribute("aria-expanded", "false");
    const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    icon.setAttribute("class", "cw-icon");
    icon.setAttribute("viewBox", "0 0 20 20");
    icon.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(icon.namespaceURI, "path");
    path.setAttribute("d", LAUNCHER_ICON);
    icon.append(path);
    launcher.append(icon);
    frame.append(launcher);
    root.append(frame);
    launcher.addEventListener("click", () => {
      clicked = true;
      launcher?.setAttribute("aria-busy", "true");
      bring();
      // The wait may be over by then, or goes on without words.
      const wait = arriving;
      load("progress").then((module) => wait && (module as typeof import("./progress.js")).default(host!, options, wait)).catch(() => {});
    });
    launcher.addEventListener("pointerdown", ({ button }) => {
      if (button === 0) pressed = whenReleased();
    });
    for (const sign of ["pointerenter", "focus"]) launcher.addEventListener(sign, bring, { once: true });
  }

  // Whoever replaces the page's body before there is an element that comes back by itself.
  const swaps = new MutationObserver(() => host?.isConnected === false && document.body?.append(host));
  swaps.observe(document, { childList: true, subtree: true });

  // The page's own button: a click that comes early is kept, for the focus to follow it and to come back.
  const onClick = ({ target }: MouseEvent) => {
    const found = (target as Element | null)?.closest?.(button);
    if (!found) return;
    asked = found;
    bring();
  };
  if (button !== "default" && button !== "none") document.addEventListener("click", onClick);
  void mounted.then(() => {
    swaps.disconnect();
    document.removeEventListener("click", onClick);
  });

  const last = remembers ? stored(CONFIG_KEY)?.data : undefined;
  const answered = fetchConfig(options, remembers).then((data) => {
    config = data;
    refused = !isShown(data ?? last);
    // A widget that is there already asks for the config itself, and hides.
    if (refused && !widget) {
      host?.remove();
      host = launcher = undefined;
    }
  });
  const settled = Promise.race([answered, after(CONFIG_WITHIN)]);
  if (last && isShown(last)) void whenBody().then(paint);
  else void settled.then(whenBody).then(paint);

  const suffix = options.customerId ? `@${options.customerId}` : "";
  // A conversation to go on with, or a window that was open on the page before.
  const goesOn = remembers && (stored(CONVERSATION_KEY + suffix) ?? stored(`chat-widget:${suffix}:open`, "sessionStorage"));
  if (when === "eager" || goesOn) void whenLoaded().then(bring);
  // Where nothing is painted, there is nothing to be pressed.
  else if (!floats || (when === "idle" && !isSlow())) void whenLoaded().then(whenIdle).then(bring);

  queued.forEach(controller.push);
}

async function fetchConfig(options: ChatWidgetOptions, keep: boolean): Promise<ConfigData | undefined> {
  try {
    const locale = localeOf(options);
    const url = `${options.proxy.replace(/\/+$/, "")}/chat/config?locale=${encodeURIComponent(locale)}`;
    const answer = await fetch(url, { headers: { Accept: "application/json" }, cache: "no-store" });
    const body = (await answer.json()) as { ok?: boolean; data?: ConfigData };
    if (!answer.ok || body.ok !== true || !body.data) return undefined;
    try {
      if (keep) localStorage.setItem(CONFIG_KEY, JSON.stringify({ v: 1, data: body.data }));
    } catch {
      // Without storage, the next page asks before it shows the launcher.
    }
    return body.data;
  } catch {
    return undefined;
  }
}

function localeOf(options: ChatWidgetOptions): string {
  return options.locale ?? (document.documentElement.lang || navigator.language);
}

function pixels(length: number | undefined): string | undefined {
  return length == null ? undefined : length + "px";
}

function isSlow(): boolean {
  const connection = (navigator as { connection?: { saveData?: boolean; effectiveType?: string } }).connection;
  return connection?.saveData === true || /2g/.test(connection?.effectiveType ?? "");
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The end of a press, once its click has been heard. */
function whenReleased(): Promise<void> {
  return new Promise((resolve) => {
    const release = () => setTimeout(resolve);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, { once: true });
  });
}

function whenBody(): Promise<unknown> {
  if (document.body) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
}

function whenLoaded(): Promise<unknown> {
  if (document.readyState === "complete") return Promise.resolve();
  return new Promise((resolve) => addEventListener("load", resolve, { once: true }));
}

function whenIdle(): Promise<void> {
  if (!("requestIdleCallback" in window)) return after(200);
  return new Promise((resolve) => requestIdleCallback(resolve as () => void, { timeout: 3000 }));
}

declare global {
  interface Window {
    chatWidget?: unknown;
  }
}

// An element of the page with this id is found under this name as well.
const before = window.chatWidget instanceof Element ? undefined : window.chatWidget;
const script = document.currentScript;
// A page that has the tag twice has one widget.
if (script instanceof HTMLScriptElement && (before === undefined || Array.isArray(before))) {
  start(script, (before ?? []) as Call[]);
}
