// Which way a language is written.

/** The widget's languages that are written from right to left; not in Latin letters, which are shown in English. */
export const RIGHT_TO_LEFT = /^(ar|he|iw)(?![a-z]|.latn)/i;
