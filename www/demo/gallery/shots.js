// Pictures of the gallery: pages of it in frames, which are loaded when they come near and let go when they are far away.

import { element } from "./elements.js";

/** The number of frames that load at a time: each starts the whole widget. */
const MAX_LOADING = 3;
/** A frame that has not shown its state by then makes room for the next. Milliseconds. */
const LOAD_TIMEOUT = 10_000;
/** How far outside the window a frame is loaded, and how far it is kept. */
const NEAR = "50% 0px";
const FAR = "300% 0px";

/** By its element, the page that each picture shows. */
const shots = new Map();
const queue = new Set();
/** The frames that load, each with what ends that. */
const loading = new Map();

const near = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting && !target.querySelector("iframe")) queue.add(target);
      else queue.delete(target);
    }
    loadNext();
  },
  { rootMargin: NEAR },
);
const far = new IntersectionObserver(
  (entries) => {
    for (const { target, isIntersecting } of entries) {
      if (isIntersecting) continue;
      for (const frame of [...target.children]) {
        frame.remove();
        loading.get(frame)?.();
      }
    }
  },
  { rootMargin: FAR },
);

/**
 * Makes a picture of the page at `address`, which has the widget at the end of lines written in this direction. It takes
 * no clicks and no focus: beside it stands a link to the page.
 */
export function shot(page) {
  const made = element("div", { className: "shot", inert: true, dir: page.dir });
  shots.set(made, page);
  near.observe(made);
  far.observe(made);
  return made;
}

/** Shows another page in a picture. The frame before it stays until the next one shows its state. */
export function retake(made, page) {
  shots.set(made, page);
  made.dir = page.dir;
  if (!made.querySelector("iframe")) return;
  queue.add(made);
  loadNext();
}

function loadNext() {
  for (const made of queue) {
    if (loading.size >= MAX_LOADING) return;
    queue.delete(made);
    load(made);
  }
}

function load(made) {
  const { address, title } = shots.get(made);
  // A new element each time: another address of the same frame would be a step in the tab's history.
  const frame = element("iframe", { loading: "lazy", src: address, title, tabIndex: -1 });
  const ending = new AbortController();
  const timeout = setTimeout(end, LOAD_TIMEOUT);
  function end() {
    ending.abort();
    clearTimeout(timeout);
    if (loading.delete(frame)) loadNext();
  }
  const onMessage = ({ source, data }) => {
    if (source !== frame.contentWindow || !data.shown) return;
    frame.classList.add("shown");
    // Those before it; one that came later takes this one away in its turn.
    while (made.firstElementChild !== frame) made.firstElementChild.remove();
    end();
  };
  addEventListener("message", onMessage, { signal: ending.signal });
  loading.set(frame, end);
  made.append(frame);
}
