// The controls of a widget: the methods that the script tag's controller and `<chat-widget>` forward to it.

/** The names as one text, which is smaller than a list in the loader. */
const NAMES =
  "open close toggle show hide reloadConfig setTheme setLocale update identify sendMessage setDraft track grantConsent reset destroy diagnose";

type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? First | Words<Rest> : Text;

/** The name of a control of an element, which has no `destroy`: removing the element does that. */
export type Control = Exclude<Words<typeof NAMES>, "destroy">;

/** The names of all controls. */
export const CONTROLS = NAMES.split(" ");

/** Returns the names of the controls that an element has as methods. */
export const elementControls = () => CONTROLS.filter((name) => name !== "destroy") as Control[];
