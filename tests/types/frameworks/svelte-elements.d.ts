// The part of Svelte's types that `<chat-widget>` is added to. The project does not depend on Svelte.

export interface HTMLAttributes<Host extends EventTarget> {
  class?: string | null;
  onclick?: ((event: MouseEvent & { currentTarget: Host }) => void) | null;
}

export interface SvelteHTMLElements {
  button: HTMLAttributes<HTMLButtonElement>;
}
