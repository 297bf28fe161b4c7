// A visitor in Chromium, who asks a question and looks for the answer of the service.

import { errorsOf, isInView, openChat, part, say } from "../../tests/e2e/chat.mjs";
import { ANSWER, QUESTION } from "./stack.mjs";

const TIMEOUT_MS = 30_000;

/** Asks the question on a page. Returns the answer, which must be in the visible part of the page, and no error beside it. */
export async function visit(browser, address) {
  const context = await browser.newContext({ reducedMotion: "reduce", locale: "en-US" });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  const wrong = errorsOf(page);
  await page.goto(address);
  await openChat(page);
  await say(page, QUESTION);
  const answer = part(page, "message-assistant").filter({ hasText: ANSWER });
  await answer.waitFor();
  await isInView(answer);
  const text = (await answer.innerText()).trim();
  await context.close();
  if (wrong.length > 0) throw new Error(`the page reports errors: ${wrong.join("; ")}`);
  return `"${QUESTION}" is answered: "${text.replaceAll(/\s+/g, " ")}"`;
}
