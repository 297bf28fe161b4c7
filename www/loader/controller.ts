// `window.chatWidget`: the widget's controls from the first line on. Calls wait until the widget is there.

import { CONTROLS } from "../controls.js";
import type { ChatWidgetEvent, ChatWidgetHandler } from "../module.js";
import { host, refuse, setHidden } from "./host.js";
import { companion, errorHandlers, mount, mounted, widget } from "./mount.js";
import { whenLoaded } from "./schedule.js";
import { importHelp, options, script } from "./tag.js";

type Control = (...args: unknown[]) => unknown;
export type Call = [name: string, ...args: unknown[]];
type Controller = Record<string, unknown> & { push(call: Call): void };

export const controller: Controller = {
  // A call that fails is logged and stops no other call.
  push: (call) =>
    void Promise.resolve(call)
      .then(([name, ...args]) => (controller[name] as Control)(...args))
      .catch(console.error),
  ready: mounted.then(({ ready }) => ready),
  get state() {
    return widget?.state;
  },
};

for (const name of CONTROLS) {
  controller[name] = (...args: unknown[]) => call(name, args);
}
for (const name of ["on", "once"] as const) {
  controller[name] = (event: ChatWidgetEvent, handler: ChatWidgetHandler<ChatWidgetEvent>) => {
    if (widget) return widget[name](event, handler);
    let isOff = false;
    const handle = (detail: unknown) => isOff || handler(detail as never);
    if (event === "error") errorHandlers.push(handle);
    void mounted.then((widget) => widget[name](event, handle));
    return () => void (isOff = true);
  };
}
// The diagnosis is needed most where the module does not load.
controller["diagnose"] = () => importHelp().then((help) => help.diagnose(options, script!.src));
void mounted.then((widget) => widget.once("destroy", leavePage));

async function call(name: string, args: unknown[]): Promise<unknown> {
  if (!widget) {
    if (name === "destroy") {
      leavePage();
      return refuse();
    }
    if (/hide|show/.test(name)) setHidden(name === "hide");
    else if (/open|toggle|send/.test(name)) mount();
    // Nobody waits for the others.
    else void whenLoaded().then(mount);
  }
  return ((widget ?? (await mounted)) as unknown as Record<string, Control>)[name]!(...args);
}

function leavePage(): void {
  companion?.end();
  // The host no longer returns when the page's body is replaced.
  if (host) Object.assign(host, { managed: "module" });
  if ((window.chatWidget as unknown) === controller) delete window.chatWidget;
}
