/** @jsxImportSource solid-js */
// `<chat-widget>` in Solid. The marked lines must not compile.

import type {} from "@site-connector/chat-widget/jsx/solid";
import type { ChatWidgetElement } from "@site-connector/chat-widget";

let chat: ChatWidgetElement | undefined;

export const element = (
  <chat-widget
    ref={(element) => (chat = element)}
    class="chat"
    proxy="/connector"
    theme="slate"
    inline
    suggestedQuestions={["Do you ship?"]}
    on:chat-widget-unread={({ detail }) => console.log(detail.count.toFixed())}
  />
);
export const open = () => chat?.open();
// @ts-expect-error Not a string.
export const number = <chat-widget proxy={5} />;
// @ts-expect-error Not a detail of the event.
export const total = <chat-widget on:chat-widget-unread={({ detail }) => console.log(detail.total)} />;
