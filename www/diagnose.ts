// What keeps the widget from working on a page, in words that a site's owner can act on. Loaded when somebody asks.

import type { ChatWidgetCheck, ChatWidgetDiagnosis, ChatWidgetOptions } from "./options.js";

/** A visitor's clock that is further off than this shows wrong times. Milliseconds. */
const CLOCK_WITHIN = 5 * 60_000;

type Finding = [ok: boolean, message: string];

/** Looks at everything that the widget needs, one after the other. `base` is the address of a file of `dist/`, or of
 * the WebAssembly module itself where a bundler has moved it. */
export default async function diagnose(options: ChatWidgetOptions, base: string | URL): Promise<ChatWidgetDiagnosis> {
  const refused: SecurityPolicyViolationEvent[] = [];
  const onRefused = (event: SecurityPolicyViolationEvent) => void refused.push(event);
  document.addEventListener("securitypolicyviolation", onRefused);
  const checks: ChatWidgetCheck[] = [];
  const look = async (name: ChatWidgetCheck["name"], find: () => Finding | Promise<Finding>) => {
    const [ok, message] = await find();
    checks.push({ name, ok, message });
  };
  let answer: Response | undefined;
  await look("wasm", () => findModule(base instanceof URL ? base : new URL("./chat-widget.wasm", base)));
  await look("proxy", async () => {
    const url = `${options.proxy.replace(/\/+$/, "")}/chat/config`;
    try {
      answer = await fetch(url, { headers: { Accept: "application/json" }, cache: "no-store" });
    } catch (error) {
      return [false, `The proxy cannot be reached at ${url} (${String(error)}). Is the server up, and does the page's Content-Security-Policy allow it in connect-src?`];
    }
    if (answer.status === 404) return [false, `There is no proxy at ${url}: the server answers 404. Is the option proxy the prefix under which the server has it?`];
    if (answer.status === 401) return [false, "The service refuses the proxy's token (401). The server needs the site token that activation gave."];
    return [answer.ok, `${url} answers with status ${answer.status}.${answer.ok ? "" : " The server's log says why."}`];
  });
  await look("config", async () => {
    const body = (await answer?.clone().json().catch(() => undefined)) as { ok?: boolean; data?: { config?: { enabled?: boolean; widgetEnabled?: boolean } } } | undefined;
    if (!body?.ok) return [false, "The proxy's answer is not the service's: it must be JSON with ok and data. Another page may stand at that address."];
    const { enabled, widgetEnabled } = body.data?.config ?? {};
    const off = enabled === false || widgetEnabled === false;
    return [!off, off ? "The chat is switched off in the service's settings, so that the widget shows nothing." : "The chat is switched on."];
  });
  await look("clock", () => {
    const date = Date.parse(answer?.headers.get("Date") ?? "");
    const off = Math.round((Date.now() - date) / 60_000);
    const wrong = Math.abs(Date.now() - date) > CLOCK_WITHIN;
    return [!wrong, wrong ? `The clock of this device and that of the server are ${Math.abs(off)} minutes apart; times in the chat look wrong.` : "The clock is right, as far as the server tells."];
  });
  await look("storage", () => {
    try {
      localStorage.setItem("chat-widget:diagnosis", "1");
      localStorage.removeItem("chat-widget:diagnosis");
      return [true, "The browser keeps what it is given."];
    } catch (error) {
      return [false, `The browser keeps nothing for this page (${String(error)}): the chat works, and is forgotten with the page.`];
    }
  });
  // A report comes in a task of its own.
  await new Promise((resolve) => setTimeout(resolve));
  document.removeEventListener("securitypolicyviolation", onRefused);
  await look("policy", () => {
    const directives = [...new Set(refused.map(({ effectiveDirective }) => effectiveDirective))];
    if (directives.length === 0) return [true, "The page's Content-Security-Policy lets the widget work."];
    return [false, `The page's Content-Security-Policy refuses what the widget needs: ${directives.join(", ")}. docs/csp.md has the lines to add.`];
  });
  return { ok: checks.every(({ ok }) => ok), checks };
}

/** Whether the module is there, is what it says, and may be compiled. */
async function findModule(url: URL): Promise<Finding> {
  let answer: Response;
  try {
    answer = await fetch(url, { cache: "no-store" });
  } catch (error) {
    return [false, `${url.href} cannot be loaded (${String(error)}). Does the Content-Security-Policy allow it in connect-src, and does its server allow this page to read it?`];
  }
  if (!answer.ok) return [false, `${url.href} answers with status ${answer.status}. All files of dist/ must stand beside each other.`];
  const type = answer.headers.get("Content-Type") ?? "none";
  try {
    await WebAssembly.compile(await answer.arrayBuffer());
  } catch (error) {
    const words = String(error);
    if (/Content Security Policy|unsafe-eval/i.test(words)) return [false, "The page's Content-Security-Policy does not let WebAssembly run: script-src needs 'wasm-unsafe-eval'."];
    return [false, `${url.href} is no WebAssembly module (${words}). Was another page sent in its place?`];
  }
  if (!type.startsWith("application/wasm")) return [false, `The server sends ${url.href} as ${type}; as application/wasm it would start sooner.`];
  return [true, "The module is there and may run."];
}
