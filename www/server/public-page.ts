// A look at the site's public address: what is reported as done is what visitors see.

import type { HandlerResult, Work } from "./job-handler.js";
import { JobFailure } from "./job-handler.js";
import { hasContent } from "./overlay.js";
import { PageHead } from "./page-head.js";
import { oneLine, showsText } from "./page-text.js";
import { BodyTooLarge, discard, readBounded } from "./service.js";
import { sleep } from "./sleep.js";

/** How the runner looks at the public pages. */
export interface PublicSite {
  /** The site's public origin, such as `https://shop.example`. */
  origin: string;
  /** Sends the requests; the global `fetch` by default. */
  fetch?: typeof fetch;
  /** How long a page may take to show what was done, in milliseconds; 10,000 by default. */
  patienceMs?: number;
}

/** Maximum size of a page in bytes. */
const MAX_PAGE_BYTES = 16 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** The time after which a page is read again, in milliseconds; it doubles. */
const AGAIN_MS = 250;
const MAX_AGAIN_MS = 4000;

/** A look that did not show what was done. */
type Unseen = string | undefined;

/** Returns the address of a page at the site. */
export function addressOf({ origin }: PublicSite, { url, path }: { url?: string; path?: string }): string {
  const address = new URL(url ?? path ?? "/", origin);
  if (address.origin !== new URL(origin).origin)
    throw new JobFailure(`The address ${oneLine(address.href)} is not one of ${origin}.`);
  return address.href;
}

/** Returns the HTML at an address; `undefined` if visitors get no page there. */
async function read(site: PublicSite, address: string, signal: AbortSignal): Promise<string | undefined> {
  const unreadable = (reason: string, cause?: unknown) =>
    new JobFailure(`The site could not read its own page ${oneLine(address)}: ${reason}.`, { cause });
  const headers = { Accept: "text/html", "Cache-Control": "no-cache", "User-Agent": "site-connector" };
  try {
    let at = new URL(address);
    let response = await (site.fetch ?? fetch)(at, { headers, signal, redirect: "manual" });
    for (let redirects = 0; response.status >= 300 && response.status < 400; redirects += 1) {
      discard(response.body);
      at = new URL(response.headers.get("Location") ?? "", at);
      // Such as a page for signing in at another host.
      if (at.origin !== new URL(site.origin).origin) throw unreadable(`it redirects to ${oneLine(at.href)}`);
      if (redirects === MAX_REDIRECTS) throw unreadable("it redirects again and again");
      response = await (site.fetch ?? fetch)(at, { headers, signal, redirect: "manual" });
    }
    if (response.status !== 200) discard(response.body);
    if (response.status === 404 || response.status === 410) return undefined;
    if (response.status !== 200) throw unreadable(`status ${response.status}`);
    return new TextDecoder().decode(await readBounded(response.body, MAX_PAGE_BYTES, signal));
  } catch (error) {
    if (error instanceof JobFailure) throw error;
    if (signal.aborted) throw unreadable("it took too long", error);
    throw unreadable(error instanceof BodyTooLarge ? error.message : oneLine(String(error)), error);
  }
}

/** Fails if the site has no page for an overlay, which would else be stored in vain. */
export async function requirePage(site: PublicSite, path: string, signal: AbortSignal): Promise<void> {
  if ((await read(site, addressOf(site, { path }), signal)) === undefined)
    throw new JobFailure(`The site has no page ${oneLine(path)}.`);
}

/** Returns a look for the outcome of a job, and the address to look at; `undefined` for a job that no page shows. */
function lookFor(
  work: Work,
  result: HandlerResult,
): { at: { url?: string; path?: string }; look: (html: string | undefined) => Unseen } | undefined {
  if (work.kind === "sync") return undefined;
  if (work.kind === "overlay") {
    const { overlay } = work;
    const head = new PageHead(overlay);
    return {
      at: { path: overlay.path },
      look: (html) => (html === undefined ? "there is no page" : head.difference(html)),
    };
  }
  const { article } = work;
  const at = { ...(result.url !== undefined && { url: result.url }), path: result.path ?? article.path ?? "" };
  const shows = result.shows ?? (work.kind === "publish" ? article : undefined);
  if (work.kind === "delete" && shows === undefined)
    return at.path === "" && at.url === undefined
      ? undefined
      : { at, look: (html) => (html === undefined ? undefined : "the page is still there") };
  return {
    at,
    look: (html) => {
      if (html === undefined) return "there is no page";
      const isShown = [shows?.title, shows?.content].every((text) => text === undefined || showsText(html, text));
      return isShown ? undefined : "the page does not show it";
    },
  };
}

/**
 * Looks at the page of a job until it shows what was done. Returns the page's address, if there is a page.
 *
 * @throws {JobFailure} if it does not within the time.
 */
export async function verify(
  site: PublicSite,
  work: Work,
  result: HandlerResult,
  signal: AbortSignal,
): Promise<string | undefined> {
  const wanted = lookFor(work, result);
  if (wanted === undefined) return undefined;
  const address = addressOf(site, wanted.at);
  const until = performance.now() + (site.patienceMs ?? 10_000);
  for (let wait = AGAIN_MS; ; wait = Math.min(2 * wait, MAX_AGAIN_MS)) {
    let unseen: Unseen = "it cannot be read";
    try {
      const html = await read(site, address, signal);
      unseen = wanted.look(html);
      if (unseen === undefined) return html === undefined ? undefined : address;
    } catch (error) {
      // A server that starts again after a change answers soon.
      if (!(error instanceof JobFailure) || performance.now() + wait >= until || signal.aborted) throw error;
    }
    if (performance.now() + wait >= until || signal.aborted) {
      const what =
        work.kind === "overlay" && hasContent(work.overlay) ? "The page head was not applied" : "The change was stored";
      throw new JobFailure(
        `${what}, but visitors of ${oneLine(address)} do not see it: ${unseen}. A cache may be in between.`,
      );
    }
    await sleep(wait, signal);
  }
}
