// The themes and colour schemes of the gallery's pages.

export const THEMES = [
  "teal",
  "blue",
  "emerald",
  "violet",
  "amber",
  "rose",
  "slate",
  "light_teal",
  "light_blue",
  "light_amber",
  "light_rose",
];
export const SCHEMES = ["light", "dark"];
