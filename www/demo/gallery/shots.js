// The pictures of the gallery: frames that load when they come near the viewport and unload when they are far away.

import { element } from "./elements.js";

/** Maximum frames that load at the same time, because each starts the whole widget. */
const MAX_LOADING = 3;
/** The timeout of a frame's load in milliseconds, after which the next one starts. */
const LOAD_TIMEOUT = 10_000;
/** The distances from the viewport within which a frame is loaded, and kept. */
const NEAR = "50% 0px";
const FAR = "300% 0px";

/** The page of each picture, by its element. */
const shots = new Map();
const queue = new Set();
/** The loading frames, each with the function that ends its load. */
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
 * Makes a picture of the page at `address`, whose widget is at the end of lines in this direction. It cannot be clicked or
 * focused, because a link to the page is beside it.
 */
export function shot(page) {
  const made = element("div", { className: "shot", inert: true, dir: page.dir });
  shots.set(made, page);
  near.observe(made);
  far.observe(made);
  return made;
}

/** Shows another page in a picture. The previous frame stays until the next one shows its state. */
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
  // A new element each time, because navigating a frame adds an entry to the tab's history.
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
    // Removes the previous frames; a later frame removes this one.
    while (made.firstElementChild !== frame) made.firstElementChild.remove();
    end();
  };
  addEventListener("message", onMessage, { signal: ending.signal });
  loading.set(frame, end);
  made.append(frame);
}
