// The plugin beside those that many sites have. Without the variable `WORDPRESS_PLUGINS`, stand-ins with the hooks of these
// plugins take their places; with it, the real ones in the folder that it names.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { startService } from "./service.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

let service;
before(async () => {
  service = await startService();
});
after(async () => {
  stopWordPress();
  await stopAll();
});

/** Runs a job until it has ended. */
async function done(site, type, payload) {
  const read = await service.add(type, payload);
  await site.run();
  const job = await read();
  assert.equal(job.status, "succeeded", job.error);
  return job;
}

/** Returns the contents of the elements in a page's head, by their names; comments and scripts are no elements. */
function head(html) {
  const text = html.slice(0, html.indexOf("</head")).replace(/<!--.*?-->|<(script|style)\b.*?<\/\1>/gs, "");
  const found = {};
  const add = (name, value) => (found[name] ??= []).push(value.replaceAll("&#039;", "'").replaceAll("&amp;", "&"));
  for (const [, title] of text.matchAll(/<title[^>]*>([^<]*)/g)) add("title", title);
  for (const [element] of text.matchAll(/<(?:meta|link)\b[^>]*>/g)) {
    const value = (name) => element.match(new RegExp(`\\s${name}=["']([^"']*)`))?.[1];
    if (value("rel") === "canonical") add("canonical", value("href"));
    const name = value("name") ?? value("property");
    if (name && value("content") !== undefined) add(name, value("content"));
  }
  return found;
}

/** The same page without what changes each time. */
const stable = (html) =>
  html
    .replace(/nonce\W+\w+/g, "")
    .replace(/<(script|style)\b.*?<\/\1>|<!--.*?-->/gs, (part) => (part.includes("ld+json") ? part : ""));

for (const [name, metaKey] of [
  ["Yoast SEO", "_yoast_wpseo_metadesc"],
  ["Rank Math", "rank_math_description"],
]) {
  test(`With ${name}, a page has each element of the head once: ours in place of theirs`, {
    timeout: 240_000,
  }, async () => {
    const site = await startWordPress({ version: "6.5", ...service });
    const isReal = site.addPlugin(name);
    // What the assistant of Rank Math does when its registration is skipped.
    site.php(
      `update_option('rank_math_registration_skip', true); update_option('rank_math_is_configured', true); echo 'null';`,
    );
    const id = site.edit({
      post_title: "A page with a head",
      post_name: "with-head",
      post_content: "<p>Text</p>",
      meta_input: { [metaKey]: "A description by hand" },
    });
    const read = async () => (await site.read("/with-head/")).html;
    const before = await read();
    const theirs = head(before);
    for (const element of ["title", "description", "canonical", "robots", "og:title"])
      assert.equal(theirs[element]?.length, 1, `${name}, ${isReal ? "real" : "stand-in"}: ${element}`);
    if (isReal) assert.equal(theirs.description[0], "A description by hand");

    const overlay = {
      path: "/with-head",
      title: "Ours & only ours",
      description: "Our description",
      canonicalUrl: `${site.address}/another/`,
      robots: "noindex, nofollow",
      openGraph: { title: "Our card", description: "Our card's text" },
      structuredData: [{ "@context": "https://schema.org", "@type": "FAQPage" }],
    };
    await done(site, "apply_seo_overlay", overlay);
    const html = await read();
    const { title, description, canonical, robots, ...rest } = head(html);
    assert.deepEqual(
      [title, description, canonical, robots, rest["og:title"], rest["og:description"]],
      [
        [overlay.title],
        [overlay.description],
        [overlay.canonicalUrl],
        [overlay.robots],
        ["Our card"],
        ["Our card's text"],
      ],
    );
    for (const [element, values] of Object.entries(rest))
      if (/^(og|twitter):(title|description|url|type)$/.test(element)) assert.equal(values.length, 1, element);
    if (rest["twitter:title"]) assert.deepEqual(rest["twitter:title"], ["Our card"]);
    assert.match(html, /"@type":"FAQPage"/);
    assert.match(html, /"@type":"WebPage"/, "their structured data stays");
    assert.deepEqual(head((await site.read("/hello-world/")).html).title?.length, 1);

    await done(site, "apply_seo_overlay", { path: "/with-head" });
    assert.equal(stable(await read()), stable(before));

    await done(site, "sync_content", {});
    const item = (await service.site()).content.find(({ externalId }) => externalId === `post-${id}`);
    assert.equal(item.summary, "A description by hand");
    const article = {
      contentId: `${name}-1`,
      type: "post",
      path: "/news",
      title: "News",
      content: "<p>Some news.</p>",
    };
    const { result } = await done(site, "publish_article", { ...article, action: "publish" });
    assert.equal(head((await site.read(new URL(result.url).pathname)).html).title.length, 1);
  });
}

test("With Polylang, an article gets its language and the category of it, and a sync names the languages", async () => {
  const site = await startWordPress({ version: "6.5", ...service });
  const isReal = site.addPlugin("Polylang");
  if (isReal)
    site.php(`$options = get_option('polylang'); $model = new PLL_Admin_Model($options);
      foreach ([['English', 'en', 'en_US'], ['Deutsch', 'de', 'de_DE']] as [$name, $slug, $locale])
        $model->add_language(['name' => $name, 'slug' => $slug, 'locale' => $locale, 'rtl' => 0, 'term_group' => 0]);
      $model->set_language_in_mass(); echo 'null';`);
  site.php("flush_rewrite_rules(); echo 'null';");
  const [english, german] = site.php(`$en = wp_insert_term('Guides', 'category')['term_id'];
    $de = wp_insert_term('Anleitungen', 'category')['term_id'];
    pll_set_term_language($en, 'en'); pll_set_term_language($de, 'de');
    pll_save_term_translations(['en' => $en, 'de' => $de]);
    update_option('chat_widget_site', ['category' => (string) $en]); echo json_encode([$en, $de]);`);
  const article = (locale, path) => ({
    contentId: path,
    type: "post",
    locale,
    path,
    title: `In ${locale}`,
    content: "<p>Text.</p>",
    action: "publish",
  });
  const posts = {};
  for (const [locale, path] of [
    ["de-AT", "/de/anleitung"],
    ["en-US", "/guide"],
    ["fr-FR", "/conseils"],
  ]) {
    const { result } = await done(site, "publish_article", article(locale, path));
    assert.equal(new URL(result.url).pathname.replace(/\/$/, ""), path, result.message);
    assert.equal((await site.read(new URL(result.url).pathname)).status, 200);
    posts[locale] = Number(result.externalId.split("-")[1]);
  }
  const facts = (id) => site.php(`echo json_encode([pll_get_post_language(${id}), wp_get_post_categories(${id})]);`);
  assert.deepEqual(facts(posts["de-AT"]), ["de", [german]]);
  assert.deepEqual(facts(posts["en-US"]), ["en", [english]]);
  assert.equal(facts(posts["fr-FR"])[0], "en", "a language that the site does not have is left to Polylang");
  await done(site, "sync_content", {});
  const items = (await service.site()).content;
  const locale = (externalId) => items.find((item) => item.externalId === externalId)?.locale;
  assert.equal(locale(`post-${posts["de-AT"]}`), "de-DE");
  assert.equal(locale(`post-${posts["en-US"]}`), "en-US");
  assert.equal(locale(`term-${german}`), "de-DE");
});

test("With WooCommerce, products and their categories are synced, and get page heads", async () => {
  const site = await startWordPress({ version: "6.5", ...service });
  site.addPlugin("WooCommerce");
  const [product, category, hidden] = site.php(`$category = wp_insert_term('Mugs', 'product_cat')['term_id'];
    $meta = ['_price' => '19.90', '_sku' => 'MUG-1', '_stock_status' => 'instock'];
    $fields = ['post_type' => 'product', 'post_status' => 'publish', 'post_author' => 1, 'post_content' => 'A mug.'];
    $product = wp_insert_post($fields + ['post_title' => 'Mug', 'post_name' => 'mug', 'meta_input' => $meta]);
    wp_set_object_terms($product, [$category], 'product_cat');
    $hidden = wp_insert_post(['post_status' => 'private', 'post_title' => 'Secret mug'] + $fields);
    wp_insert_post(['post_type' => 'product_variation', 'post_title' => 'Mug, blue', 'post_parent' => $product] + $fields);
    echo json_encode([$product, $category, $hidden]);`);
  await done(site, "sync_content", {});
  const items = (await service.site()).content;
  const item = (externalId) => items.find((item) => item.externalId === externalId);
  assert.equal(item(`post-${product}`).type, "product");
  assert.equal(item(`post-${product}`).path, "/product/mug/");
  assert.deepEqual(item(`post-${product}`).data, { price: "19.90", sku: "MUG-1", stockStatus: "instock" });
  assert.equal(item(`term-${category}`).path, "/product-category/mugs/");
  assert.equal(item(`post-${hidden}`), undefined);
  assert.equal(items.filter(({ title }) => /blue/.test(title)).length, 0);
  for (const path of ["/product/mug", "/product-category/mugs"]) {
    await done(site, "apply_seo_overlay", { path, title: `Head of ${path}`, description: "About mugs" });
    const { title, description } = head((await site.read(`${path}/`)).html);
    assert.deepEqual([title, description], [[`Head of ${path}`], ["About mugs"]]);
  }
});
