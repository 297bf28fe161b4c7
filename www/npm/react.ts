// `<chat-widget>` as a React component: options are props, events are props such as `onUnread`, the ref is the element.

import {
  type AriaAttributes,
  createElement,
  type DetailedHTMLProps,
  forwardRef,
  type HTMLAttributes,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useSyncExternalStore,
} from "react";
import "../element.js";
import type { ChatWidgetElement } from "../element.js";
import { EVENTS } from "../event-names.js";
import type { ChatWidgetEvents } from "../options.js";
import { nullProto } from "../null-proto.js";
import type { ChatWidgetAttributes, ChatWidgetListeners } from "./jsx.js";
import { attributesOf, type ElementOptions } from "./markup.js";

type Handlers = {
  [Name in keyof ChatWidgetEvents as `on${Capitalize<Name>}`]?: (detail: ChatWidgetEvents[Name]) => void;
};

/** The attributes of the element that are no options. */
type Passed = Pick<HTMLAttributes<HTMLElement>, "className" | "hidden" | "id" | "style"> &
  AriaAttributes & { [Name in `data-${string}`]?: string | number | boolean | undefined };

/** The options of a widget, the handlers of its events, and attributes of the element. */
export type ChatWidgetProps = ElementOptions & Handlers & Passed;

// Layout effects run before the widget can emit; a server supports none.
const useCommitted = typeof document === "undefined" ? useEffect : useLayoutEffect;

const subscribe = () => () => {};

/**
 * Returns whether React has taken over what a server has rendered. The element starts only then: React would remove what
 * a widget that has started has put into the element, or render the page again.
 */
const useIsHydrated = () =>
  useSyncExternalStore(
    subscribe,
    () => true,
    () => false,
  );

/** A chat widget: floating above the page, or with `inline` part of its layout. The ref has its controls. */
export const ChatWidget = forwardRef<ChatWidgetElement, ChatWidgetProps>((props, ref) => {
  const element = useRef<ChatWidgetElement>(null);
  const latest = useRef(props);
  useCommitted(() => {
    latest.current = props;
  });
  useImperativeHandle(ref, () => element.current!, []);
  useCommitted(() => {
    const host = element.current!;
    const ending = new AbortController();
    for (const name of EVENTS) {
      const prop = `on${name[0]!.toUpperCase()}${name.slice(1)}` as keyof Handlers;
      const handle = ({ detail }: CustomEvent) => latest.current[prop]?.(detail as never);
      host.addEventListener(`chat-widget:${name}`, handle as EventListener, nullProto({ signal: ending.signal }));
    }
    return () => ending.abort();
  }, []);
  // Before the element starts.
  useCommitted(() => {
    element.current!.visitorToken = props.visitorToken;
  }, [props.visitorToken]);
  const { className, hidden, id, style } = props;
  const isHydrated = useIsHydrated();
  const named = Object.entries(props).filter(([name]) => /^(aria|data)-/.test(name));
  return createElement("chat-widget", {
    ...Object.fromEntries(named),
    ref: element,
    // React sets `class` of a custom element unchanged.
    class: className,
    hidden,
    id,
    style,
    ...attributesOf(props),
    // Without it, the element waits.
    ...(isHydrated ? {} : { proxy: undefined }),
  });
});
ChatWidget.displayName = "ChatWidget";

/** `<chat-widget>` in JSX, with its options as attributes or properties, and its events. */
export type ChatWidgetIntrinsic = DetailedHTMLProps<HTMLAttributes<ChatWidgetElement>, ChatWidgetElement> & {
  class?: string;
} & ChatWidgetAttributes &
  ChatWidgetListeners<"on">;

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "chat-widget": ChatWidgetIntrinsic;
    }
  }
}
