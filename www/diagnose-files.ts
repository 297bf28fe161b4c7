// Checks that the files of `dist/` can be loaded, for `diagnose()`.

import { languageOf } from "./language.js";
import { localeOf } from "./locale.js";
import type { ChatWidgetOptions } from "./options.js";
import { nullProto } from "./null-proto.js";

// Filled in by the build: the modules of `dist/` that are loaded on demand, but for themes and languages, with spaces between.
declare const LAZY_FILES: string;

/** The outcome of one check. */
export type Finding = [ok: boolean, message: string];

/** Returns any thrown value as text. */
export function describe(error: unknown): string {
  try {
    return String(error);
  } catch {
    return "something that cannot be shown";
  }
}

/** Checks every file that the widget may need on this page: the theme's, the language's, and those that are loaded on demand. */
export async function findFiles(
  options: ChatWidgetOptions,
  base: string | URL,
  load?: (path: string) => Promise<unknown>,
): Promise<Finding> {
  const { theme = "teal", locale } = options;
  const language = languageOf(localeOf(locale));
  const paths = [`themes/${theme === "custom" ? "teal" : theme}`, ...LAZY_FILES.split(" ")];
  if (language) paths.push(`locales/${language}`);
  const wrong = load
    ? await importAll(paths, load)
    : await fetchAll(
        ["chat-widget", "element", "progress", "companion", "waiting", "mail-link", ...paths].map(
          (path) => `${path}.mjs`,
        ),
        base,
      );
  if (wrong.length === 0) return [true, "All files can be loaded."];
  const few = wrong.slice(0, 3).join(" ");
  return [false, wrong.length > 3 ? `${few} Number of other files with problems: ${wrong.length - 3}.` : few];
}

async function importAll(paths: string[], load: (path: string) => Promise<unknown>): Promise<string[]> {
  const tries = paths.map((path) =>
    load(path).then(
      () => "",
      (error: unknown) =>
        `${path} cannot be loaded (${describe(error)}). Check that the server has all files that the bundler wrote.`,
    ),
  );
  return (await Promise.all(tries)).filter((message) => message !== "");
}

async function fetchAll(files: string[], base: string | URL): Promise<string[]> {
  const found = await Promise.all(files.map((file) => findFile(new URL(`./${file}`, base))));
  return found.filter((message) => message !== "");
}

/** Returns the problem with a module's file; an empty text if it can be imported. */
async function findFile(url: URL): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(url, nullProto({ cache: "no-cache" as const }));
  } catch (error) {
    return unreachable(url, error);
  }
  if (!answer.ok) return missing(url, answer.status);
  const type = answer.headers.get("Content-Type") ?? "none";
  if (!/javascript|ecmascript/i.test(type))
    return `The server sends ${url.href} as ${type}, which no browser runs as a module. Serve it as text/javascript, and check that the server does not send another page instead.`;
  return "";
}

const missing = (url: URL, status: number) =>
  `${url.href} answers with status ${status}. All files of dist/ must stand beside each other.`;

/** Returns why a file could not be fetched. Another host may have it but not allow this origin. */
async function unreachable(url: URL, error: unknown): Promise<string> {
  const isThere =
    url.origin !== location.origin &&
    (await fetch(url, nullProto({ mode: "no-cors" as const })).then(
      () => true,
      () => false,
    ));
  if (isThere)
    return `${url.origin} does not let this page read ${url.href}: a host that is not the page's own must answer with the header Access-Control-Allow-Origin (docs/csp.md). You can also put dist/ on the page's own host.`;
  return `${url.href} cannot be loaded (${describe(error)}). Check that its server is up, and that connect-src of the Content-Security-Policy allows it.`;
}

/** Checks that the WebAssembly module exists, is valid, and may be compiled. */
export async function findModule(url: URL): Promise<Finding> {
  let answer: Response;
  try {
    answer = await fetch(url, nullProto({ cache: "no-store" as const }));
  } catch (error) {
    return [false, await unreachable(url, error)];
  }
  if (!answer.ok) return [false, missing(url, answer.status)];
  const type = answer.headers.get("Content-Type") ?? "none";
  try {
    await WebAssembly.compile(await answer.arrayBuffer());
  } catch (error) {
    const words = describe(error);
    if (/Content Security Policy|unsafe-eval/i.test(words))
      return [
        false,
        "The page's Content-Security-Policy does not let WebAssembly run: script-src needs 'wasm-unsafe-eval'.",
      ];
    return [
      false,
      `${url.href} is not a valid WebAssembly module (${words}). Check that the server does not send another page instead.`,
    ];
  }
  if (!type.startsWith("application/wasm"))
    return [false, `The server sends ${url.href} as ${type}. With the type application/wasm the chat starts sooner.`];
  return [true, "The module can be loaded, and may run."];
}
