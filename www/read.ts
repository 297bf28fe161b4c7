// Options that a page writes as attributes.

/** Those that are written as JSON: all that are no strings. */
const JSON_OPTIONS = "isolate offset preview strings suggestedQuestions themeTokens titleAlert visitor zIndex".split(" ");

/** The option that an attribute's text says. A greeting may be either: words, or an object. */
export function readOption(name: string, text: string): unknown {
  if (!JSON_OPTIONS.includes(name) && !(name === "greeting" && /^\s*\{/.test(text))) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    console.error(`chat widget: the option ${name} is not JSON and is left out: ${text}`);
    return undefined;
  }
}
