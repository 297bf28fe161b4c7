// The code of the playground, in tabs.

import { element } from "./elements.js";
import { SNIPPETS } from "./snippets.js";

/** The duration of the copy confirmation in milliseconds. */
const COPIED = 2_000;

/** Fills `section` with the tabs, empty until there are options. `chosen` is the one in front; `onChoose` is called with each
 * that comes there. */
export function codeTabs(section, chosen, onChoose) {
  const code = element("code", { translate: false });
  const panel = element("pre", { id: "code", role: "tabpanel", tabIndex: 0 }, [code]);
  const copy = element("button", { type: "button", className: "copy", textContent: "Copy" });
  const said = element("p", { className: "said", role: "status" });
  const tabs = SNIPPETS.map(({ name, label }) => {
    const tab = element("button", { type: "button", role: "tab", id: `tab-${name}`, textContent: label });
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => choose(name));
    return tab;
  });
  const list = element("div", { role: "tablist", ariaLabel: "Ways onto a page" }, tabs);
  let current = SNIPPETS.find(({ name }) => name === chosen) ?? SNIPPETS[0];
  let options;
  let timer;

  list.addEventListener("keydown", (event) => {
    const at = tabs.indexOf(document.activeElement);
    const last = tabs.length - 1;
    const next = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last }[
      event.key
    ];
    if (next === undefined) return;
    event.preventDefault();
    tabs[next].focus();
    choose(SNIPPETS[next].name);
  });
  copy.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      say("Copied", "The code was copied.");
    } catch {
      // Without access to the clipboard, the selected code can be copied by hand.
      getSelection().selectAllChildren(code);
      say("Selected", "The code is selected: copy it.");
    }
  });
  section.append(element("div", { className: "bar" }, [list, copy]), panel, said);
  draw();

  function say(label, words) {
    copy.textContent = label;
    said.textContent = words;
    clearTimeout(timer);
    timer = setTimeout(() => {
      copy.textContent = "Copy";
      said.textContent = "";
    }, COPIED);
  }

  function choose(name) {
    current = SNIPPETS.find((snippet) => snippet.name === name);
    draw();
    onChoose(name);
  }

  function draw() {
    code.textContent = options ? current.code(options) : "";
    panel.setAttribute("aria-labelledby", `tab-${current.name}`);
    tabs.forEach((tab, index) => {
      const isCurrent = SNIPPETS[index] === current;
      tab.setAttribute("aria-selected", isCurrent);
      tab.tabIndex = isCurrent ? 0 : -1;
    });
  }

  return {
    /** Shows the code for these options. */
    show(now) {
      options = now;
      draw();
    },
  };
}
