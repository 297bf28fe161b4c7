// The launcher before the module is there, and the page's own buttons. Early clicks are kept for the widget.

import { RIGHT_TO_LEFT } from "../direction.js";
import { localeOf } from "../locale.js";
import { nullProto } from "../null-proto.js";
import { isFloating, parseObject } from "../tag-options.js";
import { setTokens } from "../tokens.js";
import { host, hostElement, isRefused } from "./host.js";
import { keepClick, mount, mounted, mounting, widget } from "./mount.js";
import { ONCE, after } from "./schedule.js";
import { buttons, hasLauncher, importFile, options } from "./tag.js";

// Filled in by the build: the launcher's style sheet with its tokens, and each theme's colours for it.
declare const LAUNCHER_SHEET: string;
declare const LAUNCHER_COLOURS: Record<string, string>;
declare const LAUNCHER_ICON: string;
declare const LAUNCHER_LABEL: string;

type Progress = typeof import("../progress.js");

/** Paints the launcher as the module will: same place, same size, same colours. */
export function paint(): void {
  listenToButtons();
  if (isRefused || widget || !isFloating(options) || !hasLauncher()) return;
  const root = hostElement().attachShadow(nullProto({ mode: "open" }));
  setTokens(
    host!.style,
    parseObject(() => options["themeTokens"]),
    parseObject(() => options["offset"]),
    options["zIndex"],
  );
  root.adoptedStyleSheets = [styleSheet()];
  const frame = document.createElement("div");
  frame.className = "cw";
  const isRightToLeft = RIGHT_TO_LEFT.test(localeOf(options["locale"]));
  frame.dir = isRightToLeft ? "rtl" : "ltr";
  frame.dataset["position"] = (isRightToLeft ? /start|right/i : /start|left/i).test(options["position"]!)
    ? "start"
    : "end";
  const launcher = button();
  frame.append(launcher);
  root.append(frame);
  launcher.addEventListener("click", () => {
    keepClick(true);
    launcher.setAttribute("aria-busy", "true");
    mount();
    mounting?.catch(() => launcher.removeAttribute("aria-busy"));
    // Without the file, the visitor waits without an announcement.
    after(1000)
      .then(async () => {
        if (!widget) (await importFile<Progress>("progress")).default(host!, options["locale"], mounting!);
      })
      .catch(() => {});
  });
  for (const sign of ["pointerenter", "focus"]) launcher.addEventListener(sign, mount, ONCE);
}

/** Returns the launcher's style sheet with the colours of the theme. */
function styleSheet(): CSSStyleSheet {
  const sheet = new CSSStyleSheet();
  const scheme = options["colorScheme"]!;
  const [, isLighter, theme] = /^(light.)?(.*)/.exec(`${options["theme"]}`.toLowerCase())!;
  const colours = nullProto(LAUNCHER_COLOURS)[theme!] ?? LAUNCHER_COLOURS["teal"]!;
  let [accent, dark, focus, lightDark = dark, ink = "fff"] = colours.match(/.{6}/g)!;
  if (isLighter) dark = lightDark;
  else ink = "fff";
  sheet.replaceSync(
    `${LAUNCHER_SHEET}.cw-launcher{color-scheme:${/auto/i.test(scheme) ? "light dark" : /dark/i.test(scheme) ? "dark" : "light"}}:host{--cw-accent:light-dark(#${accent},#${dark});--cw-on-accent:light-dark(#fff,#${ink});--cw-focus:light-dark(#${accent},#${focus})}`,
  );
  return sheet;
}

function button(): HTMLButtonElement {
  const button = document.createElement("button");
  button.className = "cw-launcher";
  button.setAttribute("part", "launcher");
  button.setAttribute("aria-label", (parseObject(() => options["strings"])?.["openChat"] as string) ?? LAUNCHER_LABEL);
  button.setAttribute("aria-haspopup", "dialog");
  button.setAttribute("aria-expanded", "false");
  const icon = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  icon.setAttribute("class", "cw-icon");
  icon.setAttribute("viewBox", "0 0 20 20");
  icon.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(icon.namespaceURI, "path");
  path.setAttribute("d", LAUNCHER_ICON);
  icon.append(path);
  button.append(icon);
  return button;
}

let isListening = false;

/** Listens to the page's own buttons: the widget moves the focus as if an early click came now. */
export function listenToButtons(): void {
  if (isListening || hasLauncher()) return;
  isListening = true;
  const selector = buttons();
  const onSign = ({ target, type }: Event) => {
    const button = (target as Element | null)?.closest?.(selector);
    if (!button) return;
    if (type === "click") keepClick(button);
    mount();
  };
  for (const sign of ["click", "pointerover", "focusin"]) {
    document.addEventListener(sign, onSign);
    void mounted.then(() => document.removeEventListener(sign, onSign));
  }
}
