// The documentation site: complete, without broken links, and readable in Chromium in any folder and under the strictest
// policy. It needs dist/, because it shows the widget.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { buildDocs } from "../../scripts/docs.mjs";
import { builtPages, problems } from "../../scripts/docs/check.mjs";
import { Links } from "../../scripts/docs/links.mjs";
import { render } from "../../scripts/docs/markdown.mjs";
import { addressOf, allPages } from "../../scripts/docs/navigation.mjs";
import { root } from "../../scripts/setup.mjs";
import { pageFindings, withAxe } from "../e2e/axe.mjs";
import { launch } from "../e2e/demo.mjs";
import { serve } from "./server.mjs";

const temporary = mkdtempSync(join(tmpdir(), "docs-site-"));
const site = join(temporary, "site");
let browser;
let server;

before(async () => {
  await buildDocs({ folder: site });
  server = await serve(site);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.stop();
  rmSync(temporary, { recursive: true, force: true });
});

const textOf = (path) => readFileSync(join(site, path), "utf8");

/** Opens a page of the site. Returns it with the requests to other origins and the errors of its console. */
async function open(path, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  const foreign = [];
  const errors = [];
  page.on("request", (request) => {
    if (!request.url().startsWith(server.address)) foreign.push(request.url());
  });
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) errors.push(message.text());
  });
  page.on("pageerror", (error) => errors.push(String(error)));
  await options.prepare?.(page);
  await page.goto(server.address + path);
  return { page, foreign, errors };
}

test("Every page of docs/ is in the navigation of every page", () => {
  const written = ["docs", "docs/decisions"].flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => addressOf(`${folder}/${name}`)),
  );
  assert.ok(written.length > 40 && builtPages(site).length > written.length);
  const home = textOf("index.html").split('<nav class="pages"')[1].split("</nav>")[0];
  const linked = [...home.matchAll(/href="([^"]*)"/g)].map(([, address]) => address);
  for (const address of written) assert.ok(linked.includes(address), address);
  for (const page of allPages()) {
    const links = textOf(addressOf(page)).split('<nav class="pages"')[1].split("</nav>")[0].match(/<a /g);
    assert.equal(links.length, linked.length, page);
  }
});

test("No link of the site is broken, and a broken one is noticed", () => {
  assert.deepEqual(problems(site), []);
  const bad = ["missing.html", "faq.html#missing", "/faq.html", "../faq.html", "javascript:alert(1)"];
  const good = ["faq.html", "faq.html#do-i-need-a-server", "#here", "https://example.org/", "pictures/window.png"];
  const links = [...bad, ...good].map((address) => `<a href="${address}">x</a>`).join("");
  writeFileSync(join(site, "probe.html"), `<p id="here">${links}</p>`);
  try {
    assert.deepEqual(problems(site), [
      "probe.html: missing.html is missing",
      "probe.html: faq.html#missing has no such anchor",
      "probe.html: /faq.html is not relative",
      "probe.html: ../faq.html leaves the site",
      "probe.html: javascript:alert(1) is not relative",
    ]);
  } finally {
    rmSync(join(site, "probe.html"));
  }
});

test("A link shows the title of its page, and one to a missing file is reported", () => {
  const links = new Links(["docs/faq.md"]);
  const { html } = render("[faq.md](faq.md#x), [b](gone.md), [c](recipes/nginx.conf)", links.of("docs/csp.md"));
  assert.deepEqual(links.problems, ["docs/csp.md: gone.md is missing"]);
  assert.ok(html.includes('<a href="faq.html#x">Frequently asked questions</a>'), html);
  assert.ok(html.includes('href="source/docs/recipes/nginx.conf.html"'), html);
});

test("Headings with the same text have different anchors, and HTML in Markdown is refused", () => {
  const links = new Links([]).of("docs/csp.md");
  const { headings } = render("# A page\n\n## `Some` *code*\n\n## Some code\n", links);
  assert.deepEqual(
    headings.map(({ id }) => id),
    ["a-page", "some-code", "some-code-1"],
  );
  assert.throws(() => render("<script>1</script>", links), /HTML in Markdown/);
});

for (const colorScheme of ["light", "dark"]) {
  test(`In ${colorScheme} the pages violate no policy, load nothing from elsewhere, and axe finds nothing`, async () => {
    for (const path of ["index.html", "frontend.html"]) {
      const { page, foreign, errors } = await open(path, { colorScheme, prepare: withAxe });
      const [red] = await page.evaluate(() =>
        getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number),
      );
      assert.ok(colorScheme === "dark" ? red < 60 : red > 220, `${path}: ${red}`);
      assert.deepEqual(await pageFindings(page), [], path);
      assert.deepEqual([foreign, errors], [[], []], path);
      await page.context().close();
    }
  });
}

test("The chosen colours stay on the next page", async () => {
  const { page } = await open("index.html", { colorScheme: "light" });
  await page.getByRole("button", { name: "Dark colours" }).click();
  await page.locator(".pages").getByRole("link", { name: "Frequently asked questions" }).click();
  await page.getByRole("heading", { level: 1, name: "Frequently asked questions" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("data-scheme"), "dark");
  await page.getByRole("button", { name: "Light colours" }).waitFor();
  await page.context().close();
});

test("The search finds a section by its words, and leads to it", async () => {
  const { page, foreign, errors } = await open("decisions/index.html");
  await page.keyboard.press("/");
  // Finds words with a mistake. Results change with each key.
  await page.keyboard.type("how the lanuage is chosen");
  await page.locator(".results a").first().filter({ hasText: "How the language is chosen" }).waitFor();
  await page.getByRole("searchbox").fill("consent");
  await page.locator(".results a", { hasText: "Ask for consent" }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  assert.ok(await page.evaluate(() => document.activeElement.closest(".results") !== null));
  await page.locator(".results a", { hasText: "Privacy › Ask for consent" }).click();
  await page.waitForURL(`${server.address}privacy.html#ask-for-consent`);
  await page.getByRole("heading", { name: "Ask for consent" }).waitFor();
  assert.deepEqual([foreign, errors], [[], []]);

  await page.getByRole("searchbox").fill("xyzzyqwertz");
  await page.getByText("No results").waitFor();
  await page.context().close();
});

test("At 320 px no page scrolls sideways or violates the policy, and a button shows the list of pages", async () => {
  const { page, foreign, errors } = await open("index.html", { viewport: { width: 320, height: 640 } });
  for (const path of allPages().map(addressOf)) {
    await page.goto(server.address + path, { waitUntil: "domcontentloaded" });
    const width = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(width <= 320, `${path}: ${width} px`);
    assert.deepEqual([foreign, errors], [[], []], path);
  }
  const list = page.getByRole("navigation", { name: "Pages" });
  await list.waitFor({ state: "hidden" });
  await page.getByRole("button", { name: "Pages" }).click();
  await list.getByRole("link", { name: "Roadmap" }).waitFor();
  await page.keyboard.press("Escape");
  await list.waitFor({ state: "hidden" });
  await page.context().close();
});

test("Without scripts the list of pages is visible, and controls that need scripts are not", async () => {
  const { page } = await open("faq.html", { javaScriptEnabled: false, viewport: { width: 320, height: 640 } });
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Roadmap" }).waitFor();
  for (const control of [".search", ".scheme", ".menu"]) assert.ok(await page.locator(control).isHidden(), control);
  await page.context().close();
});

test("The playground answers without a service, and offers none", async () => {
  const { page, foreign, errors } = await open("playground.html", { viewport: { width: 1280, height: 1800 } });
  const playground = page.frameLocator("iframe.live");
  const guest = playground.frameLocator(".screen iframe");
  await guest.locator("[part~=launcher]").click();
  await guest.locator("[part~=input]").fill("What are your prices?");
  await guest.locator("[part~=input]").press("Enter");
  await guest.locator("[part~=message-assistant]").nth(1).waitFor();
  assert.equal(await playground.locator('select[name="service"]').count(), 0);
  assert.deepEqual([foreign, errors], [[], []]);
  await page.context().close();
});

test("The gallery shows the widget without a service", async () => {
  const { page, foreign, errors } = await open("gallery.html");
  const shot = page.frameLocator("iframe.live").frameLocator("iframe").first();
  await shot.locator("chat-widget").waitFor({ state: "attached" });
  await shot.locator("html[data-shown]").waitFor();
  assert.deepEqual([foreign, errors], [[], []]);
  await page.context().close();
});

test("Every file that the pages asked for was there", () => {
  assert.deepEqual(server.missing, []);
});
