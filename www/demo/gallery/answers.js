// The stand-in service's replies in the playground.

/** The delay of a reply in milliseconds, long enough to see the typing indicator. */
const DELAY = 2_500;

/** The outcomes of a message by its words. The first match counts. */
const REPLIES = [
  [
    /\b(person|human|somebody|operator)\b/i,
    {
      answer: "Of course. I have passed that on: somebody gets back to you as soon as they can.",
      lead: { needsHandoff: true },
    },
  ],
  [
    /\b(price|prices|cost|table)\b/i,
    {
      answer:
        "Prices of what is in stock:\n\n| Piece | Size | Price |\n| --- | --- | ---: |\n| Meadow mug | 320 ml | 24.00 |\n" +
        "| Furrow bowl | 16 cm | 28.00 |\n| Furrow plate | 26 cm | 34.00 |\n\nAll in [the shop](https://kiln.example/tableware).",
    },
  ],
  [
    /\bcode\b/i,
    {
      answer:
        'Paste this where the list should be:\n\n```html\n<script async src="https://kiln.example/stock.js"></script>\n```',
    },
  ],
  [
    /\b(long|care)\b/i,
    {
      answer:
        "Glazed stoneware lasts for decades when it is looked after:\n\n" +
        [
          "Wash new pieces by hand once, in warm water without soap.",
          "After that, the dishwasher is fine. Leave a finger's width between two pieces.",
          "The microwave is fine too, without metal rims.",
          "Let a hot dish cool before it meets cold water.",
          "An unglazed foot can scratch a table: put felt under it.",
          "Tea leaves marks. A paste of baking soda takes them off.",
          "A chip can be sanded smooth. Send us a photo first.",
          "Store plates with a sheet of paper between them.",
        ]
          .map((line, index) => `${index + 1}. ${line}`)
          .join("\n") +
        "\n\n**If a piece breaks within a year**, write to us: we replace it once.",
    },
  ],
  [/\bsilence\b/i, { silent: true }],
  [/\brefuse\b/i, { status: 400 }],
  [/\bfail\b/i, { aiStatus: "provider_error" }],
  [/\bquota\b/i, { usedFallback: true, answer: "I cannot answer right now. One of us will read this." }],
  [/\b(delivery|ship|post)\b/i, { answer: "**2 to 4 working days** for 4.90, free from 60 upwards." }],
  [/\b(dishwasher|microwave)\b/i, { answer: "Everything glazed is safe for the dishwasher and the microwave." }],
  [/\bworkshops?\b/i, { answer: "Each Saturday has six places. Shall I look for one?" }],
];
const OTHERWISE = { answer: "I am a stand-in, and know a few words only. Ask me for *prices*, *code* or *a person*." };

/** The words with their own reply, which the playground lists. */
export const WORDS = ["prices", "code", "care", "a person", "silence", "fail", "refuse", "quota"];

/** Returns the outcome of a message, as the states of the gallery have it. */
export function replies(message) {
  const [, reply] = REPLIES.find(([pattern]) => pattern.test(message)) ?? [undefined, OTHERWISE];
  return { delay: DELAY, ...reply };
}
