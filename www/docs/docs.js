// The controls of the documentation's pages: colour scheme, list of pages, copying code, search.

import { startSearch } from "./search.js";

const page = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");

/** Makes the button that switches between light and dark. */
function startScheme(button) {
  const isDark = () => (page.dataset.scheme ? page.dataset.scheme === "dark" : system.matches);
  const update = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    page.dataset.scheme = isDark() ? "light" : "dark";
    try {
      localStorage.setItem("chat-docs:scheme", page.dataset.scheme);
    } catch {
      // Storage is blocked. The choice lasts until the next page.
    }
    update();
  });
  system.addEventListener("change", update);
  update();
}

/** Makes the button that opens the list of pages on a small screen. */
function startMenu(button) {
  const show = (isOpen) => {
    button.setAttribute("aria-expanded", String(isOpen));
    page.toggleAttribute("data-menu", isOpen);
  };
  button.hidden = false;
  button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
  addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !page.hasAttribute("data-menu")) return;
    show(false);
    button.focus();
  });
}

/** Adds a button that copies a block of code. */
function addCopy(block) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("code").textContent).then(
      () => (button.textContent = "Copied"),
      () => (button.textContent = "Not copied"),
    );
  });
  button.addEventListener("blur", () => (button.textContent = "Copy"));
  block.append(button);
}

startScheme(document.querySelector("button.scheme"));
startMenu(document.querySelector("button.menu"));
// Browsers offer the clipboard to pages over HTTPS and on the own machine only.
if (navigator.clipboard) for (const block of document.querySelectorAll(".code")) addCopy(block);
startSearch(document.querySelector(".search"), document.body.dataset.root);
document.querySelector(".pages [aria-current]")?.scrollIntoView({ block: "nearest" });
