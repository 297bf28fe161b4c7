// The Custom Elements Manifest of `dist/` tells the truth about the element: its attributes, properties, controls, parts and
// custom properties. `event-names.test.mjs` is about its events.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { part } from "./chat.mjs";
import { look } from "./gallery.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const manifest = JSON.parse(readFileSync(new URL("../../dist/custom-elements.json", import.meta.url), "utf8"));
const [element] = manifest.modules[0].declarations;
const names = (list) => list.map(({ name }) => name);
/** The states of the gallery that show all parts together. */
const STATES =
  "empty markdown joined preview noreply person-offered failed contact contact-done blocked menu mydata".split(" ");
/** The methods that a browser calls. */
const LIFECYCLE = "constructor attributeChangedCallback connectedCallback connectedMoveCallback disconnectedCallback";

const INLINE =
  '<chat-widget id="one" inline proxy="/connector"></chat-widget><script type="module" src="/chat-widget/element.mjs"></script>';

/** Opens a page with one inline element. */
async function withElement(visit) {
  const page = await visit({ prepare: pageOf(INLINE) });
  await part(page, "input").waitFor();
  return page;
}

test("The element observes the attributes of the manifest, and has exactly its properties and controls", async ({
  visit,
}) => {
  const page = await withElement(visit);
  const real = await page.evaluate(() => {
    const { observedAttributes, prototype } = customElements.get("chat-widget");
    const described = Object.entries(Object.getOwnPropertyDescriptors(prototype));
    const kindOf = ({ value, set }) => (value ? "method" : set ? "field" : "readonly field");
    return { observedAttributes, members: described.map(([name, descriptor]) => `${kindOf(descriptor)} ${name}`) };
  });
  assert.deepEqual(real.observedAttributes, names(element.attributes));
  const claimed = element.members.map(({ kind, name, readonly }) => `${readonly ? "readonly " : ""}${kind} ${name}`);
  const own = real.members.filter((member) => !LIFECYCLE.split(" ").includes(member.split(" ").at(-1)));
  assert.deepEqual(own.sort(), claimed.sort());
});

test("Each attribute of the manifest sets the property that is named with it", async ({ visit }) => {
  const page = await withElement(visit);
  const pairs = element.attributes.filter(({ fieldName }) => fieldName).map(({ name, fieldName }) => [name, fieldName]);
  const unset = await page.evaluate((pairs) => {
    const element = document.createElement("chat-widget");
    return pairs.filter(([attribute, property]) => {
      const before = element[property];
      element.setAttribute(attribute, "1");
      return before !== undefined || String(element[property]) !== "1";
    });
  }, pairs);
  assert.deepEqual(unset, []);
});

test("Each custom property of the manifest is used, has a value, and takes the value of the page", async ({
  visit,
}) => {
  const page = await withElement(visit);
  const wrong = await page.evaluate(async (properties) => {
    const host = document.getElementById("one");
    // The widget is ready when its deferred style sheet is there.
    await (await host.ready).ready;
    const sheets = host.shadowRoot.adoptedStyleSheets.flatMap(({ cssRules }) => [...cssRules]);
    const text = sheets.map(({ cssText }) => cssText).join("\n");
    const computed = (name) => getComputedStyle(host).getPropertyValue(name);
    return properties.flatMap((name) => {
      // The distance from the edges has its default where it is used.
      const hasValue = computed(name) !== "" || name.startsWith("--cw-offset-");
      host.style.setProperty(name, "7px");
      const isTaken = computed(name) === "7px";
      host.style.removeProperty(name);
      return [
        ...(text.includes(`var(${name}`) ? [] : [`${name} is not used`]),
        ...(hasValue ? [] : [`${name} has no value`]),
        ...(isTaken ? [] : [`${name} does not take a value`]),
      ];
    });
  }, names(element.cssProperties));
  assert.deepEqual(wrong, []);
});

test("The parts of the manifest are those of the widget in its states", async ({ visit, site }) => {
  const page = await visit({ path: "/icon.svg" });
  const found = new Set();
  const collect = async () => {
    const parts = await page
      .locator("chat-widget [part]")
      .evaluateAll((elements) => elements.flatMap(({ part }) => [...part]));
    for (const name of parts) found.add(name);
  };
  for (const state of STATES) {
    await look(page, site, state);
    await collect();
  }
  await part(page, "forget").click();
  await part(page, "forget-yes").waitFor();
  await collect();
  assert.deepEqual([...found].sort(), names(element.cssParts).sort());
});
