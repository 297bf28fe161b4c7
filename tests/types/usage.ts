// What a TypeScript page writes, checked against the types that are shipped. The marked lines must not compile.

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
// @ts-expect-error What comes with it.
element.addEventListener("chat-widget-unread", ({ detail }) => console.log(detail.total));
// @ts-expect-error A number.
await ChatWidget.mount({ proxy: "/connector", zIndex: "high" });
// @ts-expect-error From code, the side is one of two.
await ChatWidget.mount({ proxy: "/connector", position: "right" });

// @ts-expect-error The proxy is the one option that must be there.
await ChatWidget.mount({ theme: "teal" });
// @ts-expect-error A preset's name.
await ChatWidget.mount({ proxy: "/connector", theme: "pink" });
// @ts-expect-error An event's name.
widget.on("unred", () => {});
// @ts-expect-error What comes with it.
widget.on("unread", ({ total }) => console.log(total));
// @ts-expect-error Widgets are mounted, not made.
new ChatWidget();
