// Page heads: safe whatever an overlay has, once in a page, and never at a page's expense.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PageHead, PageHeads, ServerConnectorClient } from "../../dist/server/index.mjs";
import { naughty, payloads } from "../e2e/corpora.mjs";
import { failure, respond, startService, success, token } from "./fixture.mjs";

const services = [];
after(() => services.forEach((service) => service.stop()));
/** Starts a service with an answer, which stops after the tests. */
async function serve(answer) {
  const service = await startService();
  services.push(service);
  return Object.assign(service, { answer });
}

const MARK = "data-seo-overlay";
const PAGE = `<!doctype html><html><head><meta charset="utf-8"><TITLE>Old</TITLE>
<meta content='old' name=description><meta property="og:title" content="old > older"><link rel="canonical" href=/old>
<!-- <title>In a comment</title> --><script>const a = "<title>In a script</title></head>";</script>
<noscript><meta name="description" content="no script"></noscript><script type="application/ld+json">{"a":1}</script>
</head><body><svg><title>In a picture</title></svg><p>Text</p></body></html>`;

/** Returns the head of an overlay, as the service sends it. */
async function headOf(overlay) {
  const { origin } = await serve(success({ overlays: [{ path: "/", ...overlay }] }));
  return new PageHeads({ client: new ServerConnectorClient({ origin, token }) }).headFor("/");
}

/** What the elements of an overlay can be: nothing in them ends a value, an element or a script. */
const SAFE = new RegExp(
  `^(?:<title ${MARK}>[^<>]*</title>|<meta ${MARK} (?:name|property)="[A-Za-z0-9:_]+" content="[^"<>]*">|` +
    `<link ${MARK} rel="canonical" href="[^"<>]*">|<script ${MARK} type="application/ld\\+json">[ -;=?-~]*</script>)*$`,
);

test("no text of an overlay ends a value, an element or a script", async () => {
  const texts = [...payloads, ...naughty, '"></title><script>alert(1)</script>', "</script><script>", "<!--", "'"];
  assert.ok(texts.length > 100, `${texts.length}`);
  const overlays = texts.map((text, number) => ({
    path: `/${number}`,
    title: text,
    description: text,
    robots: text,
    canonicalUrl: `https://shop.example/${text}`,
    openGraph: { title: text, [text]: text, 'x"': text },
    structuredData: [{ [text]: text }],
  }));
  const service = await serve(success({ overlays }));
  const client = new ServerConnectorClient({ origin: service.origin, token });
  const heads = new PageHeads({ client });
  for (const [number, text] of texts.entries()) {
    const head = await heads.headFor(`/${number}`);
    assert.match(head.tags, SAFE, text);
    assert.deepEqual(JSON.parse(head.jsonLd[0]), { [text]: text });
    const page = head.apply(PAGE);
    assert.equal(head.difference(page), undefined, text);
    assert.equal(head.apply(page), page);
    assert.ok(page.endsWith(PAGE.slice(PAGE.indexOf("</head><body>"))));
  }
});

test("an overlay replaces the page's own elements, and nothing else", async () => {
  const head = await headOf({
    title: "New & <better>",
    description: "new",
    canonicalUrl: "https://shop.example/new",
    openGraph: { title: "OG" },
    structuredData: [{ b: "</script>" }],
  });
  const page = head.apply(PAGE);
  const ours = `<title ${MARK}>New &amp; &lt;better&gt;</title><meta ${MARK} name="description" content="new"><link ${MARK} rel="canonical" href="https://shop.example/new"><meta ${MARK} property="og:title" content="OG"><script ${MARK} type="application/ld+json">{"b":"\\u003c/script\\u003e"}</script>`;
  const kept = PAGE.replace("<TITLE>Old</TITLE>", "")
    .replace("<meta content='old' name=description>", "")
    .replace('<meta property="og:title" content="old > older">', "")
    .replace('<link rel="canonical" href=/old>', "")
    .replace("</head><body>", `${ours}</head><body>`);
  assert.equal(page, kept);
});

test("a page shows an overlay if it has each element once, with its value", async () => {
  const head = await headOf({
    title: "New",
    openGraph: { title: "OG" },
    structuredData: [{ "@type": "Article", a: "<" }],
  });
  const title = "<title>New</title>";
  const property = '<meta content="OG" property="og:title">';
  const data = '<script type="application/ld+json">{ "@type": "Article", "a": "\\u003c" }</script>';
  for (const [html, difference] of [
    [`<head>${title}${property}${data}</head>`, undefined],
    [`<head>${title}${property}</head><body><p>${data}`, undefined],
    [`<head>${title}${property}</head><body><!-- ${data} -->`, "the page lacks the structured data"],
    [`<head>${property}${data}</head><body>${title}`, "the page has title 0 times"],
    [`<head>${title}${title}${property}${data}</head>`, "the page has title 2 times"],
    [`<head>${title.replace("New", "Old")}${property}${data}</head>`, "the page has another title: Old"],
    [`<head>${title}${property.replace("OG", "")}${data}</head>`, "the page has another og:title: "],
    ["", "the page has title 0 times"],
  ])
    assert.equal(head.difference(html), difference, html);
});

test("a page without a head, or with one that never ends, stays as it is", async () => {
  const head = await headOf({ title: "New" });
  for (const html of [
    "",
    "Text",
    "<title>Old</title>",
    "<head><!-- </head>",
    '<head><meta a="></head>',
    "<head><title></head>",
  ])
    assert.equal(head.apply(html), html);
  assert.equal(head.apply("<head></head>"), `<head><title ${MARK}>New</title></head>`);
  assert.equal(head.apply("<html><p><body>x"), `<html><p><title ${MARK}>New</title><body>x`);
});

test("a hostile page is read in linear time", async () => {
  const head = await headOf({ title: "New" });
  const parts = ['<meta "', "<title ", "<!--", "<a b='", '<a b="', "<script>", "<", "</", "<a =", "<meta/", "&amp"];
  for (const part of parts) {
    const html = `<head>${part.repeat(4_000_000 / part.length)}</head>`;
    const begun = performance.now();
    head.apply(html);
    head.difference(html);
    assert.ok(performance.now() - begun < 2000, part);
  }
});

test("parts of an overlay that cannot be read are left out", async () => {
  for (const overlay of [
    { title: 7, description: null, robots: "", canonicalUrl: "javascript:alert(1)", openGraph: "x" },
    {
      canonicalUrl: "https://",
      openGraph: { "": "x", "a b": "x", "og:": "x" },
      structuredData: ["<script>", [], 7, {}],
    },
    { path: "//evil.example", title: "T" },
    { path: "https://evil.example", title: "T" },
  ])
    assert.equal((await headOf(overlay)).tags, "", JSON.stringify(overlay));
});

test("Next gets its metadata, and nothing that it fails for", async () => {
  const own = {
    title: "Own",
    description: "own",
    alternates: { languages: { de: "/de" } },
    openGraph: { siteName: "Shop" },
  };
  const head = await headOf({
    title: "New",
    canonicalUrl: "https://shop.example/new",
    openGraph: { title: "OG", type: "product", image: "not an address", url: "https://shop.example/new" },
  });
  assert.deepEqual(head.metadata(own), {
    title: { absolute: "New" },
    description: "own",
    alternates: { languages: { de: "/de" }, canonical: "https://shop.example/new" },
    openGraph: { siteName: "Shop", title: "OG", url: "https://shop.example/new" },
    other: { "og:type": "product", "og:image": "not an address" },
  });
  assert.equal(own.title, "Own");
  assert.equal(new PageHead().metadata(own), own);
});

test("a page has the overlay of its locale, or else that of all locales", async () => {
  const of = (path, locale, title) => ({ path, ...(locale && { locale }), title });
  const titles = [of("/a", "de-AT", "Servus"), of("/a", "de", "Hallo"), of("/a", "", "Hello"), of("/b", "fr", "Salut")];
  const service = await serve(success(titles));
  const heads = new PageHeads({ client: new ServerConnectorClient({ origin: service.origin, token }) });
  const titleOf = async (...page) => (await heads.headFor(...page)).overlay?.title;
  assert.equal(await titleOf("/a", "de-at"), "Servus");
  assert.equal(await titleOf("/a", "de-CH"), "Hallo");
  assert.equal(await titleOf("/a", "es"), "Hello");
  assert.equal(await titleOf("/a"), "Hello");
  assert.equal(await titleOf("/a/?utm=1#x"), "Hello");
  assert.equal(await titleOf("/%61"), "Hello");
  assert.equal(await titleOf("/b"), "Salut");
  assert.equal(await titleOf("/b", "de"), undefined);
  assert.equal(await titleOf("/%ff"), undefined);
  assert.equal(await titleOf(`/${"x".repeat(100_000)}`), undefined);
  assert.equal(service.requests.length, 1);
});

test("the list is asked for again with its version, and stays while the service is away", async () => {
  let overlays = [{ path: "/", title: "One" }];
  const service = await serve(({ headers }, response) => {
    if (headers["if-none-match"] === `"${overlays[0].title}"`) return response.writeHead(304).end();
    respond(response, 200, { ok: true, data: { overlays } }, { ETag: `"${overlays[0].title}"` });
  });
  const client = new ServerConnectorClient({ origin: service.origin, token, backOff: { attempts: 1 } });
  const heads = new PageHeads({ client, freshMs: 1 });
  const title = async () => (await heads.headFor("/")).overlay?.title;
  assert.equal(await title(), "One");
  await heads.refresh();
  assert.equal(service.requests.at(-1).headers["if-none-match"], '"One"');
  assert.equal(await title(), "One");
  overlays = [{ path: "/", title: "Two" }];
  await heads.refresh();
  assert.equal(await title(), "Two");
  service.answer = failure(503, "UNAVAILABLE");
  await assert.rejects(heads.refresh());
  assert.equal(await title(), "Two");
  service.stop();
  await assert.rejects(heads.refresh());
  assert.equal(await title(), "Two");
});

test("no page waits for a service that does not answer for longer than once", async () => {
  const service = await serve(() => {});
  const client = new ServerConnectorClient({ origin: service.origin, token });
  const heads = new PageHeads({ client, waitMs: 200 });
  const begun = performance.now();
  const pages = await Promise.all(Array.from({ length: 50 }, (_, page) => heads.headFor(`/${page}`)));
  for (let page = 0; page < 50; page += 1) pages.push(await heads.headFor(`/${page}`));
  assert.ok(performance.now() - begun < 1000);
  assert.ok(pages.every((head) => head.apply(PAGE) === PAGE));
  assert.equal(service.requests.length, 1);
});

test("no page waits for a journal that does not answer for longer than once", async () => {
  const { origin } = await serve(success([{ path: "/1", title: "Listed" }]));
  const client = new ServerConnectorClient({ origin, token });
  const heads = new PageHeads({ client, journal: { get: () => new Promise(() => {}) }, waitMs: 200 });
  const begun = performance.now();
  for (let page = 0; page < 20; page += 1) await heads.headFor(`/${page}`);
  assert.ok(performance.now() - begun < 1000);
  assert.equal((await heads.headFor("/1")).overlay.title, "Listed");
});

test("a page is served while the journal fails, with what it had before", async () => {
  const { origin } = await serve(success([]));
  const entries = new Map();
  let isBroken = false;
  const call =
    (act) =>
    async (...args) => {
      if (isBroken) throw new Error("the database is away");
      return act(...args);
    };
  const journal = {
    get: call((key) => entries.get(key)),
    set: call((key, value) => entries.set(key, value)),
    delete: call((key) => entries.delete(key)),
  };
  const client = new ServerConnectorClient({ origin, token });
  const heads = new PageHeads({ client, journal, storedMs: 1 });
  await heads.apply({ path: "/", title: "Stored", openGraph: {}, structuredData: [] });
  assert.equal((await heads.headFor("/")).overlay.title, "Stored");
  isBroken = true;
  await new Promise((soon) => setImmediate(soon));
  for (let view = 0; view < 3; view += 1) assert.equal((await heads.headFor("/")).overlay.title, "Stored");
  assert.equal((await heads.headFor("/other")).tags, "");
});
