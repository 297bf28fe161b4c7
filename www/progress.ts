// Announces to screen readers that the window is still loading. The script tag's loader imports it when the launcher was
// clicked before the module is there.

import { RIGHT_TO_LEFT } from "./direction.js";
import { languageOf } from "./language.js";
import { localeOf } from "./locale.js";

/** The wait before the announcement, in milliseconds; the loader has waited for a second. */
const ANNOUNCE_AFTER_MS = 1000;

const WORDS: Record<string, string> = {
  en: "The chat is opening, one moment.",
  ar: "جارٍ فتح المحادثة، لحظة من فضلك.",
  de: "Der Chat wird geöffnet, einen Moment.",
  es: "Abriendo el chat, un momento.",
  fr: "Le chat s’ouvre, un instant.",
  he: "הצ׳אט נפתח, רק רגע.",
  hi: "चैट खुल रही है, कृपया थोड़ा रुकें।",
  id: "Obrolan sedang dibuka, mohon tunggu sebentar.",
  it: "La chat si sta aprendo, un attimo.",
  ja: "チャットを開いています。少々お待ちください。",
  ko: "채팅을 여는 중이에요. 잠시만 기다려 주세요.",
  nl: "De chat wordt geopend, een ogenblik.",
  pl: "Czat się otwiera, chwileczkę.",
  "pt-BR": "Abrindo o chat, só um momento.",
  ru: "Чат открывается, подождите немного.",
  th: "กำลังเปิดแชท โปรดรอสักครู่",
  tr: "Sohbet açılıyor, lütfen bekleyin.",
  vi: "Đang mở trò chuyện, vui lòng đợi một chút.",
  "zh-CN": "正在打开聊天，请稍候。",
  "zh-TW": "正在開啟聊天，請稍候。",
};

/** Hides an element from sight but not from screen readers; the launcher's style sheet has no class for that. */
const HIDDEN = "position:fixed;inline-size:1px;block-size:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap";

/** The hosts with an announcement pending, so that more clicks add none. */
const waiting = new WeakSet<HTMLElement>();

/**
 * Announces in `host` that the chat is opening, in the page's language, when `arrived` is still pending after a second.
 * The announcement is removed when `arrived` settles.
 */
export default function progress(host: HTMLElement, locale: string | undefined, arrived: Promise<unknown>): void {
  if (waiting.has(host)) return;
  waiting.add(host);
  const language = languageOf(localeOf(locale)) ?? "en";
  // Screen readers announce changes of a region that exists already, so it is appended empty.
  const region = document.createElement("div");
  region.setAttribute("role", "status");
  region.lang = language;
  region.dir = RIGHT_TO_LEFT.test(language) ? "rtl" : "ltr";
  region.style.cssText = HIDDEN;
  (host.shadowRoot ?? host).append(region);
  const timer = setTimeout(() => (region.textContent = WORDS[language]!), ANNOUNCE_AFTER_MS);
  const end = (): void => {
    clearTimeout(timer);
    region.remove();
    waiting.delete(host);
  };
  arrived.then(end, end);
}
