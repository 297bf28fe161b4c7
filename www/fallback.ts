// What a visitor sees where the chat cannot run: a sentence, and where else to turn to. It is loaded only then, needs
// nothing of the WebAssembly module, and has the browser's own colours.

import languageOf from "./language.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import type { ChatWidgetHandler, ChatWidgetOptions } from "./options.js";

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
.cw-fallback a{display:inline-block;padding-block:10px;color:LinkText}`;

/** An address that a link of the page's own may have; anything else is none. */
function addressOf(contact: string | undefined): string | undefined {
  if (!contact) return undefined;
  try {
    const url = new URL(contact, document.baseURI);
    return /^(https?|mailto|tel):$/.test(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Says in `host` that the chat does not run. With `retries` the launcher there is left as it is, because a click on it
 * tries once more, and the sentence is shown at once; else a launcher like it shows and hides the sentence.
 */
export default function fallback(host: HTMLElement, options: ChatWidgetOptions, retries: boolean): void {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.querySelector(".cw-fallback")?.remove();
  const before = root.querySelector<HTMLElement>(".cw");
  const launcher = before?.querySelector<HTMLElement>(".cw-launcher");
  const isInline = before?.dataset["position"] === "inline" || options.container !== undefined || host.hasAttribute("inline");
  const language = languageOf(options.locale || document.documentElement.lang || navigator.language) ?? "en";
  const [sentence, label] = WORDS[language]!;

  const note = document.createElement("div");
  note.className = "cw-fallback";
  note.setAttribute("part", "notice");
  note.setAttribute("role", "status");
  note.lang = language;
  note.dir = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
  const address = addressOf(options.contact);
  const isAlone = !isInline && !launcher;
  // Nobody asked for a sentence that stays in the page's corner, unless a button of the page's was clicked.
  if (!isAlone || retries) note.append(Object.assign(document.createElement("p"), { textContent: sentence }));
  if (address) note.append(Object.assign(document.createElement("a"), { href: address, textContent: label }));
  if (!isInline) note.classList.add("cw-floats");
  if (isAlone) note.classList.add("cw-alone");

  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
  if (retries && launcher) {
    before!.append(note);
    return;
  }
  const frame = (before?.cloneNode(false) ?? document.createElement("div")) as HTMLElement;
  frame.classList.remove("cw-open");
  if (!before) frame.dataset["position"] = options.position ?? "end";
  if (launcher && !isInline) frame.append(toggleOf(launcher, note));
  if (note.hasChildNodes()) frame.append(note);
  root.replaceChildren(frame);
}

/** A launcher like the one that was there, which shows and hides the sentence. */
function toggleOf(launcher: HTMLElement, note: HTMLElement): HTMLElement {
  const toggle = launcher.cloneNode(true) as HTMLElement;
  const show = (shown: boolean): void => {
    note.hidden = !shown;
    toggle.setAttribute("aria-expanded", String(shown));
  };
  toggle.removeAttribute("aria-haspopup");
  toggle.addEventListener("click", () => show(note.hidden === true));
  show(false);
  return toggle;
}

/** For the loader: tells the page that the module did not load, and the visitor in `host`, if they have asked for it. */
export function tell(
  error: unknown,
  handlers: ChatWidgetHandler<"error">[],
  host: HTMLElement | false | undefined,
  options: ChatWidgetOptions,
): void {
  const detail = { code: "NOT_LOADED", message: String(error) };
  for (const handler of handlers) {
    try {
      handler(detail);
    } catch (thrown) {
      console.error('chat widget: a handler of "error" threw', thrown);
    }
  }
  (host || document).dispatchEvent(new CustomEvent("chat-widget:error", { detail, bubbles: true, composed: true }));
  if (host) fallback(host, options, true);
}
