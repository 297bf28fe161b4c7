// The names of attributes.

/** Returns the attribute name of an option. */
export const attributeOf = (option: string) => option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
