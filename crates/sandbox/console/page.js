// What both views of the console are made of. Everything that a visitor or a site wrote goes onto the page as text.

export const at = (id) => document.getElementById(id);

export async function call(path, options) {
  const response = await fetch(`/operator/api/${path}`, options);
  const answer = response.status === 204 ? null : await response.json();
  if (!response.ok) throw new Error(answer?.error?.message ?? `The sandbox answered ${response.status}.`);
  return answer;
}

export const post = (path, body = {}) =>
  call(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A number of things, in words. */
export const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

/** What is known and belongs together, without what is empty. */
export const together = (...parts) => parts.filter(Boolean).join(" · ");

/** Fills a list of terms with what is known of them. */
export function tell(list, facts) {
  const known = Object.entries(facts).filter(([, value]) => value);
  list.replaceChildren(...known.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

/**
 * Puts rows in place of those that are there. Who is at a button of a row stays at it; if it is gone, at the row. Rows
 * are told apart by `data-id`, and buttons of a row by `data-step`.
 */
export function replace(list, rows) {
  const active = document.activeElement;
  const id = list.contains(active) ? active.closest("li")?.dataset.id : undefined;
  const step = active.dataset.step;
  list.replaceChildren(...rows);
  if (id === undefined) return;
  const row = list.querySelector(`li[data-id="${CSS.escape(id)}"]`);
  // A row that has moved does not take the list along.
  (row?.querySelector(`[data-step="${CSS.escape(step)}"]`) ?? row)?.focus({ preventScroll: true });
}

/** Makes of `show` what looks again when it is called, but never twice at once. */
export function looking(show) {
  let busy = false;
  let again = false;
  return async function look() {
    again = true;
    if (busy) return;
    busy = true;
    try {
      while (again) {
        again = false;
        await show();
      }
    } catch {
      // The stream of changes says that the sandbox is gone, and calls again when it is back.
    } finally {
      busy = false;
    }
  };
}
