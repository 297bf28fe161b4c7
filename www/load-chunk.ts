// Loads the files of `dist/` that are not part of the entry, when a page or a visitor needs them.

/** Returns the default export of a module in the folder of this one. `path` has no file ending. */
export async function loadChunk<Kind>(path: string): Promise<Kind> {
  const url = new URL(`./${path}.mjs`, import.meta.url).href;
  return ((await import(/* @vite-ignore */ /* webpackIgnore: true */ url)) as { default: Kind }).default;
}
