// TypeScript code of a page against the shipped types. The marked lines must not compile.

import { ChatWidget, type ChatWidgetOptions, load } from "@site-connector/chat-widget";

const options: ChatWidgetOptions = {
  proxy: "/connector",
  theme: "emerald",
  colorScheme: "auto",
  locale: "ar-EG",
  suggestedQuestions: ["How long does delivery take?"],
  strings: { send: "Go" },
  visitor: { name: "Ingrid", email: "ingrid@example.com" },
};

await load(new URL("/assets/chat-widget.wasm", location.href));
const widget = await ChatWidget.mount(options);
widget.open();
const off: () => void = widget.on("unread", ({ count }) => console.log(count.toFixed()));
widget.once("message", ({ role, content }) => console.log(role.length + content.length));
off();
const unread: number | undefined = widget.state?.unread;
console.log(unread);

const element = document.querySelector<HTMLElement>("chat-widget")!;
element.addEventListener("chat-widget-unread", ({ detail }) => console.log(detail.count.toFixed()));
document.addEventListener("chat-widget:message", ({ detail: { role, content } }) =>
  console.log(role.length + content.length),
);
addEventListener("chat-widget-error", ({ detail }) => console.log(detail.code.length));
// @ts-expect-error Not a detail of the event.
element.addEventListener("chat-widget-unread", ({ detail }) => console.log(detail.total));
// @ts-expect-error Not a number.
await ChatWidget.mount({ proxy: "/connector", zIndex: "high" });
// @ts-expect-error Other spellings are for attributes only.
await ChatWidget.mount({ proxy: "/connector", position: "right" });

// @ts-expect-error The proxy is required.
await ChatWidget.mount({ theme: "teal" });
// @ts-expect-error Not a preset.
await ChatWidget.mount({ proxy: "/connector", theme: "pink" });
// @ts-expect-error Not an event.
widget.on("unred", () => {});
// @ts-expect-error Not a detail of the event.
widget.on("unread", ({ total }) => console.log(total));
// @ts-expect-error The constructor is private.
new ChatWidget();
