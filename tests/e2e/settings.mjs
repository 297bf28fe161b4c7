// The settings in the operators' console, as tests find and use them.

import { open } from "./console-harness.mjs";

/** The question before changes would be lost. */
export const QUESTION = "You have changes that are not saved. Leave, and lose them?";

/** Opens a page of the settings as the owner, or as another operator. */
export const openSettings = (path = "", operator, options) => open(`/console/settings/${path}`, operator, options);

export const sections = (page) => page.getByRole("navigation", { name: "Settings" });
export const title = (page, name) => page.getByRole("heading", { level: 1, name, exact: true });
export const dialog = (page, name) => page.getByRole("dialog", { name });
export const row = (page, text) => page.getByRole("listitem").filter({ hasText: text });
export const notice = (page, text) => page.getByRole("region", { name: "Notices" }).getByText(text, { exact: true });

/** Answers the next question of the browser, and returns its text. */
export const answer = (page, accept) =>
  new Promise((resolve) =>
    page.once("dialog", async (question) => {
      await (accept ? question.accept() : question.dismiss());
      resolve(question.message());
    }),
  );
