// Elements of the gallery's own pages.

/** Makes an element with these properties and children. */
export function element(name, properties = {}, children = []) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Makes a labelled `<select>` of `[value, text]` pairs. */
export function select(name, label, pairs, value) {
  const options = pairs.map(([value, text]) => element("option", { value, textContent: text }));
  const control = element("select", { name }, options);
  control.value = value;
  return element("label", { className: "choice" }, [element("span", { textContent: label }), control]);
}
