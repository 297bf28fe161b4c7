// What a visitor sees where the chat cannot run: a sentence, and where else to turn to. It is loaded only then, needs
// nothing of the WebAssembly module, and has the browser's own colours.

import { parseQuietly } from "./validate-options.js";
import diagnose from "./diagnose.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import { languageOf } from "./language.js";
import { localeOf } from "./locale.js";
import type { ChatWidgetHandler } from "./options.js";
import { own } from "./own.js";
import { giveTokens } from "./host-page.js";

// For the loader, which has this file loaded in whatever way there is.
export { diagnose };

/** In each language: that the chat does not run, and what the link says. */
const WORDS: Record<string, [string, string]> = {
  en: ["The chat is not available right now.", "Contact us"],
  ar: ["الدردشة غير متاحة حاليًا.", "تواصل معنا"],
  de: ["Der Chat ist gerade nicht verfügbar.", "Kontakt"],
  es: ["El chat no está disponible en este momento.", "Contacto"],
  fr: ["Le chat n’est pas disponible pour le moment.", "Nous contacter"],
  he: ["הצ׳אט אינו זמין כרגע.", "צרו קשר"],
  hi: ["चैट अभी उपलब्ध नहीं है।", "हमसे संपर्क करें"],
  id: ["Obrolan sedang tidak tersedia.", "Hubungi kami"],
  it: ["La chat non è disponibile al momento.", "Contattaci"],
  ja: ["ただいまチャットをご利用いただけません。", "お問い合わせ"],
  ko: ["지금은 채팅을 이용할 수 없습니다.", "문의하기"],
  nl: ["De chat is op dit moment niet beschikbaar.", "Contact"],
  pl: ["Czat jest w tej chwili niedostępny.", "Kontakt"],
  "pt-BR": ["O chat não está disponível no momento.", "Fale conosco"],
  ru: ["Чат сейчас недоступен.", "Связаться с нами"],
  th: ["ขณะนี้ไม่สามารถใช้แชทได้", "ติดต่อเรา"],
  tr: ["Sohbet şu anda kullanılamıyor.", "Bize ulaşın"],
  vi: ["Hiện không thể trò chuyện.", "Liên hệ"],
  "zh-CN": ["聊天功能暂时不可用。", "联系我们"],
  "zh-TW": ["聊天功能暫時無法使用。", "聯絡我們"],
};

const SHEET = `:host{all:initial!important;display:contents!important}
:host([hidden]),[hidden]{display:none!important}
.cw-fallback{box-sizing:border-box;max-inline-size:300px;padding:12px 16px;border:1px solid GrayText;border-radius:12px;
background:Canvas;color:CanvasText;font:16px/24px system-ui,sans-serif;text-wrap:balance;color-scheme:light}
[data-scheme=auto] .cw-fallback{color-scheme:light dark}
[data-scheme=dark] .cw-fallback{color-scheme:dark}
.cw-floats{position:fixed;z-index:var(--cw-z-root,2147483000);inset-block-end:calc(var(--cw-offset-y,20px) + 76px);
inset-inline-end:var(--cw-offset-x,20px)}
.cw-alone{inset-block-end:var(--cw-offset-y,20px)}
[data-position=start] .cw-floats{inset-inline:var(--cw-offset-x,20px) auto}
.cw-fallback p{margin:0}
.cw-fallback:focus{outline:none}
.cw-fallback a{display:inline-block;padding-block:10px;color:LinkText}`;

/**
 * Says in `host` that the chat does not run. With `retries` the launcher there is left as it is, because a click on it
 * tries once more, and the sentence is shown at once; else a launcher like it shows and hides the sentence, which is
 * `shown` to whoever had the window open.
 */
export default function showErrorState(host: HTMLElement, given: object, retries: boolean, shown = false): void {
  const options = parseQuietly(given);
  const { contact, container, isolate, position = "end" } = options;
  const before = (host.shadowRoot ?? host).querySelector<HTMLElement>(".cw");
  const launcher = before?.querySelector<HTMLElement>(".cw-launcher");
  const isInline = before?.dataset["position"] === "inline" || container !== undefined || host.hasAttribute("inline");
  const root = rootIn(host, isolate);
  root.querySelector(".cw-fallback")?.remove();
  const language = languageOf(localeOf(options.locale)) ?? "en";
  const [sentence, label] = WORDS[language]!;
  giveTokens(host, options);

  const note = document.createElement("div");
  note.className = "cw-fallback";
  note.setAttribute("part", "notice");
  note.setAttribute("role", "status");
  note.tabIndex = -1;
  note.lang = language;
  note.dir = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
  const isAlone = !isInline && !launcher;
  // Nobody asked for a sentence that stays in the page's corner, unless a button of the page's was clicked.
  if (!isAlone || retries || shown) note.append(Object.assign(document.createElement("p"), { textContent: sentence }));
  if (contact) note.append(Object.assign(document.createElement("a"), { href: contact, textContent: label }));
  if (!isInline) note.classList.add("cw-floats");
  if (isAlone) note.classList.add("cw-alone");

  if (retries && launcher && isolate !== false) {
    before!.append(note);
  } else {
    const frame = (before?.cloneNode(false) ?? document.createElement("div")) as HTMLElement;
    frame.classList.remove("cw-open");
    if (!before) frame.dataset["position"] = position;
    if (launcher && !isInline) frame.append(toggleOf(launcher, note, sentence, shown));
    if (note.hasChildNodes()) frame.append(note);
    root.replaceChildren(frame);
  }
  // Who asked is told: what appears beside where they are is not read out by every screen reader.
  if (retries || shown) note.focus();
}

/** What the sentence is drawn into. A host without a shadow root goes on to have none, for the next attempt. */
function rootIn(host: HTMLElement, isolate: boolean | undefined): ShadowRoot {
  let box = host;
  if (isolate === false) {
    box = document.createElement("div");
    host.replaceChildren(box);
  }
  const root = box.shadowRoot ?? box.attachShadow(own({ mode: "open" }));
  if (!root.adoptedStyleSheets.includes(sheet())) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet()];
  return root;
}

let made: CSSStyleSheet | undefined;

function sheet(): CSSStyleSheet {
  if (!made) (made = new CSSStyleSheet()).replaceSync(SHEET);
  return made;
}

/** A launcher like the one that was there, which shows and hides the sentence. */
function toggleOf(launcher: HTMLElement, note: HTMLElement, label: string, shown: boolean): HTMLElement {
  const toggle = launcher.cloneNode(true) as HTMLElement;
  const show = (shown: boolean): void => {
    note.hidden = !shown;
    toggle.setAttribute("aria-expanded", String(shown));
    if (shown) note.focus();
  };
  // It opens no window, and knows of nothing unread any more.
  toggle.querySelector(".cw-badge")?.remove();
  toggle.removeAttribute("aria-haspopup");
  toggle.setAttribute("aria-label", label);
  toggle.addEventListener("click", () => show(note.hidden === true));
  show(shown);
  return toggle;
}

/** For the loader: tells the page that the module did not load, and the visitor in `host`, if they have asked for it. */
export function tell(
  error: unknown,
  handlers: ChatWidgetHandler<"error">[],
  host: HTMLElement | false | undefined,
  options: object,
): void {
  // A frame with `sandbox` and without `allow-same-origin` reads only what a server lets every origin read.
  const frame = origin === "null" ? ": this frame has no origin of its own" : "";
  const detail = { code: "NOT_LOADED", message: `${String(error)}${frame}` };
  for (const handler of handlers) {
    try {
      handler(detail);
    } catch (thrown) {
      console.error("chat widget: a handler of error threw", thrown);
    }
  }
  for (const mark of ":-") {
    (host || document).dispatchEvent(
      new CustomEvent(`chat-widget${mark}error`, own({ detail, bubbles: true, composed: true })),
    );
  }
  if (host) showErrorState(host, options, true);
}
