// The themes and colour schemes of the gallery's pages.

import { OPTIONS } from "./options.js";

const { values } = OPTIONS.find(({ name }) => name === "theme");

export const THEMES = values.map(([theme]) => theme).filter((theme) => theme !== "custom");
export const SCHEMES = ["light", "dark"];
