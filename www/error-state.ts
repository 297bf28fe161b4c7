// The error state of a chat that cannot run: a sentence and the contact link, in the browser's own colours. It is loaded only
// then, and needs no WebAssembly.

import { parseQuietly } from "./validate-options.js";
import diagnose from "./diagnose.js";
import { RIGHT_TO_LEFT } from "./direction.js";
import { languageOf } from "./language.js";
import { localeOf } from "./locale.js";
import type { ChatWidgetHandler } from "./options.js";
import { nullProto } from "./null-proto.js";
import { giveTokens } from "./host-page.js";

// For the loader, which can load this file where it cannot import modules.
export { diagnose };

/** The sentence and the text of the link, by language. */
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
 * Shows in `host` that the chat does not run. With `retries` the launcher stays, because a click on it tries again, and the
 * sentence appears at once. Otherwise a copy of the launcher toggles the sentence, which is `shown` at first if the window was
 * open.
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
  // Without a launcher, the sentence would stay in the corner: it appears only after a click on the page's button.
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
  // Not every screen reader announces a new element, so a visitor who has asked for the chat gets the focus there.
  if (retries || shown) note.focus();
}

/** Returns the root for the sentence. A host without a shadow root keeps none, for the next attempt. */
function rootIn(host: HTMLElement, isolate: boolean | undefined): ShadowRoot {
  let box = host;
  if (isolate === false) {
    box = document.createElement("div");
    host.replaceChildren(box);
  }
  const root = box.shadowRoot ?? box.attachShadow(nullProto({ mode: "open" }));
  if (!root.adoptedStyleSheets.includes(sheet())) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet()];
  return root;
}

let made: CSSStyleSheet | undefined;

function sheet(): CSSStyleSheet {
  if (!made) (made = new CSSStyleSheet()).replaceSync(SHEET);
  return made;
}

/** Returns a copy of the launcher that toggles the sentence. */
function toggleOf(launcher: HTMLElement, note: HTMLElement, label: string, shown: boolean): HTMLElement {
  const toggle = launcher.cloneNode(true) as HTMLElement;
  const show = (shown: boolean): void => {
    note.hidden = !shown;
    toggle.setAttribute("aria-expanded", String(shown));
    if (shown) note.focus();
  };
  // The copy opens no dialog and has no unread count.
  toggle.querySelector(".cw-badge")?.remove();
  toggle.removeAttribute("aria-haspopup");
  toggle.setAttribute("aria-label", label);
  toggle.addEventListener("click", () => show(note.hidden === true));
  show(shown);
  return toggle;
}

/** For the loader: emits the error, and shows the error state in `host` if the visitor has asked for the chat. */
export function tell(
  error: unknown,
  handlers: ChatWidgetHandler<"error">[],
  host: HTMLElement | false | undefined,
  options: object,
): void {
  // A frame with `sandbox` and without `allow-same-origin` reads only files that allow every origin.
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
      new CustomEvent(`chat-widget${mark}error`, nullProto({ detail, bubbles: true, composed: true })),
    );
  }
  if (host) showErrorState(host, options, true);
}
