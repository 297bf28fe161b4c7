// The pages of the documentation site, by reader. A page of docs/ that is missing here fails the build.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";

const decisions = readdirSync(join(root, "docs/decisions"))
  .filter((name) => /^\d.*\.md$/.test(name))
  .sort()
  .map((name) => `docs/decisions/${name}`);

/** The home page. */
export const HOME = "docs/README.md";

/** The sections of the navigation. A page is the path of its Markdown, or an entry of `LIVE` or `CRATES`. */
export const SECTIONS = [
  { title: "Start", pages: [HOME, "README.md", "docs/site-owner.md", "docs/comparison.md", "docs/faq.md"] },
  { title: "See it live", pages: ["playground", "gallery"] },
  {
    title: "On your pages",
    pages: [
      "docs/frontend.md",
      "docs/frameworks.md",
      "docs/rust.md",
      "docs/website-builders.md",
      "docs/wordpress.md",
      "docs/themes.md",
      "docs/languages.md",
      "docs/privacy.md",
      "docs/csp.md",
      "docs/accessibility.md",
      "docs/performance.md",
      "docs/troubleshooting.md",
    ],
  },
  {
    title: "On your server",
    pages: ["docs/server.md", "docs/javascript-sites.md", "docs/contract.md", "docs/self-host.md", "docs/webhooks.md"],
  },
  { title: "For operators", pages: ["docs/inbox.md", "docs/publishing.md", "docs/audit.md"] },
  {
    title: "The project",
    pages: [
      "docs/roadmap.md",
      "CHANGELOG.md",
      "docs/releases.md",
      "SECURITY.md",
      "CODE_OF_CONDUCT.md",
      "docs/contributing.md",
      "ARCHITECTURE.md",
      "crates",
    ],
  },
  { title: "Decisions", pages: ["docs/decisions/README.md", ...decisions], folded: true },
];

/** The pages that show the widget in a frame, without a service. */
export const LIVE = {
  playground: {
    title: "Playground",
    text: "Change every option of the widget, chat with it, and copy the code.",
  },
  gallery: {
    title: "Gallery",
    text: "See the widget in every state and every theme, in light and dark, on a desktop and on a phone.",
  },
};

/** The names of pages in the navigation that differ from their headings. */
export const NAMES = { [HOME]: "Find your page", "README.md": "Overview" };

/** The page with the reference of the crates. */
export const CRATES = "crates";

/** Returns the address of a page within the site. */
export function addressOf(page) {
  if (page === HOME) return "index.html";
  if (page === "README.md") return "overview.html";
  const path = page.replace(/^docs\//, "").replace(/README\.md$/, "index.md");
  const name = path.includes("/") || page.startsWith("docs/") ? path : path.toLowerCase().replaceAll("_", "-");
  return `${name.replace(/\.md$/, "")}.html`;
}

/** Returns all pages in the order of the navigation. */
export const allPages = () => SECTIONS.flatMap(({ pages }) => pages);
