// `<chat-widget>` in templates of Svelte, whose tools read this interface. The marked lines must not compile.

import type {} from "@site-connector/chat-widget/jsx/svelte";
import type { SvelteHTMLElements } from "svelte/elements";

type Markup = SvelteHTMLElements["chat-widget"];

export const version5: Markup = {
  class: "chat",
  proxy: "/connector",
  suggestedQuestions: ["Do you ship?"],
  "onchat-widget-unread": ({ detail }) => console.log(detail.count.toFixed()),
};
export const version4: Markup = { "on:chat-widget-message": ({ detail }) => console.log(detail.content.length) };
// @ts-expect-error Not a string.
export const number: Markup = { proxy: 5 };
// @ts-expect-error Not a detail of the event.
export const total: Markup = { "onchat-widget-unread": ({ detail }) => console.log(detail.total) };
