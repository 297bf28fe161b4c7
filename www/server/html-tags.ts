// Tags in the source of a page, read in one pass.

export type Attributes = Map<string, string>;

/** Reads the attributes of a tag from a position. Returns them with the end of the tag; -1 if it has no end. */
export function readAttributes(html: string, from: number): [Attributes, number] {
  const attributes: Attributes = new Map();
  const next = /[\s/]*(?:(>)|([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(?!["'])([^\s>]*)))?)/y;
  // A quote that is never closed takes the rest of the page.
  const unclosed = /\s*=/y;
  next.lastIndex = from;
  for (let found = next.exec(html); found !== null; found = next.exec(html)) {
    const [, end, name, double, single, plain] = found;
    if (end !== undefined) return [attributes, next.lastIndex];
    const value = double ?? single ?? plain;
    unclosed.lastIndex = next.lastIndex;
    if (value === undefined && unclosed.test(html)) break;
    const key = name!.toLowerCase();
    if (!attributes.has(key)) attributes.set(key, value ?? "");
  }
  return [attributes, -1];
}

/** Returns the position of a closing tag in any case, such as `</script`; -1 if there is none. */
export function indexOfTag(html: string, tag: string, from: number): number {
  const pattern = new RegExp(`${tag}(?=[\\s/>])`, "gi");
  pattern.lastIndex = from;
  return pattern.exec(html)?.index ?? -1;
}
