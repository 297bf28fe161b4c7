// Reads a log as a person does: from its newest message up to the first one, by the wheel.

/** Returns the texts of messages in a log, in their order, and the places of those that are wholly visible. It runs in the page. */
function look(log, { messages, text }) {
  const box = log.getBoundingClientRect();
  const root = log.getRootNode();
  const all = [...log.querySelectorAll(messages)];
  const isSeen = (message) => {
    const { left, top, right, bottom } = message.getBoundingClientRect();
    // The browser rounds by up to half a pixel.
    const isInside = top >= Math.max(box.top, 0) - 0.5 && bottom <= Math.min(box.bottom, innerHeight) + 0.5;
    const places = [
      [(left + right) / 2, (top + bottom) / 2],
      [(left + right) / 2, top + 2],
      [(left + right) / 2, bottom - 2],
      [left + 10, (top + bottom) / 2],
      [right - 10, (top + bottom) / 2],
    ];
    const isOnTop = places.every(([x, y]) => message.contains(root.elementFromPoint(x, y)));
    return bottom > top && left >= -0.5 && right <= innerWidth + 0.5 && isInside && isOnTop;
  };
  return {
    all: all.map((message) => message.querySelector(text).textContent.trim()),
    seen: all.flatMap((message, place) => (isSeen(message.querySelector(text)) ? [place] : [])),
    isAtTop: log.scrollTop <= 0,
  };
}

/**
 * Scrolls a log to its first message and back. Returns the texts of its messages in their order, and those that were never
 * wholly visible. `messages` selects the messages, `text` their texts.
 */
export async function readLog(page, log, selectors) {
  await log.hover();
  const { height } = await log.boundingBox();
  const seen = new Set();
  const turn = async (dy) => {
    await page.mouse.wheel(0, dy);
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  };
  let state;
  let last;
  do {
    last = state;
    state = await log.evaluate(look, selectors);
    for (const place of state.seen) seen.add(state.all[place]);
    await turn(-Math.round(height / 3));
  } while (!state.isAtTop || JSON.stringify(state) !== JSON.stringify(last));
  await turn(1_000_000);
  return { texts: state.all, unseen: state.all.filter((text) => !seen.has(text)) };
}
