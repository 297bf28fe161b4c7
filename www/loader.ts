// The script tag: requests the config, paints the launcher, and decides when the module is loaded.

import { isKnownEnabled } from "./loader/config.js";
import { type Call, controller } from "./loader/controller.js";
import { bodyObserver } from "./loader/host.js";
import { listenToButtons, paint } from "./loader/launcher.js";
import { mount, settle, settled } from "./loader/mount.js";
import { isSlow, whenBody, whenIdle, whenLoaded } from "./loader/schedule.js";
import { isFloating, isStorageAllowed, options, parseObject, script } from "./loader/tag.js";
import { nullProto } from "./null-proto.js";
import type { ChatWidgetController } from "./script-tag.js";

function start(queue: Call[]): void {
  if (!options["proxy"]) {
    console.error('chat widget: the script tag needs data-proxy="/connector"');
    return;
  }
  window.chatWidget = controller as unknown as ChatWidgetController;
  bodyObserver.observe(document, nullProto({ childList: true, subtree: true }));
  listenToButtons();
  settle();
  if (isKnownEnabled) void whenBody().then(paint);
  else void settled.then(whenBody).then(paint);

  const { customerId, load = "" } = options;
  const suffix = customerId ? `@${customerId}` : "";
  // A conversation to continue, or a window that was open on the page before.
  const isOpen =
    isStorageAllowed &&
    (parseObject(() => localStorage.getItem(`chat-widget:conversation${suffix}`)) ??
      parseObject(() => sessionStorage.getItem(`chat-widget:${suffix}:open`)));
  if (/eager/i.test(load) || isOpen) void whenLoaded().then(mount);
  // Without a launcher there is nothing that could be pressed.
  else if (!isFloating || !(/intent/i.test(load) || isSlow())) void whenLoaded().then(whenIdle).then(mount);

  queue.forEach(controller.push);
}

// An element of the page with this id is found under this name as well.
const before = window.chatWidget instanceof Element ? undefined : window.chatWidget;
// A page that has the tag twice has one widget.
if (script instanceof HTMLScriptElement && (before === undefined || Array.isArray(before))) {
  start((before ?? []) as Call[]);
}
