// `<chat-widget>` in React without the component. The marked lines must not compile.

import type {} from "@site-connector/chat-widget/jsx/react";
import type { ChatWidgetElement } from "@site-connector/chat-widget";
import { createRef } from "react";

const chat = createRef<ChatWidgetElement>();

export const element = (
  <chat-widget
    ref={chat}
    className="chat"
    proxy="/connector"
    theme="slate"
    inline
    suggestedQuestions={["Do you ship?"]}
    title-alert="no"
    z-index={5}
    onchat-widget-unread={({ detail }) => console.log(detail.count.toFixed())}
  />
);
// @ts-expect-error Not a string.
export const number = <chat-widget proxy={5} />;
// @ts-expect-error A list is a property; its attribute holds JSON.
export const list = <chat-widget suggested-questions={["Do you ship?"]} />;
// @ts-expect-error Not a detail of the event.
export const total = <chat-widget onchat-widget-unread={({ detail }) => console.log(detail.total)} />;
