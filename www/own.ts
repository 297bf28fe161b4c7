// Objects that a page's changes to `Object.prototype` do not reach.

/** A copy that inherits nothing: a page may have put members of an option's name, or of the browser's, on every object. */
export const own = <Kind extends object>(given: Kind): Kind => ({ __proto__: null, ...given }) as Kind;
