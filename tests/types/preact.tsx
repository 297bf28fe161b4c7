/** @jsxImportSource preact */
// `<chat-widget>` in Preact. The marked lines must not compile.

import type {} from "@site-connector/chat-widget/jsx/preact";
import type { ChatWidgetElement } from "@site-connector/chat-widget";
import { createRef } from "preact";

const chat = createRef<ChatWidgetElement>();

export const element = (
  <chat-widget
    ref={chat}
    class="chat"
    proxy="/connector"
    theme="slate"
    inline
    suggestedQuestions={["Do you ship?"]}
    title-alert="no"
    onchat-widget-unread={({ detail }) => console.log(detail.count.toFixed())}
  />
);
// @ts-expect-error Not a string.
export const number = <chat-widget proxy={5} />;
// @ts-expect-error Not a detail of the event.
export const total = <chat-widget onchat-widget-unread={({ detail }) => console.log(detail.total)} />;
