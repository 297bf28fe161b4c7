// `<chat-widget>` as a Vue component: options are props, events are emitted, a template ref has the controls.

import { defineComponent, h, onBeforeUnmount, onMounted, shallowRef } from "vue";
import "../element.js";
import type { ChatWidgetControls, ChatWidgetElement } from "../element.js";
import { elementControls } from "../controls.js";
import { EVENTS } from "../event-names.js";
import { OPTIONS } from "../option-names.js";
import type { ChatWidgetEvents } from "../options.js";
import { nullProto } from "../null-proto.js";
import { attributesOf, type ElementOptions } from "./markup.js";

export type { ChatWidgetControls };

/** The options of a widget. */
export type ChatWidgetProps = ElementOptions;

type Emits = { [Name in keyof ChatWidgetEvents]: (detail: ChatWidgetEvents[Name]) => void };

// The mark makes Vue set an attribute although the element has a property of the name, which Vue would empty. A server
// renders attributes alone, and older versions would render the mark.
const MARK = typeof document === "undefined" ? "" : "^";

/** A chat widget: floating above the page, or with `inline` part of its layout. */
export const ChatWidget = defineComponent<ChatWidgetProps, Emits>(
  (props, { emit, expose }) => {
    const element = shallowRef<ChatWidgetElement>();
    const ending = new AbortController();
    const call =
      (name: keyof ChatWidgetControls) =>
      (...args: never[]) =>
        (element.value![name] as (...args: never[]) => unknown)(...args);
    expose(Object.fromEntries(elementControls().map((name) => [name, call(name)])));
    onMounted(() => {
      for (const name of EVENTS) {
        const handle = ({ detail }: CustomEvent) => (emit as (name: string, detail: unknown) => void)(name, detail);
        element.value!.addEventListener(
          `chat-widget:${name}`,
          handle as EventListener,
          nullProto({ signal: ending.signal }),
        );
      }
    });
    onBeforeUnmount(() => ending.abort());
    const attributes = () =>
      Object.fromEntries(Object.entries(attributesOf(props)).map(([name, text]) => [MARK + name, text]));
    // Set before the element starts. A server would render it.
    const token = () => (typeof document === "undefined" ? {} : { ".visitorToken": props.visitorToken });
    return () => h("chat-widget", { ref: element, ...attributes(), ...token() });
  },
  // A Boolean prop may be written without a value.
  {
    name: "ChatWidget",
    props: { ...Object.fromEntries(OPTIONS.map((name) => [name, null])), inline: Boolean } as never,
    emits: [...EVENTS],
  },
);
