// The overview of the gallery: a picture of every state, and of every theme in light and dark.

import { element, select } from "./elements.js";
import { LANGUAGES, nameOf } from "./languages.js";
import { SECTIONS } from "./sections.js";
import { retake, shot } from "./shots.js";
import { STATES } from "./states.js";
import { SCHEMES, THEMES } from "./themes.js";

/** The state that shows a theme. */
const SAMPLE = "short";
const systemScheme = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** The choices, each with its values as `[value, text]` and its default, which the address omits. */
const CHOICES = [
  { name: "theme", label: "Theme", values: THEMES.map((theme) => [theme, nameOfTheme(theme)]), otherwise: THEMES[0] },
  {
    name: "scheme",
    label: "Scheme",
    values: [
      ["light", "Light"],
      ["dark", "Dark"],
    ],
    otherwise: systemScheme(),
  },
  { name: "locale", label: "Language", values: LANGUAGES.map((tag) => [tag, nameOf(tag)]), otherwise: "en-US" },
  {
    name: "screen",
    label: "Screen",
    values: [
      ["desktop", "Desktop"],
      ["phone", "Phone"],
    ],
    otherwise: "desktop",
  },
];

/** Fills `main` with the overview. */
export function showOverview(main) {
  const chosen = read();
  const pictures = [];
  // A page that frames this one has a heading of its own.
  if (parent !== window) document.documentElement.dataset.framed = "";
  document.documentElement.dataset.scheme = "auto";
  document.title = "Gallery of the chat widget";

  /** Makes a picture with its title, which links to the page. */
  const figure = (name, shown, title, about) => {
    const link = element("a", { textContent: title });
    const frames = shown.map((choice) => ({ choice, made: shot(framed({ ...chosen, ...choice })) }));
    pictures.push({ link, frames });
    link.href = pageOf({ ...chosen, ...shown[0] });
    const caption = element("figcaption", {}, [
      element("h3", {}, [link]),
      ...(about ? [element("p", { textContent: about })] : []),
    ]);
    const made = element("figure", { id: name }, [
      element(
        "div",
        { className: "shots" },
        frames.map(({ made }) => made),
      ),
      caption,
    ]);
    return element("li", {}, [made]);
  };
  const section = ({ title, about, low = false }, figures) =>
    element("section", { className: low ? "low" : "" }, [
      element("h2", { textContent: title }),
      element("p", { textContent: about }),
      element("ul", { className: "pictures" }, figures),
    ]);

  const controls = element("form", { className: "choices", ariaLabel: "Look of the pictures" });
  controls.append(...CHOICES.map(({ name, label, values }) => select(name, label, values, chosen[name])));
  controls.addEventListener("submit", (event) => event.preventDefault());
  controls.addEventListener("change", ({ target }) => {
    chosen[target.name] = target.value;
    history.replaceState(null, "", addressOf(chosen));
    main.dataset.screen = chosen.screen;
    for (const { link, frames } of pictures) {
      link.href = pageOf({ ...chosen, ...frames[0].choice });
      for (const { made, choice } of frames) retake(made, framed({ ...chosen, ...choice }));
    }
  });

  main.classList.add("overview");
  main.dataset.screen = chosen.screen;
  main.append(controls);
  for (const one of SECTIONS) {
    const figures = one.states.map((state) => figure(state, [{ state }], STATES[state].title, STATES[state].about));
    main.append(section(one, figures));
  }
  const themes = THEMES.map((theme) =>
    figure(
      `theme-${theme}`,
      SCHEMES.map((scheme) => ({ state: SAMPLE, theme, scheme })),
      nameOfTheme(theme),
    ),
  );
  main.append(section({ title: "Themes", about: "The eleven themes, each in light and in dark." }, themes));
}

/** Writes `light_teal` as `Light teal`. */
function nameOfTheme(theme) {
  const words = theme.replace("_", " ");
  return words[0].toUpperCase() + words.slice(1);
}

/** Reads the choices of the address. Unknown values are ignored. */
function read() {
  const query = new URLSearchParams(location.search);
  return Object.fromEntries(
    CHOICES.map(({ name, values, otherwise }) => {
      const asked = query.get(name);
      return [name, values.some(([value]) => value === asked) ? asked : otherwise];
    }),
  );
}

/** Returns the address of the overview with these choices. */
function addressOf(chosen) {
  const differing = CHOICES.filter(({ name, otherwise }) => chosen[name] !== otherwise).map(({ name }) => [
    name,
    chosen[name],
  ]);
  const query = new URLSearchParams(differing).toString();
  return query ? `?${query}` : location.pathname;
}

/** Returns the address of a state's page. A state with a fixed language keeps it. */
function pageOf({ state, theme, scheme, locale }) {
  const query = new URLSearchParams({ state, theme, scheme });
  if (locale !== "en-US" && !STATES[state].options?.locale) query.set("locale", locale);
  return `?${query}`;
}

/** Returns a state's page for a frame: the widget alone. */
function framed(choice) {
  const { options = {}, title } = STATES[choice.state];
  const isRightToLeft = /^(ar|he)/.test(options.locale ?? choice.locale) && !options.container;
  return { address: `${location.pathname}${pageOf(choice)}&bare`, title, dir: isRightToLeft ? "rtl" : "ltr" };
}
