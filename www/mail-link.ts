// A page that the link of an e-mail has opened: shows the e-mail's proof to the proxy, which says which conversation it opens,
// and mounts the widget with that conversation. The script tag's loader imports it in place of the module.

import { nullProto } from "./null-proto.js";
import { type TagOptions, isStorageAllowed, parseObject, suffixOf } from "./tag-options.js";
import { isUsableId, proxyAddress, uuid } from "./wire.js";

type Module = typeof import("./tag-module.js");
type MountTag = Module["mountTag"];

/** The time limit of the request, in milliseconds. Without a response, the widget starts as on any page. */
const TIMEOUT_MS = 10_000;
/** The version of stored values. */
const v = 2;

export const mountTag: MountTag = async (options, placement, asked) => {
  const { hash, pathname, search } = location;
  const proof = /^#chat-widget-mail=([\w.-]+)$/.exec(hash)?.[1];
  // Nothing that looks at the page's address from now on sees the proof, and no bookmark has it.
  if (proof) history.replaceState(history.state, "", pathname + search);
  // A specifier that is computed, so that it stays a file of its own.
  const name = "./chat-widget.mjs";
  const [module] = await Promise.all([
    import(new URL(name, import.meta.url).href) as Promise<Module>,
    proof && open(options as TagOptions, proof),
  ]);
  const widget = await module.mountTag(options, placement, asked);
  if (proof) widget.open();
  return widget;
};

/** Stores the conversation that a proof opens as the visitor's. One of the visitor's own browser stays as it is. */
async function open(options: TagOptions, proof: string): Promise<void> {
  // A page that says who is signed in shows that person's conversation, and no other.
  if (!isStorageAllowed(options) || options["visitorToken"]) return;
  try {
    const response = await fetch(
      `${proxyAddress(options["proxy"]!)}/chat/messages`,
      nullProto({
        headers: { Accept: "application/json", "Visitor-Token": proof },
        cache: "no-store",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      }) as object,
    );
    const envelope = (await response.json()) as { ok?: unknown; data?: { conversationId?: unknown } };
    const conversationId = envelope.ok === true && envelope.data?.conversationId;
    if (!conversationId || typeof conversationId !== "string") return;
    const suffix = suffixOf(options);
    const read = (key: string) => parseObject(() => localStorage.getItem(`chat-widget:${key}${suffix}`));
    const write = (key: string, value: object) =>
      localStorage.setItem(`chat-widget:${key}${suffix}`, JSON.stringify({ v, ...value }));
    if (read("conversation")?.["conversationId"] === conversationId) return;
    const known = read("visitor")?.["visitorId"];
    const given = parseObject(() => options["visitor"])?.["visitorId"];
    const visitorId = isUsableId(given) ? given : isUsableId(known) ? known : uuid();
    if (visitorId !== known) write("visitor", { visitorId });
    // The session reads its messages as those of a conversation that began elsewhere: nothing in them is new.
    write("conversation", { visitorId, conversationId });
  } catch {
    // The link has expired, the proxy does not answer, or storage is blocked.
  }
}
