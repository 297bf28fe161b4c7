// TypeScript code of a page against the shipped types. The marked lines must not compile.

import { ChatWidget, type ChatWidgetElement, type ChatWidgetOptions, load } from "@site-connector/chat-widget";

const options: ChatWidgetOptions = {
  proxy: "/connector",
  theme: "emerald",
  colorScheme: "auto",
  locale: "ar-EG",
  suggestedQuestions: ["How long does delivery take?"],
  strings: { send: "Go" },
  visitor: { name: "Ingrid", email: "ingrid@example.com" },
  visitorToken: async () => (await fetch("/visitor-token")).text(),
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

const created: ChatWidgetElement = document.createElement("chat-widget");
created.theme = "rose";
created.addEventListener("chat-widget:lead", ({ detail }) => console.log(detail.needsHandoff));
const found = document.querySelector("chat-widget");
await found?.setLocale("de");

(window.chatWidget ||= []).push(["open"]);
(window.chatWidget ||= []).push(["on", "unread", ({ count }: { count: number }) => console.log(count.toFixed())]);
const controller = window.chatWidget;
if (!Array.isArray(controller)) {
  await controller.setTheme("custom", { accent: "#0a6" });
  controller.on("message", ({ role }) => console.log(role.length));
  const isOpen: boolean | undefined = controller.state?.open;
  console.log(isOpen);
  await controller.destroy();
}
// @ts-expect-error Not a control.
window.chatWidget.push(["opens"]);
// @ts-expect-error Not a preset.
window.chatWidget.push(["setTheme", "pink"]);
// @ts-expect-error Not a detail of the event.
window.chatWidget.push(["once", "unread", ({ total }: { total: number }) => console.log(total)]);
// @ts-expect-error Not a detail of the event.
created.addEventListener("chat-widget:lead", ({ detail }) => console.log(detail.total));

// @ts-expect-error Not a number.
await ChatWidget.mount({ proxy: "/connector", zIndex: "high" });
// @ts-expect-error Not a token.
await ChatWidget.mount({ proxy: "/connector", visitorToken: () => 5 });
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
