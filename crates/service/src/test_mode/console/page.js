// Functions that both views of the console share. Everything from visitors and sites is inserted as text.

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

/** Returns a count with its noun, such as "2 drafts". */
export const count = (number, one) => `${number} ${one}${number === 1 ? "" : "s"}`;

/** Joins the parts that are not empty. */
export const joinParts = (...parts) => parts.filter(Boolean).join(" · ");

/** Fills a description list with the facts that have a value. */
export function showFacts(list, facts) {
  const known = Object.entries(facts).filter(([, value]) => value);
  list.replaceChildren(...known.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

/**
 * Replaces the rows of a list. The focus stays on the same button of the same row, or moves to the row if the button is
 * gone. Rows are identified by `data-id`, and the buttons of a row by `data-step`.
 */
export function replaceRows(list, rows) {
  const active = document.activeElement;
  const id = list.contains(active) ? active.closest("li")?.dataset.id : undefined;
  const step = active.dataset.step;
  list.replaceChildren(...rows);
  if (id === undefined) return;
  const row = list.querySelector(`li[data-id="${CSS.escape(id)}"]`);
  // Does not scroll the list when the row has moved.
  (row?.querySelector(`[data-step="${CSS.escape(step)}"]`) ?? row)?.focus({ preventScroll: true });
}

/** Serialises an async function: a call during a run causes one further run. */
export function serialised(show) {
  let busy = false;
  let again = false;
  return async function run() {
    again = true;
    if (busy) return;
    busy = true;
    try {
      while (again) {
        again = false;
        await show();
      }
    } catch {
      // The stream of changes reports the lost connection, and triggers a reload when it is back.
    } finally {
      busy = false;
    }
  };
}
