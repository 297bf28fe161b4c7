// Functions that all views of the console share. Everything from visitors and sites is inserted as text.

export const at = (id) => document.getElementById(id);

export function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Joins the parts that are not empty. */
export const joinParts = (...parts) => parts.filter(Boolean).join(" · ");

/** Returns the name of a conversation's visitor. */
export const nameOf = ({ id, visitor = {} }) =>
  visitor.name || visitor.email || visitor.phone || `Visitor ${id.slice(-4)}`;

/** Fills a description list with the facts that have a value. */
export function showFacts(list, facts) {
  const known = Object.entries(facts).filter(([, value]) => value);
  list.replaceChildren(...known.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
}

/** Replaces the rows of a list, which have a `data-id` each. The focus stays on the button of the same row. */
export function replaceRows(list, rows) {
  const active = document.activeElement;
  const id = list.contains(active) ? active.closest("li")?.dataset.id : undefined;
  list.replaceChildren(...rows);
  if (id === undefined) return;
  // Does not scroll the list when the row has moved.
  list.querySelector(`li[data-id="${CSS.escape(id)}"] button`)?.focus({ preventScroll: true });
}

/** Serialises an async function: a call during a run causes one further run, and waits for it. */
export function serialised(show) {
  let running;
  let next;
  return function run() {
    if (!running) {
      running = show().finally(() => (running = undefined));
      return running;
    }
    next ??= running.then(
      () => ((next = undefined), run()),
      () => ((next = undefined), run()),
    );
    return next;
  };
}

/** Runs the submission of a form once at a time. Its error is shown in the form. */
export function onSubmit(form, submit) {
  const problem = form.querySelector(".problem");
  const button = form.querySelector("[type=submit]");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    problem.textContent = "";
    try {
      await submit();
    } catch (error) {
      problem.textContent = error.message;
    } finally {
      button.removeAttribute("aria-disabled");
    }
  });
}
