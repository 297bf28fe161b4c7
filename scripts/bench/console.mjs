// How soon the operators' inbox is usable on a slow line, and how it scrolls 10,000 conversations, in Chromium.

import { launch } from "../../tests/e2e/demo.mjs";
import { openConsole, startTeam } from "../../tests/e2e/team.mjs";
import { LINE, median, SLOWER } from "./slow.mjs";
import { FLAGS, sendingWith } from "./team.mjs";

const VISITS = 3;
const CONVERSATIONS = 10_000;
/** Visitors that write for the first time at the same moment. */
const AT_ONCE = 20;
/** The turns of the wheel, and the pixels of each. */
const TURNS = 150;
const TURN_PX = 400;
const ROW = ".inbox-rows .row";

/** Records the time, since the navigation, of the frame that shows the first row. It runs in the page. */
function watchFirstRow(selector) {
  const look = () => {
    const row = document.querySelector(selector);
    if (row && row.getBoundingClientRect().height > 0) {
      // The next frame begins after this one was painted.
      requestAnimationFrame((at) => (window.firstRow = at));
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Records the intervals between frames until it is stopped. It runs in the page. */
function recordFrames() {
  const frames = [];
  let last;
  let isOn = true;
  const next = (at) => {
    if (last) frames.push(at - last);
    last = at;
    if (isOn) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
  window.stopFrames = () => {
    isOn = false;
    return frames;
  };
}

/**
 * Opens the inbox with an empty cache. Returns the times from the navigation until the first row is shown and until a click on it
 * has shown its conversation, in milliseconds, and the transferred bytes.
 */
async function visit(browser, team, operator) {
  const { page, context, close } = await openConsole(browser, team, operator, "/healthz");
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Network.emulateNetworkConditions", LINE);
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  await page.addInitScript(`(${watchFirstRow})(${JSON.stringify(ROW)})`);
  context.setDefaultTimeout(60_000);
  await page.goto(new URL("/console/inbox?view=open", team.address).href, { waitUntil: "commit" });
  await page.waitForFunction(() => window.firstRow);
  const shown = await page.evaluate(() => window.firstRow);
  const clicked = await page.evaluate(() => performance.now());
  await page.locator(ROW).first().click();
  await page.locator(".message").first().waitFor();
  const opened = (await page.evaluate(() => performance.now())) - clicked;
  await close();
  return { shown, opened, bytes };
}

/** Scrolls the list to its end. Returns the intervals between frames in milliseconds, and the most rows that were elements. */
async function scroll(browser, team, operator) {
  const { page, close } = await openConsole(browser, team, operator, "/console/inbox?view=open");
  await page.locator(ROW).first().waitFor();
  const list = await page.locator("#conversations").boundingBox();
  await page.mouse.move(list.x + list.width / 2, list.y + list.height / 2);
  await page.evaluate(recordFrames);
  let mostRows = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    await page.mouse.wheel(0, TURN_PX);
    mostRows = Math.max(mostRows, await page.locator(ROW).count());
  }
  const frames = await page.evaluate(() => window.stopFrames());
  // The rest by jumps, as with the scroll bar: each loads the next page of the list.
  const loaded = () => page.locator(".inbox-rows > li").last().getAttribute("aria-setsize").then(Number);
  let known = await loaded();
  while (known < CONVERSATIONS) {
    await page.locator("#conversations").evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await page.waitForFunction(
      (known) => Number(document.querySelector(".inbox-rows > li:last-child")?.getAttribute("aria-setsize")) > known,
      known,
    );
    known = await loaded();
  }
  mostRows = Math.max(mostRows, await page.locator(ROW).count());
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
  await close();
  return { frames, mostRows, heap, known };
}

/** Measures with 10,000 open conversations. */
export async function measureConsole(command) {
  const team = await startTeam(["Maren"], { command, more: FLAGS });
  const [owner] = team.operators;
  const send = await sendingWith(team);
  const browser = await launch();
  try {
    for (let first = 0; first < CONVERSATIONS; first += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => send(`visitor-${first + index}`, "Hello")));
    }
    const visits = [];
    for (let count = 0; count < VISITS; count += 1) visits.push(await visit(browser, team, owner));
    const scrolled = await scroll(browser, team, owner);
    const of = (name) => visits.map((one) => one[name]);
    return {
      conversations: CONVERSATIONS,
      shown: { median: median(of("shown")), all: of("shown") },
      opened: median(of("opened")),
      bytes: median(of("bytes")),
      scrolled,
    };
  } finally {
    await browser.close();
    await team.stop();
  }
}
