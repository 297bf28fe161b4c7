// Imports the module and mounts the widget, once somebody or something wants it.

import type { Companion } from "../companion.js";
import type { ChatWidget, ChatWidgetHandler } from "../module.js";
import { config, requestConfig } from "./config.js";
import { bodyObserver, host, hostElement, isRefused, refuse } from "./host.js";
import { after, whenBody } from "./schedule.js";
import { fileUrl, importFile, importHelp, options } from "./tag.js";

type Module = typeof import("../tag-module.js");
type Waiting = typeof import("../waiting.js");

/** Maximum wait of a first visitor's launcher for the config, in milliseconds. */
const CONFIG_TIMEOUT_MS = 1000;

export let widget: ChatWidget | undefined;

/** The page's handlers of `error` before there is a widget. */
export const errorHandlers: ChatWidgetHandler<"error">[] = [];

let announce: (widget: ChatWidget) => void;
export const mounted = new Promise<ChatWidget>((resolve) => (announce = resolve));

/** Fulfilled when the config is there, or after `CONFIG_TIMEOUT_MS`. */
export let settled: Promise<unknown>;

/** The page's own button that the visitor has clicked; true for the launcher. */
let asked: Element | true | undefined;
export const keepClick = (button: Element | true) => (asked = button);

/** The attempt under way or done; `undefined` after one that failed. */
export let mounting: Promise<void> | undefined;

/** Reports the page's events until the widget does so. */
export let companion: Companion | undefined;

/** Waits for a sign of the visitor. A widget in the page's layout needs none. */
export async function wait(): Promise<void> {
  await settled;
  if (isRefused || mounting) return;
  const { default: waitIdly } = await importFile<Waiting>("waiting");
  const start = await waitIdly(options, mount);
  // The module may be about to report the page view.
  if (!isRefused && !mounting) companion = start?.(options);
}

/** Requests the config, by which the chat may be refused. */
export function settle(): void {
  // A widget that is there already requests the config itself, and hides.
  const answered = requestConfig().then((isEnabled) => isEnabled || widget || refuse());
  settled = Promise.race([answered, after(CONFIG_TIMEOUT_MS)]);
}

/** Mounts the widget, which takes over the launcher, unless that is under way or done. */
export function mount(): void {
  if (isRefused || mounting) return;
  mounting = settled.then(importAndMount);
  mounting.catch(onFailure);
}

async function importAndMount(): Promise<void> {
  if (isRefused) return;
  // At the same time as the module that needs it.
  const wasm = fetch(fileUrl("chat-widget.wasm"));
  wasm.catch(() => {});
  // The link of an e-mail names its conversation.
  const { mountTag } = await importFile<Module>(/-mail=/.test(location.hash) ? "mail-link" : "chat-widget");
  await whenBody();
  if (isRefused) return;
  widget = await mountTag(options, { host: hostElement(), config, wasm, companion }, () => {
    if (isRefused) throw 0;
    return asked;
  });
  announce(widget);
  bodyObserver.disconnect();
  // Calls from before the widget go first.
  await mounted;
  // A click as the visitor's, so that the focus follows; several clicks meant the same.
  if (asked === true && !widget.state?.open) host!.shadowRoot?.querySelector<HTMLElement>("[part~=launcher]")?.click();
}

function onFailure(error: unknown): void {
  if (isRefused) return;
  mounting = undefined;
  console.error("chat widget: the module did not load", error);
  importHelp()
    .then(
      (help) => help.tell(error, errorHandlers, asked && hostElement(), options),
      // The folder of the loader cannot be reached at all, such as by a page without an origin.
      () => errorHandlers.forEach((handle) => handle({ code: "NOT_LOADED", message: `${error} (${origin})` })),
    )
    .catch(console.error);
}
