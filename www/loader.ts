// The script tag: asks for the config, paints the launcher, and brings the rest when it is wanted.

import { CONTROLS } from "./controls.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import { localeOf } from "./locale.js";
import { own } from "./own.js";
import type { ChatWidget, ChatWidgetHandler, ChatWidgetEvent } from "./module.js";

// Filled in by the build: the launcher's style sheet with its tokens, and each theme's colours for it.
declare const LAUNCHER_SHEET: string;
declare const LAUNCHER_COLOURS: Record<string, string>;
declare const LAUNCHER_ICON: string;
declare const LAUNCHER_LABEL: string;

type Control = (...args: unknown[]) => unknown;
type Call = [name: string, ...args: unknown[]];
type Controller = Record<string, unknown> & { push(call: Call): void };
type Module = typeof import("./module.js");
type Help = typeof import("./error-state.js");
type Texts = Record<string, string | undefined>;

/** A first visitor's launcher waits so long for the config. Milliseconds. */
const CONFIG_TIMEOUT_MS = 1000;
const CONFIG_KEY = "chat-widget:config";
const CONVERSATION_KEY = "chat-widget:conversation";
const ONCE = own({ once: true });

/** The object that a JSON text says; `undefined` for null, and where there is none. */
function parse(text: () => unknown): Record<string, any> | undefined {
  try {
    const value = JSON.parse(text() as string) as object | null;
    return value == null ? undefined : own(value);
  } catch {
    return undefined;
  }
}

interface ConfigData {
  config?: { enabled?: boolean; widgetEnabled?: boolean };
}

function isShown(data: ConfigData | undefined): boolean {
  const { enabled, widgetEnabled } = own(data?.config ?? {});
  return enabled !== false && widgetEnabled !== false;
}

function start(script: HTMLScriptElement, queued: Call[]): void {
  // As they are written: the module reads them all, the loader what it needs.
  const options = own(script.dataset) as Texts;
  const { proxy, consent = "granted", customerId, load: when = "" } = options;
  if (!proxy) {
    console.error('chat widget: the script tag needs data-proxy="/connector"');
    return;
  }
  let { launcher: button = "" } = options;
  try {
    document.querySelector(button);
  } catch {
    button = "default";
  }
  const load = (name: string): Promise<any> => import(new URL(`./${name}.mjs`, script.src).href);
  /** Loads what helps where something went wrong; as a classic script where modules cannot be imported, such as from a
   * host that lets no other site read them, or does not know what `.mjs` is. */
  const help = (): Promise<Help> =>
    load("error-state").catch(
      () =>
        new Promise((arrive, onerror) => {
          const src = new URL("error-state.js", script.src);
          document.head.append(Object.assign(document.createElement("script"), { src, arrive, onerror }));
        }),
    );
  const hasLauncher = /^(default|true)$/i.test(button);
  const floats = !options.container && !/^([0fn]|off)/i.test(options.isolate!);
  const remembers = /^granted$/i.test(consent);
  let host: HTMLElement | undefined;
  let launcher: HTMLButtonElement | undefined;
  let config: ConfigData | undefined;
  /** The site has switched the chat off, or the page has taken it away. */
  let refused = false;
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
    push: (call) =>
      void Promise.resolve(call)
        .then(([name, ...args]) => (controller[name] as Control)(...args))
        .catch(console.error),
    ready: mounted.then(({ ready }) => ready),
    get state() {
      return widget?.state;
    },
  };
  for (const name of CONTROLS) {
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
  controller["diagnose"] = () => help().then((module) => module.diagnose(options, script.src));
  window.chatWidget = controller;

  async function call(name: string, args: unknown[]): Promise<unknown> {
    if (!widget) {
      if (name === "destroy") {
        refused = true;
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
    if (refused) return;
    arriving ??= settled.then(async () => {
      if (refused) return;
      const module = (await load("chat-widget")) as Module;
      await whenBody();
      if (refused) return;
      const settled = async () => {
        // A press that began on one button and ended on another would be no click.
        await pressed;
        if (refused) throw 0;
        Object.assign(host!, { asked });
      };
      widget = await module.ChatWidget.mount(options as never, {
        host: hostElement(),
        config,
        settled,
        prefix: "data-",
      });
      widget.once("destroy", forget);
      // From then on it comes back when the page's body is replaced, and the page may have others as elements. A page that
      // is left meanwhile has it cut off, which is no error of the page's.
      load("element").catch(() => {});
      announce(widget);
      // What was called before goes first.
      await mounted;
      // A click as the visitor's, so that the focus follows; more of them meant the same.
      if (clicked && !widget.state?.open) host!.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.click();
    });
    arriving.catch((error: unknown) => {
      if (refused) return host?.remove();
      arriving = undefined;
      launcher?.removeAttribute("aria-busy");
      console.error("chat widget: the module did not load", error);
      help()
        .then(
          (module) => module.tell(error, onError, (clicked || asked) && hostElement(), options),
          // What is beside the loader cannot be reached at all, such as by a page without an origin of its own.
          () => onError.forEach((tell) => tell({ code: "NOT_LOADED", message: `${error} (${origin})` })),
        )
        .catch(console.error);
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
    if (launcher || widget || refused) return;
    if (!hasLauncher || !floats) return;
    const root = hostElement().attachShadow(own({ mode: "open" }));
    const tokens: Record<string, unknown> = { ...parse(() => options.themeTokens), "z-root": options.zIndex };
    const offset = parse(() => options.offset);
    for (const side in offset) tokens[`offset-${side}`] = `${offset[side]}px`;
    for (const [name, value] of Object.entries(tokens))
      if (value) host!.style.setProperty(`--cw-${name}`, value as string);
    const sheet = new CSSStyleSheet();
    const [, isLighter, theme] = /^(light.)?(.*)/.exec(`${options.theme}`.toLowerCase())!;
    const colours = own(LAUNCHER_COLOURS)[theme!] ?? LAUNCHER_COLOURS["teal"]!;
    let [accent, dark, focus, lightDark = dark, ink = "fff"] = colours.match(/.{6}/g)!;
    if (isLighter) dark = lightDark;
    else ink = "fff";
    sheet.replaceSync(
      `${LAUNCHER_SHEET}:host{--cw-accent:light-dark(#${accent},#${dark});--cw-on-accent:light-dark(#fff,#${ink});--cw-focus:light-dark(#${accent},#${focus})}`,
    );
    root.adoptedStyleSheets = [sheet];
    const frame = document.createElement("div");
    frame.className = "cw";
    const isRightToLeft = RIGHT_TO_LEFT.test(localeOf(options.locale));
    frame.dir = isRightToLeft ? "rtl" : "ltr";
    frame.dataset["scheme"] = `${options.colorScheme}`.toLowerCase();
    frame.dataset["position"] = (isRightToLeft ? /start|right/i : /start|left/i).test(options.position!)
      ? "start"
      : "end";
    launcher = document.createElement("button");
    launcher.className = "cw-launcher";
    launcher.setAttribute("part", "launcher");
    launcher.setAttribute("aria-label", parse(() => options.strings)?.["openChat"] ?? LAUNCHER_LABEL);
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
      load("progress")
        .then((module) => wait && module.default(host, options.locale, wait))
        .catch(() => {});
    });
    launcher.addEventListener("pointerdown", ({ button }) => {
      if (!button) pressed = whenReleased();
    });
    for (const sign of ["pointerenter", "focus"]) launcher.addEventListener(sign, bring, ONCE);
  }

  // Whoever replaces the page's body before there is an element that comes back by itself.
  const swaps = new MutationObserver(() => host?.isConnected === false && document.body?.append(host));
  swaps.observe(document, own({ childList: true, subtree: true }));

  // The page's own button: a click that comes early is kept, for the focus to follow it and to come back.
  const onClick = ({ target }: MouseEvent) => {
    const found = (target as Element | null)?.closest?.(button);
    if (!found) return;
    asked = found;
    bring();
  };
  if (!hasLauncher) document.addEventListener("click", onClick);
  void mounted.then(() => {
    swaps.disconnect();
    document.removeEventListener("click", onClick);
  });

  const last = remembers
    ? (parse(() => localStorage.getItem(CONFIG_KEY))?.["data"] as ConfigData | undefined)
    : undefined;
  const ask = fetchConfig(proxy, localeOf(options.locale), remembers).catch(() => undefined);
  const answered = ask.then((data) => {
    config = data;
    refused ||= !isShown(data ?? last);
    // A widget that is there already asks for the config itself, and hides.
    if (refused && !widget) {
      host?.remove();
      host = launcher = undefined;
    }
  });
  const settled = Promise.race([answered, after(CONFIG_TIMEOUT_MS)]);
  if (last && isShown(last)) void whenBody().then(paint);
  else void settled.then(whenBody).then(paint);

  const suffix = customerId ? `@${customerId}` : "";
  // A conversation to go on with, or a window that was open on the page before.
  const goesOn =
    remembers &&
    (parse(() => localStorage.getItem(CONVERSATION_KEY + suffix)) ??
      parse(() => sessionStorage.getItem(`chat-widget:${suffix}:open`)));
  if (/eager/i.test(when) || goesOn) void whenLoaded().then(bring);
  // Where nothing is painted, there is nothing to be pressed.
  else if (!floats || !(/intent/i.test(when) || isSlow())) void whenLoaded().then(whenIdle).then(bring);

  queued.forEach(controller.push);
}

/** Asks the proxy at a prefix. One that names no origin is of the page's own, whatever its `<base>` says. */
async function fetchConfig(prefix: string, locale: string, keep: boolean): Promise<ConfigData | undefined> {
  // A relative one, of which this makes no address, is left to the module.
  const { href } = new URL(prefix[0] === "/" ? location.origin + prefix : prefix);
  const url = href.replace(/\/*$/, `/chat/config?locale=${locale}`);
  const answer = await fetch(url, own({ headers: { Accept: "application/json" } }));
  const { ok, data } = own((await answer.json()) as { ok?: boolean; data?: ConfigData });
  if (!answer.ok || ok !== true) return undefined;
  // Without storage, the next page asks before it shows the launcher.
  if (keep) parse(() => localStorage.setItem(CONFIG_KEY, JSON.stringify({ v: 1, data })));
  return data;
}

function isSlow(): boolean {
  const { saveData, effectiveType } =
    (navigator as { connection?: { saveData?: boolean; effectiveType?: string } }).connection ?? {};
  return saveData === true || /2g/.test(effectiveType!);
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The end of a press, once its click has been heard. */
function whenReleased(): Promise<void> {
  return new Promise((resolve) => {
    const release = () => setTimeout(resolve);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, ONCE);
  });
}

function whenBody(): Promise<unknown> {
  if (document.body) return Promise.resolve();
  return new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, ONCE));
}

function whenLoaded(): Promise<unknown> {
  if (document.readyState === "complete") return Promise.resolve();
  return new Promise((resolve) => addEventListener("load", resolve, ONCE));
}

function whenIdle(): Promise<void> {
  if (!("requestIdleCallback" in window)) return after(200);
  return new Promise((resolve) => requestIdleCallback(resolve as () => void, own({ timeout: 3000 })));
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
