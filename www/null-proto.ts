// Objects without a prototype, which a page's changes to `Object.prototype` do not reach.

/** Returns a copy without a prototype: a page may have added members to every object, named like an option of ours. */
export const nullProto = <Kind extends object>(given: Kind): Kind => ({ __proto__: null, ...given }) as Kind;
