// Invalid options: from code they are rejected, as attributes only the invalid option is ignored.

import assert from "node:assert/strict";
import { ask, background, eventually, openChat, part, say, allFilesLoaded, withOptions } from "./chat.mjs";
import { test } from "./harness.mjs";
import { pageOf } from "./pages.mjs";

const QUESTION = "How long does delivery take?";
const ELEMENTS = '<script type="module" src="/chat-widget/element.mjs"></script>';

/** Records the widget's messages in the page's console. */
function recordWarnings(page, recordOf) {
  const warnings = [];
  recordOf(page).tolerate("; expected ");
  page.on("console", (message) => message.text().startsWith("chat widget") && warnings.push(message.text()));
  return warnings;
}

const TEAL = "rgb(9, 116, 119)";

/** Returns the launcher's colour without hover. */
async function launcherColour(page) {
  await page.mouse.move(1, 1);
  return background(page, "launcher");
}

test("With every option of the script tag invalid, the chat works and logs one warning for each", async ({
  visit,
  server,
  recordOf,
}) => {
  let warnings;
  const attributes = [
    'data-theme="tael" data-color-scheme="drak" data-locale="not a locale" data-position="top" data-launcher="##"',
    'data-container="#nope" data-isolate="perhaps" data-offset="{x: 40}" data-z-index="high" data-events="some"',
    'data-suggested-questions="Do you ship?" data-visitor="Ann" data-strings="[]" data-theme-tokens="accent"',
    'data-greeting=\'{"after": 3}\' data-preview="maybe" data-title-alert="2" data-contact="javascript:alert(1)" data-load="later"',
    `data-customer-id="${"a".repeat(201)}"`,
  ];
  const prepare = async (page) => {
    warnings = recordWarnings(page, recordOf);
    await withOptions(attributes.join(" "))(page);
  };
  const page = await visit({ prepare });
  await openChat(page);
  assert.equal(await launcherColour(page), TEAL);
  await ask(page, QUESTION);
  assert.equal((await server.messages()).length, 2);
  assert.equal(warnings.length, 20, warnings.join("\n"));
  assert.equal(new Set(warnings.map((line) => line.match(/^chat widget: (data-[\w-]+)/)[1])).size, 20);
  assert.ok(
    warnings.some(
      (line) =>
        line.startsWith('chat widget: data-theme="tael" is not a theme; expected one of teal, blue, ') &&
        line.endsWith("; using teal"),
    ),
  );
  assert.deepEqual(recordOf(page).of("/chat-widget/themes/tael.mjs"), []);
});

test('The script tag accepts data-theme="light-teal" as a theme without a warning', async ({ visit }) => {
  const page = await visit({ prepare: withOptions('data-theme="light-teal"') });
  await openChat(page);
  assert.equal(await background(page, "header"), "rgb(223, 246, 247)");
});

for (const [lang, position, side] of [
  ["en", "bottom-left", "left"],
  ["ar", "right", "right"],
]) {
  test(`On a page in ${lang}, the position ${position} puts the launcher on the ${side}, before and after the module loads`, async ({
    visit,
  }) => {
    const prepare = withOptions(`data-position="${position}" data-locale="${lang}" data-load="intent"`);
    const page = await visit({ prepare });
    const at = async () => ((await part(page, "launcher").boundingBox()).x > 512 ? "right" : "left");
    await part(page, "launcher").waitFor();
    assert.equal(await at(), side);
    await page.evaluate(() => window.chatWidget.open());
    await part(page, "input").waitFor();
    assert.equal(await at(), side);
  });
}

test("An invalid attribute of an element falls back to its default with one warning, also when it changes", async ({
  visit,
  recordOf,
}) => {
  let warnings;
  const prepare = async (page) => {
    warnings = recordWarnings(page, recordOf);
    await pageOf(
      `<chat-widget proxy="/connector" theme="tael" position="Left" z-index="high"></chat-widget>${ELEMENTS}`,
    )(page);
  };
  const page = await visit({ prepare });
  await part(page, "launcher").waitFor();
  assert.ok((await part(page, "launcher").boundingBox()).x < 512);
  assert.deepEqual(
    warnings.map((line) => line.match(/^chat widget: ([\w-]+="\w+") is not a \w+; expected /)?.[1]).sort(),
    ['theme="tael"', 'z-index="high"'],
  );
  const element = page.locator("chat-widget");
  await element.evaluate((element) => element.setAttribute("theme", "Rose"));
  await eventually(async () => assert.equal(await launcherColour(page), "rgb(199, 31, 79)"));
  await element.evaluate((element) => element.setAttribute("theme", "rosy"));
  await eventually(async () => assert.equal(await launcherColour(page), TEAL));
  const cyclic = (element) => {
    const offset = { x: 30 };
    offset.self = offset;
    Object.assign(element, { offset, contact: "help@shop.example", theme: "slate" });
  };
  await element.evaluate(cyclic);
  await eventually(async () => assert.equal((await part(page, "launcher").boundingBox()).x, 30));
  await eventually(() => assert.equal(warnings.length, 5, warnings.join("\n")));
  await openChat(page);
  await ask(page, QUESTION);
});

test("A missing theme file leaves the default theme and emits an error", async ({ visit, recordOf }) => {
  const prepare = async (page) => {
    await page.addInitScript(() => {
      window.codes = [];
      (window.chatWidget ||= []).push(["on", "error", ({ code }) => window.codes.push(code)]);
    });
    await page.route("**/themes/*.mjs", (route) => route.fulfill({ status: 404 }));
    await withOptions('data-theme="rose"')(page);
  };
  const page = await visit({ prepare });
  await openChat(page);
  await ask(page, QUESTION);
  assert.equal(await launcherColour(page), TEAL);
  assert.deepEqual(await page.evaluate(() => window.codes), ["THEME_MISSING"]);
  const refused = await page.evaluate(() => window.chatWidget.setTheme("slate").then(() => "shown", String));
  assert.match(refused, /themes\/slate\.mjs/, "the current theme stays");
  await allFilesLoaded(page);
});

test("An invalid page language falls back to the browser's, and the service always gets a language tag", async ({
  visit,
  recordOf,
}) => {
  const prepare = async (page) => {
    recordOf(page).tolerate("; expected ");
    const head =
      '<script async src="/chat-widget/chat-widget.js" data-proxy="/connector" data-locale="de, please"></script>';
    await page.addInitScript(() =>
      addEventListener("DOMContentLoaded", () => (document.documentElement.lang = "deutsch!")),
    );
    await page.addInitScript(() =>
      new MutationObserver(() => document.documentElement?.setAttribute("lang", "deutsch!")).observe(document, {
        childList: true,
      }),
    );
    await pageOf("<p>Shop</p>", { head })(page);
  };
  const page = await visit({ prepare, locale: "fr-CA" });
  await openChat(page);
  await part(page, "input").and(page.getByPlaceholder("Écrire un message")).waitFor();
  const send = page.waitForRequest(/\/chat\/messages$/);
  await say(page, QUESTION);
  assert.equal((await send).postDataJSON().locale, "fr-CA");
  const searches = recordOf(page)
    .of("/connector/chat/config")
    .map(({ search }) => search);
  assert.deepEqual([...new Set(searches)], ["?locale=fr-CA"]);
});

test("mount() rejects invalid options without changing the page", async ({ visit }) => {
  const page = await visit({ prepare: pageOf("<p>Shop</p>") });
  const [theme, ...others] = await page.evaluate(async () => {
    const { ChatWidget } = await import("/chat-widget/chat-widget.mjs");
    const errors = [];
    for (const options of [{ proxy: "/connector", theme: "Teal" }, {}, undefined])
      errors.push(await ChatWidget.mount(options).catch(String));
    return [...errors, document.querySelectorAll("chat-widget").length];
  });
  assert.match(theme, /^TypeError: chat widget: the option theme must be one of .+, not "Teal"/);
  assert.match(others[0], /^TypeError: chat widget: the option proxy must be a prefix on this site/);
  assert.match(others[1], /^TypeError/);
  assert.equal(others[2], 0);
});

test('With the invalid data-proxy="//shop.example/connector" no request is sent, and the error says what is expected', async ({
  visit,
  recordOf,
}) => {
  const logged = [];
  const prepare = async (page) => {
    recordOf(page).tolerate("chat widget: the module did not load");
    // The loader's requests stay on the site's origin.
    recordOf(page).tolerate("an unexpected request: //shop.example/connector/");
    page.on("console", (message) => logged.push(message.text()));
    await pageOf(
      '<script async src="/chat-widget/chat-widget.js" data-contact="tel:+44123" data-proxy="//shop.example/connector"></script>',
    )(page);
  };
  const page = await visit({ prepare });
  await part(page, "launcher").click();
  await part(page, "notice").getByRole("link", { name: "Contact us" }).waitFor();
  assert.match(
    logged.join("\n"),
    /option proxy must be a prefix on this site, such as "\/connector", or an address in full/,
  );
  const { checks } = await page.evaluate(() => window.chatWidget.diagnose());
  assert.match(checks.find(({ name }) => name === "proxy").message, /invalid option proxy: expected a prefix/);
});
