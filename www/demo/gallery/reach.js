// The steps into the states of the gallery. Each takes the page of a state: the widget and its root, the service, the clock,
// and the waits.

export const QUESTION = "Is there still room this Saturday?";
export const GOOD_MORNING = "Good morning, Maren here.";
export const OFFER = "Shall I send a new bowl with Friday's parcel?";

/** Opens the window. */
export const opens = async ({ open }) => open();

/** Opens the window and sends a question. */
async function ask({ widget, open }, question) {
  await open();
  widget.sendMessage(question);
}

/** Sends a question and waits for a part of the window. */
export const asks = (question, part) => async (page) => {
  await ask(page, question);
  await page.until(() => page.count(part) > 0);
};

/** Sends a question without a reply, advances the clock, and waits for a part of the window. */
export const waits = (ms, part) => async (page) => {
  await asks(QUESTION, "typing")(page);
  page.clock.skip(ms);
  await page.until(() => page.count(part) > 0);
};

/** Asks for a person, and submits this e-mail address in the contact form. */
export async function leavesAddress(page, address) {
  await asks("Can somebody call me about twelve bowls?", "form")(page);
  const form = page.root.querySelector("[part=form]");
  const { email } = form.elements;
  email.value = address;
  email.dispatchEvent(new Event("input", { bubbles: true }));
  form.requestSubmit();
}

/** Adds a person's message while the window is closed. */
export async function missesSome({ service, until, count }, ...texts) {
  // After the second poll, which finds nothing more, messages count as new.
  await until(() => service.reads > 1);
  for (const text of texts) service.says("operator", text);
  await until(() => count("badge") > 0);
}

/** Waits until the header has the operator's name. */
export const headed = ({ root, until }) => until(() => root.querySelector("[part=title]")?.textContent === "Maren");

/** Opens the header's menu. */
export async function opensMenu({ root, open, until, count }) {
  await open();
  root.querySelector("[part=menu]").click();
  await until(() => count("menu-list") > 0);
}
