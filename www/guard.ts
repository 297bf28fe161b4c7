// The door of the WebAssembly module: what breaks inside goes no further, and nothing goes in any more.

/** What the module exports: functions, its memory and a table. */
type Exports = Record<string, unknown>;

/** The same exports. After the first error that comes out of one of them, `onBroken` is told and they do nothing. */
export function guard(exports: Exports, onBroken: (error: unknown) => void): Exports {
  const guarded = { ...exports };
  let depth = 0;
  let failure: { error: unknown } | undefined;
  for (const name in exports) {
    const inside = exports[name];
    if (typeof inside !== "function") continue;
    guarded[name] = (...args: unknown[]): unknown => {
      // The glue reads what it needs out of this, and finds nothing.
      let result: unknown = [];
      if (failure) return result;
      depth += 1;
      try {
        result = inside(...args);
      } catch (error) {
        // What the module was at is half done, and stays so. An event that the module itself has caused would hand the
        // error to the page.
        failure ??= { error };
      } finally {
        depth -= 1;
        if (failure && depth === 0) onBroken(failure.error);
      }
      return result;
    };
  }
  return guarded;
}
