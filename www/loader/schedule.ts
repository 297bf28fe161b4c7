// The moments that the loader waits for: the body, and the page's load.

import { nullProto } from "../null-proto.js";

export const ONCE = nullProto({ once: true });

export const after = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

export async function whenBody(): Promise<unknown> {
  return document.body || new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, ONCE));
}

export async function whenLoaded(): Promise<unknown> {
  return document.readyState === "complete" || new Promise((resolve) => addEventListener("load", resolve, ONCE));
}
