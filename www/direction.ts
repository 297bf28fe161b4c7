// The direction of languages.

/** The widget's right-to-left languages. A locale in Latin letters does not match: it is shown in English. */
export const RIGHT_TO_LEFT = /^(ar|he|iw)(?![a-z]|.latn)/i;
