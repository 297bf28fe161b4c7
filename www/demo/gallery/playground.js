// The playground: every option of the widget as a control, a page with the widget, and its code. The address holds the
// choices.

import { WORDS } from "./answers.js";
import { chosenIn, optionsOf, parametersOf } from "./choices.js";
import { codeTabs } from "./code-tabs.js";
import { element, select } from "./elements.js";
import { optionsForm } from "./options-form.js";

/** The debounce of changes to the widget. Milliseconds. */
const DEBOUNCE = 250;
const FRAME = "playground-frame.html";
/** Whether the site has the demo's service. A folder of static files does not. */
const HAS_SERVICE = "service" in document.documentElement.dataset;
const GOOD_MORNING = "Good morning, Maren here. Shall I send a new bowl with Friday's parcel?";
/** The choices of the playground itself, by their values. The first value is the default, and is not in the address. */
const SETTINGS = { screen: ["desktop", "phone"], service: ["stand-in", "real"], code: ["script"] };

// A page that frames this one has a heading of its own.
if (parent !== window) document.documentElement.dataset.framed = "";
const query = new URLSearchParams(location.search);
const settings = Object.fromEntries(
  Object.entries(SETTINGS).map(([name, [first]]) => [name, query.get(name) ?? first]),
);
let chosen = chosenIn(location.search);
let timer;

const stage = document.querySelector(".stage");
const title = element("p", { className: "title", ariaLabel: "Title of the page" });
const problem = element("p", { className: "problem", role: "alert", hidden: true });
const frame = element("iframe", { title: "A page with the widget", src: addressOfFrame() });
const screen = element("div", { className: "screen" }, [title, frame]);
const actions = element("div", { className: "actions" });
const buttons = {
  toggle: button("Open or close", () => tell({ call: "toggle" })),
  says: button("A person writes", () => tell({ says: GOOD_MORNING })),
  consent: button("Give consent", () => tell({ call: "grantConsent" })),
  anew: button("Start over", () => frame.contentWindow.location.replace(addressOfFrame())),
};
const own = element("a", { target: "_blank", textContent: "In a tab of its own" });
const hint = element("p", { className: "hint" });

actions.append(
  select(
    "screen",
    "Screen",
    [
      ["desktop", "Desktop"],
      ["phone", "Phone"],
    ],
    settings.screen,
  ),
  ...(HAS_SERVICE ? [choiceOfService()] : []),
  ...Object.values(buttons),
  own,
);
stage.append(actions, screen, problem, hint);
const form = document.querySelector(".options");
optionsForm(form, chosen, (now) => {
  chosen = now;
  clearTimeout(timer);
  timer = setTimeout(() => {
    problem.hidden = true;
    tell({ search: search() });
  }, DEBOUNCE);
  update();
});
const code = codeTabs(document.querySelector(".code"), settings.code, (name) => {
  settings.code = name;
  keep();
});

actions.addEventListener("change", ({ target }) => {
  settings[target.name] = target.value;
  update();
  if (target.name === "service") frame.contentWindow.location.replace(addressOfFrame());
});
addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  if (data.title) title.textContent = data.title;
  if (data.shown !== undefined) {
    frame.dataset.shown = data.shown;
    // Choices made while the page was loading were not applied.
    if (data.shown !== search()) tell({ search: search() });
  }
  if (data.error) {
    problem.hidden = false;
    problem.textContent = data.error;
  }
});
update();

function button(label, act) {
  const made = element("button", { type: "button", textContent: label });
  made.addEventListener("click", act);
  return made;
}

function choiceOfService() {
  return select(
    "service",
    "Service",
    [
      ["stand-in", "Stand-in"],
      ["real", "The demo's own"],
    ],
    settings.service,
  );
}

function isReal() {
  return HAS_SERVICE && settings.service === "real";
}

function tell(message) {
  frame.contentWindow.postMessage(message, location.origin);
}

/** Updates everything but the widget. */
function update() {
  const isStandIn = !isReal();
  stage.dataset.screen = settings.screen;
  buttons.says.hidden = !isStandIn;
  buttons.consent.hidden = chosen.get("consent") !== "required";
  own.href = addressOfFrame();
  hint.textContent = isStandIn
    ? `The stand-in knows these words: ${WORDS.join(", ")}.`
    : "What you write here reaches the demo's service. Answer it in the operators' console.";
  code.show(optionsOf(chosen));
  keep();
}

/** Writes the choices into the address. */
function keep() {
  const parameters = parametersOf(chosen);
  for (const [name, [first]] of Object.entries(SETTINGS))
    if (settings[name] !== first) parameters.set(name, settings[name]);
  const search = parameters.toString();
  history.replaceState(null, "", search ? `?${search}` : location.pathname);
}

/** Returns the chosen options as the address has them. */
function search() {
  return parametersOf(chosen).toString();
}

function addressOfFrame() {
  const parameters = parametersOf(chosen);
  if (isReal()) parameters.set("service", "real");
  return `${FRAME}?${parameters}`;
}
