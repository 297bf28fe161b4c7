// The gallery: `?state=typing&theme=rose&scheme=dark` shows one state, with `bare` the widget alone. An address without a
// state shows the overview.

import { element } from "./elements.js";
import { Service, takeClock, takeStorage } from "./stand-in.js";
import { STATES } from "./states.js";
import { SCHEMES, THEMES } from "./themes.js";

/** The sizes of phones, and of a desktop at 400 %. */
const SIZES = [
  [375, 667],
  [320, 568],
  [320, 200],
];
const PROXY = "/connector";
/** The time that each animation frame adds to the clock until the state is shown, in milliseconds. */
const HURRY = 500;

const main = document.querySelector("main");
const query = new URLSearchParams(location.search);
const chosen = {
  state: query.get("state"),
  theme: query.get("theme") ?? THEMES[0],
  scheme: query.get("scheme") ?? SCHEMES[0],
};

if (STATES[chosen.state]) await show(STATES[chosen.state]);
else (await import("./overview.js")).showOverview(main);

/** Mounts the widget, brings it into the state, and marks the root element when the state is shown. */
async function show(state) {
  const page = document.documentElement;
  page.dataset.scheme = chosen.scheme;
  document.title = `${state.title}, ${chosen.theme}, ${chosen.scheme}`;
  const isBare = query.has("bare");
  main.querySelector("h1").textContent = state.title;
  main.querySelector("#about").textContent = state.about;
  if (isBare) {
    page.dataset.bare = "";
    main.replaceChildren();
  }
  if (state.options?.container) main.append(element("div", { id: state.options.container.slice(1) }));
  if (!isBare) main.append(ways());

  const clock = takeClock();
  takeStorage();
  const service = new Service(state);
  const customerId = service.take(PROXY);
  // Imported after the stand-ins are installed, because a module may store globals while it loads.
  const { ChatWidget } = await import("../chat-widget/chat-widget.mjs");
  const widget = await ChatWidget.mount({
    proxy: PROXY,
    theme: chosen.theme,
    colorScheme: chosen.scheme,
    locale: "en-US",
    customerId,
    events: "off",
    ...state.options,
    ...Object.fromEntries(
      ["locale", "position"].filter((name) => query.has(name)).map((name) => [name, query.get(name)]),
    ),
  });
  // Its last style sheet, which moves messages, is there.
  await widget.ready;
  const root = document.querySelector("chat-widget").shadowRoot;
  const count = (part) => root.querySelectorAll(`[part~="${part}"]`).length;
  const until = async (holds) => {
    while (!holds()) {
      clock.skip(HURRY);
      await new Promise(requestAnimationFrame);
    }
  };
  /** Opens the window with its history. The second poll starts when the first one is shown. */
  const open = async () => {
    widget.open();
    await until(() => count("message") > 0 && (!state.history || service.reads > 1));
  };
  await state.reach({ widget, service, clock, root, count, until, open });
  clock.stop();
  page.dataset.shown = chosen.state;
  if (parent !== window) parent.postMessage({ shown: chosen.state }, location.origin);
}

/** Returns the links to the pages that differ by one choice. */
function ways() {
  const groups = [
    ["state", Object.keys(STATES)],
    ["theme", THEMES],
    ["scheme", SCHEMES],
  ].map(([name, values]) => [
    element("h2", { textContent: name[0].toUpperCase() + name.slice(1) }),
    element(
      "ul",
      {},
      values.map((value) => {
        const link = element("a", { href: address({ [name]: value }), textContent: value });
        if (chosen[name] === value) link.setAttribute("aria-current", "page");
        return element("li", {}, [link]);
      }),
    ),
  ]);
  const sizes = element(
    "ul",
    {},
    SIZES.map(([width, height]) => {
      const button = element("button", { type: "button", textContent: `${width} × ${height}` });
      button.addEventListener("click", () => open(address({}), "", `popup,width=${width},height=${height}`));
      return element("li", {}, [button]);
    }),
  );
  const kept = new URLSearchParams([...query].filter(([name]) => ["theme", "scheme", "locale"].includes(name)));
  const back = element("p", {}, [
    element("a", { href: `${location.pathname}?${kept}`, textContent: "All of the gallery" }),
  ]);
  const inWindow = element("h2", { textContent: "In a window of" });
  return element("nav", { ariaLabel: "Gallery" }, [back, ...groups.flat(), inWindow, sizes]);
}

function address(change) {
  return `?${new URLSearchParams({ ...Object.fromEntries(query), ...chosen, ...change })}`;
}
