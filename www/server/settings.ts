// The settings of the client and of the proxy: their defaults, and the ranges of their numbers.

import { ConnectorError } from "./connector-error.js";

/** Maximum delay of a timer in milliseconds; a longer one would end at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Returns the options over their defaults. An option that is `undefined` has its default. */
export function withDefaults<Defaults extends object, Options extends object>(defaults: Defaults, options: Options) {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...defaults, ...(Object.fromEntries(given) as Options) };
}

/**
 * Returns the number of a setting.
 *
 * @throws {ConnectorError} with the kind `setup` if it is outside its range.
 */
export function atLeastOne(name: string, value: number, max = Number.MAX_SAFE_INTEGER): number {
  if (!(value >= 1 && value <= max))
    throw new ConnectorError("setup", `invalid ${name}: expected a number from 1 to ${max}, got ${value}`);
  return value;
}

/** Returns a time limit in milliseconds, as `atLeastOne`. */
export const timeLimit = (name: string, ms: number): number => atLeastOne(name, ms, MAX_DELAY_MS);
