// The script tag: requests the config, paints the launcher, and waits for a sign that the visitor wants the chat.

import { isKnownEnabled } from "./loader/config.js";
import { type Call, controller } from "./loader/controller.js";
import { bodyObserver } from "./loader/host.js";
import { listenToButtons, paint } from "./loader/launcher.js";
import { mount, settle, settled, wait } from "./loader/mount.js";
import { whenBody, whenLoaded } from "./loader/schedule.js";
import { options, script } from "./loader/tag.js";
import { nullProto } from "./null-proto.js";
import { isStorageAllowed, suffixOf } from "./tag-options.js";
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
  void (isKnownEnabled ? whenBody() : settled.then(whenBody)).then(paint);

  const { load = "" } = options;
  if (/eager/i.test(load) || isOngoing()) void whenLoaded().then(mount);
  else void whenLoaded().then(wait).catch(mount);

  queue.forEach(controller.push);
}

/** Whether there is a conversation to go on with, or a window that was open on the page before. */
function isOngoing(): unknown {
  try {
    // A first message that is not delivered yet has no conversation.
    return (
      isStorageAllowed(options) &&
      (sessionStorage.getItem(`chat-widget:${suffixOf(options)}:open`) ||
        // Whose conversation it is may be known later only.
        // The link of an e-mail opens one.
        /widget(:outbox:|:conv|-mail=)/.test(location.hash + Object.keys(localStorage)))
    );
  } catch {
    return false;
  }
}

// An element of the page with this id is found under this name as well.
const before = window.chatWidget instanceof Element ? undefined : window.chatWidget;
// A page that has the tag twice has one widget.
if (script instanceof HTMLScriptElement && (before === undefined || Array.isArray(before))) {
  start((before ?? []) as Call[]);
}
