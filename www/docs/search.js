// The search. The texts are loaded and indexed when the field has the focus for the first time.

import MiniSearch from "minisearch";

const MAX_RESULTS = 12;
/** Words that are in nearly every section. */
const STOP_WORDS = new Set(
  "a an and are as at by can do does for from how i if in is it my of on or s so t that the this to what when with".split(
    " ",
  ),
);
/** The characters of a result's text before and after the first match. */
const CONTEXT = { before: 40, after: 110 };

/** Loads the texts, and returns their index and the entries by id. */
async function load(root) {
  const response = await fetch(`${root}search.json`);
  if (!response.ok) throw new Error(`search.json: ${response.status}`);
  const entries = (await response.json()).map(([page, heading, address, text], id) => ({
    id,
    page,
    heading,
    address,
    text,
  }));
  const index = new MiniSearch({ fields: ["heading", "page", "text"], processTerm: termOf });
  index.addAll(entries);
  return { index, entries };
}

/** Returns a word as the index has it, or null if the index leaves it out. */
function termOf(word) {
  const term = word.toLowerCase();
  return STOP_WORDS.has(term) ? null : term;
}

/** Returns the entries for a query, best first. Records of the past come after the pages that are about today. */
function find({ index, entries }, query) {
  const found = index.search(query, {
    combineWith: "AND",
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boost: { heading: 4, page: 2 },
    boostDocument: (id) => (/^(decisions\/|changelog)/.test(entries[id].address) ? 0.4 : 1),
  });
  return found.slice(0, MAX_RESULTS).map(({ id, terms }) => ({ ...entries[id], terms }));
}

/** Returns the part of a text around its first match. */
function excerpt({ text, terms }) {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
  const place = places.length > 0 ? Math.min(...places) : 0;
  const start = place <= CONTEXT.before ? 0 : text.indexOf(" ", place - CONTEXT.before) + 1;
  const isWhole = place + CONTEXT.after >= text.length;
  const end = isWhole ? text.length : text.lastIndexOf(" ", place + CONTEXT.after);
  return `${start > 0 ? "… " : ""}${text.slice(start, end)}${isWhole ? "" : " …"}`;
}

function make(name, className, text) {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

/** Starts the search in `box`. `root` is the way from the page to the site's first folder. */
export function startSearch(box, root) {
  const field = box.querySelector("input");
  const list = box.querySelector("ol");
  const status = box.querySelector(".status");
  let loading;
  box.hidden = false;

  const hide = () => {
    list.hidden = true;
    status.textContent = "";
  };
  const prepare = () => {
    loading ??= load(root);
    // A failed load is tried again with the next query.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  const show = async () => {
    const query = field.value.trim();
    if (query === "") return hide();
    let results;
    try {
      results = find(await prepare(), query);
    } catch {
      hide();
      status.textContent = "The search could not be loaded. It needs a web server.";
      return;
    }
    if (field.value.trim() !== query) return;
    list.replaceChildren(
      ...results.map((result) => {
        const link = document.createElement("a");
        link.href = root + result.address;
        const title = result.heading === result.page ? result.page : `${result.page} › ${result.heading}`;
        link.append(make("strong", "", title), make("span", "", excerpt(result)));
        const item = document.createElement("li");
        item.append(link);
        return item;
      }),
    );
    list.hidden = results.length === 0;
    status.textContent = results.length === 0 ? "No results" : `${results.length} results`;
  };
  /** Moves the focus through the field and the results. */
  const move = (step) => {
    const stops = [field, ...list.querySelectorAll("a")];
    const place = stops.indexOf(document.activeElement) + step;
    stops[Math.max(0, Math.min(place, stops.length - 1))].focus();
  };

  field.addEventListener("focus", () => void prepare().catch(() => {}), { once: true });
  field.addEventListener("input", () => void show());
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      hide();
      field.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (list.hidden) return;
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter" && event.target === field) {
      list.querySelector("a")?.click();
    }
  });
  box.addEventListener("focusout", ({ relatedTarget }) => {
    if (relatedTarget && !box.contains(relatedTarget)) hide();
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (!box.contains(target)) hide();
  });
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
}
