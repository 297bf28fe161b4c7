// The chat config: the one of the last page from storage, and the one that the proxy returns.

import { localeOf } from "../locale.js";
import { nullProto } from "../null-proto.js";
import { isStorageAllowed, parseObject } from "../tag-options.js";
import { options, own } from "./tag.js";

// Filled in by the build: the names of the options that a config may have, with spaces between.
declare const SITE_OPTIONS: string;

const CONFIG_KEY = "chat-widget:config";

interface ConfigData {
  config?: { enabled?: boolean; widgetEnabled?: boolean; options?: Record<string, unknown> };
}

/** The response of the proxy, once it is there. */
export let config: ConfigData | undefined;

const isAllowed = isStorageAllowed(options);
const stored = isAllowed
  ? (parseObject(() => localStorage.getItem(CONFIG_KEY))?.["data"] as ConfigData | undefined)
  : undefined;

function isEnabled(data: ConfigData | undefined): boolean {
  const { enabled, widgetEnabled } = nullProto(data?.config ?? {});
  return enabled !== false && widgetEnabled !== false;
}

/** Takes the options that the site has set in the service, as attributes are written. Those of the page win. */
function adopt(data: ConfigData | undefined): void {
  const given = nullProto(nullProto(data?.config ?? {}).options ?? {});
  for (const name of SITE_OPTIONS.split(" ")) {
    const value = given[name];
    if (!(name in own)) options[name] = typeof value === "object" && value ? JSON.stringify(value) : (value as string);
  }
}

/** Whether the config of the last page shows the launcher before the proxy has answered. */
export const isKnownEnabled = stored && isEnabled(stored);

/** Requests the config and returns whether the chat is enabled; without a usable response, whether it was before. */
export async function requestConfig(): Promise<boolean> {
  const prefix = options["proxy"]!;
  try {
    // A prefix without an origin belongs to the page's own origin, whatever its `<base>` says. A relative one throws: the
    // module requests its config.
    const { href } = new URL(prefix[0] === "/" ? location.origin + prefix : prefix);
    const url = href.replace(/\/*$/, `/chat/config?locale=${localeOf(options["locale"])}`);
    const response = await fetch(url, nullProto({ headers: { Accept: "application/json" } }));
    const { ok, data } = nullProto((await response.json()) as { ok?: boolean; data?: ConfigData });
    if (response.ok && ok === true) {
      config = data;
      adopt(data);
      if (isAllowed) localStorage.setItem(CONFIG_KEY, JSON.stringify({ v: 2, data }));
    }
  } catch {
    // Without a response, the widget requests the config again; without storage, the next page waits for its response.
  }
  return isEnabled(config ?? stored);
}

adopt(stored);
