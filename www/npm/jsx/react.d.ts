/** `<chat-widget>` in the JSX of React 19, without the component of `/react`. */
export type { ChatWidgetIntrinsic } from "../react.js";
