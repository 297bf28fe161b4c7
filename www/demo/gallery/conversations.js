// The conversations that the states of the gallery start with.

/** Returns a message of some days ago, by the gallery's calendar. `time` is local, as `09:17`. */
function said(role, daysAgo, time, content) {
  const [hour, minute] = time.split(":").map(Number);
  return { role, content, createdAt: new Date(2026, 2, 12 - daysAgo, hour, minute).toISOString() };
}

export const SHORT = [
  said("visitor", 0, "09:17", "Can I book a workshop for two?"),
  said("assistant", 0, "09:17", "You can. Each Saturday has [six places](https://kiln.example/workshops)."),
];

const ALL_MARKS = `## Delivery
Three days, *usually*, **never** ~~two~~; see [our terms of delivery](https://kiln.example/terms).

1. Order
   - a pot
     - with a lid
   - a bowl
2. Pay with \`KC-2041\`, which is the number that stands on the first page of your order

> Fragile, this side up, and do not let it fall down the stairs
> > says the box

---
### Prices

| Size | Price |
| --- | --- |
| S | 5 |
| Medium | 15 |

\`\`\`
npm install pots
\`\`\``;

export const MARKDOWN = [
  said("visitor", 0, "09:17", "How do I order, and what does it cost?"),
  said("assistant", 0, "09:17", ALL_MARKS),
];

export const CONVERSATION = [
  said("visitor", 1, "17:40", "Which bowls fit the Furrow plates?"),
  said(
    "assistant",
    1,
    "17:40",
    "The **Furrow bowl** does. All of these stack:\n\n" +
      "| Piece | Size | Price |\n| --- | --- | ---: |\n| Furrow bowl | 16 cm | 28.00 |\n| Furrow plate | 26 cm | 34.00 |\n" +
      "| Table for two | two of each | 112.00 |\n\nMore in [the shop](https://kiln.example/tableware).",
  ),
  said("visitor", 1, "17:42", "A piece of my last order came broken."),
  said(
    "assistant",
    1,
    "17:42",
    "I am sorry about that. We replace it or refund it, as you like:\n\n" +
      "1. Keep the box, no need to send anything back.\n2. Take a photo of the piece and one of the box.\n" +
      "3. Send us both with your order number, which begins with `KC-`.",
  ),
  said("visitor", 1, "17:44", "Can our guest house show your stock on its page?"),
  said(
    "assistant",
    1,
    "17:44",
    "It can. Paste this where the list should be:\n\n" +
      '```html\n<script async src="https://kiln.example/stock.js"\n  data-pieces="mug,bowl,plate" data-currency="EUR"></script>\n```',
  ),
];

export const WITH_PERSON = [
  ...CONVERSATION.slice(2, 4),
  said("operator", 0, "09:14", "Good morning, Maren here."),
  said("operator", 0, "09:14", "I saw your photos. Shall I send a new bowl with Friday's parcel?"),
  said("visitor", 0, "09:15", "Yes please"),
];

export const LONG = Array.from({ length: 200 }, (_, index) => {
  const { role, content } = CONVERSATION[index % CONVERSATION.length];
  const minutes = (index % 50) * 3;
  const time = `${10 + Math.floor(minutes / 60)}:${minutes % 60}`;
  return said(role, 4 - Math.floor(index / 50), time, content);
});

const NOBODY_BREAKS = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
export const EDGES = [
  said("visitor", 0, "09:02", `${NOBODY_BREAKS} ok`),
  said(
    "assistant",
    0,
    "09:02",
    `The setting is \`shop.basket.calendar.synchronisation.interval_minutes.${"winter_".repeat(8)}\`, and your address stays ` +
      `https://kiln.example/${"tableware/".repeat(14)}?from=2026-03-12`,
  ),
  said(
    "assistant",
    0,
    "09:03",
    "A log, as you asked:\n\n```\n" +
      Array.from({ length: 24 }, (_, line) => `09:${10 + line} kiln 2 ${"holding at 1240 degrees, ".repeat(4)}`).join(
        "\n",
      ) +
      "\n```",
  ),
  said(
    "assistant",
    0,
    "09:04",
    `|${" Piece | Size | Weight | Colours | Price |".repeat(2)}\n|${" --- |".repeat(10)}\n` +
      `|${" Furrow bowl | 16 cm | 420 g | oat, slate blue | 28.00 |".repeat(2)}\n\n` +
      "Log in at [kiln.example](https://help.partner.example/login).",
  ),
  said("visitor", 0, "09:05", "😀".repeat(60)),
];

export const ARABIC = {
  assistantName: "برسيم",
  welcomeMessage: "مرحبًا! أنا برسيم، مساعد المتجر. اسألني عن أوانينا أو التوصيل أو الورشات.",
};
export const ARABIC_CONVERSATION = [
  said("visitor", 1, "17:40", "كم يستغرق التوصيل؟"),
  said(
    "assistant",
    1,
    "17:40",
    "يستغرق **من يومين إلى أربعة أيام عمل**:\n\n1. نغلّف الطلب خلال يوم.\n2. نرسل رابط التتبّع بالبريد.\n3. يصل الطرد عبر `DHL`.\n\n" +
      "للمزيد زر [صفحة المساعدة](https://kiln.example/help).",
  ),
  said("operator", 0, "09:14", "صباح الخير، معك مارين. وصلتني صورك للطلب KC-2041."),
  said("operator", 0, "09:14", "| القطعة | السعر |\n| --- | --- |\n| وعاء Furrow | 28.00 |\n| طبق Furrow | 34.00 |"),
  said("visitor", 0, "09:15", "نعم من فضلك"),
];
