// The tokens that options set on the host, in the loader as in the module.

import { nullProto } from "./null-proto.js";

/** Sets the tokens of a host's style, removes those without a value, and returns the names of all. */
export function setTokens(
  style: CSSStyleDeclaration,
  themeTokens: object | undefined,
  offset: Record<string, unknown> | undefined,
  zIndex: unknown,
): string[] {
  const tokens: Record<string, unknown> = nullProto({ ...themeTokens, "z-root": zIndex });
  for (const side in offset) tokens[`offset-${side}`] = `${offset[side]}px`;
  for (const name in tokens) style.setProperty(`--cw-${name}`, (tokens[name] as string) ?? "");
  return Object.keys(tokens);
}
