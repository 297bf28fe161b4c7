// The form of the playground: a control for each option.

import { element } from "./elements.js";
import { OPTIONS } from "./options.js";

const isWide = () => matchMedia("(min-width: 1000px)").matches;

/** Fills `form` with the chosen options, and calls `onChange` with the new choices. */
export function optionsForm(form, chosen, onChange) {
  for (const group of new Set(OPTIONS.map(({ group }) => group))) {
    const members = OPTIONS.filter((option) => option.group === group);
    const isChanged = members.some((option) => [...chosen.keys()].some((name) => name.split(".")[0] === option.name));
    form.append(
      element("details", { open: isWide() || isChanged }, [
        element("summary", { textContent: group }),
        ...members.map((option) => control(option, chosen)),
      ]),
    );
  }
  const reset = element("button", { type: "button", textContent: "Back to the defaults" });
  form.append(reset);
  reset.addEventListener("click", () => {
    for (const input of inputs(form)) {
      if (input.type === "checkbox") input.checked = input.defaultChecked = true;
      else input.value = input.dataset.otherwise;
    }
    change();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", change);
  showColours(form);

  function change() {
    showColours(form);
    onChange(read(form));
  }
}

const inputs = (form) => [...form.elements].filter(({ name }) => name);

/** Reads the fields that differ from their defaults, by name. */
function read(form) {
  const texts = inputs(form)
    .filter((input) => !input.closest("[hidden]"))
    .map((input) => [
      input.name,
      input.type === "checkbox" ? String(input.checked) : input.value,
      input.dataset.otherwise,
    ]);
  return new Map(texts.filter(([, text, otherwise]) => text !== otherwise).map(([name, text]) => [name, text]));
}

/** Shows the colour inputs of the tokens with the theme `custom`. */
function showColours(form) {
  for (const colour of form.querySelectorAll(".colour")) colour.hidden = form.elements.theme.value !== "custom";
}

function control(option, chosen) {
  const { name, kind, fields = [], colours = [], label, help } = option;
  const note = element("p", { className: "help", id: `help-${name}`, textContent: help });
  if (kind === "flag") {
    return element("div", { className: "option" }, [flag(option, chosen), note]);
  }
  if (kind === "fields") {
    const inputs = fields.map((field) => labelled({ ...field, name: `${name}.${field.name}` }, chosen));
    return element("fieldset", { className: "option" }, [element("legend", { textContent: label }), ...inputs, note]);
  }
  const others = colours.map((colour) => {
    const made = labelled({ ...colour, kind: "colour", name: `${name}.${colour.name}` }, chosen);
    made.classList.add("colour");
    return made;
  });
  const made = labelled(option, chosen);
  made.lastElementChild.setAttribute("aria-describedby", note.id);
  return element("div", { className: "option" }, [...others, made, note]);
}

function flag({ name, label, default: otherwise }, chosen) {
  const input = element("input", {
    type: "checkbox",
    name,
    checked: (chosen.get(name) ?? String(otherwise)) === "true",
  });
  input.dataset.otherwise = String(otherwise);
  input.setAttribute("aria-describedby", `help-${name}`);
  return element("label", { className: "choice flag" }, [input, element("span", { textContent: label })]);
}

/** Returns a label with its input, select or text area. */
function labelled({ name, kind, values, label, sample = "", default: standard }, chosen) {
  const otherwise = kind === "choice" ? standard : "";
  const input = inputFor(kind, values, sample);
  input.name = name;
  input.value = chosen.get(name) ?? (kind === "colour" ? sample : otherwise);
  input.dataset.otherwise = otherwise;
  return element("label", { className: "choice" }, [element("span", { textContent: label }), input]);
}

function inputFor(kind, values, sample) {
  switch (kind) {
    case "choice":
      return element(
        "select",
        {},
        values.map(([value, text]) => element("option", { value, textContent: text })),
      );
    case "lines":
    case "pairs":
      return element("textarea", { rows: 2, placeholder: sample, spellcheck: false });
    case "colour":
      return element("input", { type: "color" });
    case "number":
      return element("input", { type: "number", placeholder: sample, step: "any" });
    default:
      return element("input", { type: "text", placeholder: sample, autocomplete: "off" });
  }
}
