// The moments that the loader waits for: the body, the page's load, an idle browser, the end of a press.

import { nullProto } from "../null-proto.js";

export const ONCE = nullProto({ once: true });

export const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Fulfilled at the end of a press, after its click was dispatched. */
export function whenReleased(): Promise<void> {
  return new Promise((resolve) => {
    const release = () => setTimeout(resolve);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, ONCE);
  });
}

export async function whenBody(): Promise<unknown> {
  return document.body || new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, ONCE));
}

export async function whenLoaded(): Promise<unknown> {
  return document.readyState === "complete" || new Promise((resolve) => addEventListener("load", resolve, ONCE));
}

export function whenIdle(): Promise<void> {
  if (!("requestIdleCallback" in window)) return after(200);
  return new Promise((resolve) => requestIdleCallback(resolve as () => void, nullProto({ timeout: 3000 })));
}

/** Whether the browser saves data or is on a very slow line. */
export function isSlow(): boolean {
  const { saveData, effectiveType } =
    (navigator as { connection?: { saveData?: boolean; effectiveType?: string } }).connection ?? {};
  return saveData === true || /2g/.test(effectiveType!);
}
