// F6 moves the focus from the page into the widget, and back to where it was.

/** Listens until the returned function is called. */
export function listenForKeys(host: HTMLElement): () => void {
  let before: Element | null = null;
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "F6" || event.defaultPrevented || host.hidden) return;
    const inside = (host.shadowRoot ?? host).querySelector<HTMLElement>("[part=input],[part=launcher]");
    const isThere = event.composedPath().includes(host);
    // The other widget handles the key.
    if (!isThere && document.activeElement?.closest(host.localName)) return;
    if (!isThere) before = document.activeElement;
    const target = isThere ? before : inside;
    if (target instanceof HTMLElement && target !== document.body) target.focus();
    else if (isThere) (document.activeElement as HTMLElement | null)?.blur();
    if (isThere || inside) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
