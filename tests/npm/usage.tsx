// TypeScript code of pages against the packed package. The marked lines must not compile.

import { BrowserWidgetClient, ChatWidget, ChatWidgetError, type ChatWidgetOptions, load, type SendResult } from "@site-connector/chat-widget";
import { BrowserWidgetClient as Client } from "@site-connector/chat-widget/client";
import { ChatWidgetElement } from "@site-connector/chat-widget/element";
import { ChatWidget as ReactChat } from "@site-connector/chat-widget/react";
import { ChatWidget as VueChat } from "@site-connector/chat-widget/vue";
import { h } from "vue";

const options: ChatWidgetOptions = { proxy: "/connector", theme: "rose", offset: { x: 4 } };
await load(new URL("/assets/chat-widget.wasm", location.href));
const widget = await ChatWidget.mount(options);
widget.on("unread", ({ count }) => console.log(count.toFixed()));

const client = new BrowserWidgetClient({ proxy: "/connector", customerId: "ann", timeout: 5000 });
const same: Client = client;
const sent: SendResult = await same.sendMessage("Hello", { locale: "en", sourcePage: "/pots", visitor: { name: "Ann" } });
console.log(sent.message?.content.length, (await client.listMessages("m1")).nextAfter, (await client.getPresence()).operatorOnline);
await client.trackBatch([{ eventType: "cta_clicked", eventData: { label: "Buy" } }]);
const wait = (error: unknown) => (error instanceof ChatWidgetError && error.retryable ? (error.retryAfter ?? 0) : undefined);
console.log(wait(undefined));

const element: ChatWidgetElement = document.createElement("chat-widget");
element.theme = "blue";
element.suggestedQuestions = ["Do you ship?"];
await element.setTheme("custom", { accent: "#0b6" });
const isOk: boolean = (await element.diagnose()).ok;
console.log(isOk);

export const react = (
  <>
    <ReactChat proxy="/connector" inline greeting={{ text: "Hello", after: 3 }} onLead={({ needsHandoff }) => console.log(needsHandoff)} />
    <ReactChat proxy="/connector" className="chat" style={{ color: "red" }} id="help" aria-label="Help" data-test-id="chat" />
    <chat-widget proxy="/connector" theme="slate" suggested-questions='["Do you ship?"]' />
  </>
);
export const vue = h(VueChat, { proxy: "/connector", isolate: false, onMessage: ({ role }) => console.log(role) });

// @ts-expect-error The proxy is required.
new BrowserWidgetClient({});
// @ts-expect-error The client sets the id.
await client.sendMessage("Hello", { visitor: { visitorId: "v1234567" } });
// @ts-expect-error Not a preset.
element.theme = "pink";
// @ts-expect-error Not a preset.
export const pink = <ReactChat proxy="/connector" theme="pink" />;
// @ts-expect-error Not a value of the attribute.
export const hidden = <ReactChat proxy="/connector" aria-hidden="yes" />;
// @ts-expect-error The proxy is required.
export const without = <ReactChat />;
// @ts-expect-error Not a detail of the event.
h(VueChat, { proxy: "/connector", onUnread: ({ total }) => total });
