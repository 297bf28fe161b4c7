// The files of `dist/` that are loaded when a page or a visitor asks for what they hold.

/** What a module beside this one has to say, by its path without the ending. */
export async function beside<Kind>(path: string): Promise<Kind> {
  const url = new URL(`./${path}.mjs`, import.meta.url).href;
  return ((await import(/* @vite-ignore */ /* webpackIgnore: true */ url)) as { default: Kind }).default;
}
