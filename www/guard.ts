// Guards the exports of the WebAssembly module: errors do not escape, and after the first one no call enters the module.

/** The exports of the module: functions, its memory and a table. */
type Exports = Record<string, unknown>;

/**
 * Returns the same exports. After the first error in one of them, it calls `onBroken` and the functions do nothing. An event
 * that comes while a call waits, as `isWaiting` says, comes again after that call.
 */
export function guard(exports: Exports, onBroken: (error: unknown) => void, isWaiting: () => boolean): Exports {
  const guarded = { ...exports };
  let depth = 0;
  let failure: { error: unknown } | undefined;
  for (const name in exports) {
    const inside = exports[name];
    if (typeof inside !== "function") continue;
    guarded[name] = (...args: unknown[]): unknown => {
      // The glue destructures a result; this one is empty.
      let result: unknown = [];
      if (failure) return result;
      // Firefox dispatches messages of other tabs while the page stands still for a synchronous request.
      const event = isWaiting() ? args.find(isEvent) : undefined;
      if (event) {
        const { target, type } = event;
        // The waiting call and what the glue does after it are on the stack until then.
        queueMicrotask(() => target?.dispatchEvent(new (event.constructor as typeof Event)(type, event)));
        return result;
      }
      depth += 1;
      try {
        result = inside(...args);
      } catch (error) {
        // The module is in an undefined state. The error must not reach the page, as it would from an event that the module
        // has dispatched.
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

const isEvent = (value: unknown): value is Event => !!(value as Event | undefined)?.target;
