// A shop of 300 products and 100 posts in WordPress: synced, given page heads and articles, and killed on the way. What was
// there before is there afterwards.

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { stopAll } from "../../scripts/servers.mjs";
import { startService } from "./service.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

const KILLS = 20;
/** The site's own rows, without what WordPress itself counts and schedules. */
const OWN_ROWS = `global $wpdb; $own = "SELECT ID FROM $wpdb->posts WHERE guid NOT LIKE 'urn:chat-widget:%' AND
  post_type <> 'revision'"; echo json_encode([
    $wpdb->get_results("SELECT * FROM $wpdb->posts WHERE ID IN ($own) ORDER BY ID"),
    $wpdb->get_results("SELECT * FROM $wpdb->postmeta WHERE post_id IN ($own) ORDER BY meta_id"),
    $wpdb->get_results("SELECT * FROM $wpdb->terms ORDER BY term_id"),
    $wpdb->get_results("SELECT ID, user_login, user_email FROM $wpdb->users"),
    $wpdb->get_results("SELECT option_name, option_value FROM $wpdb->options WHERE option_name NOT LIKE '%transient%' AND
      option_name NOT LIKE 'chat_widget%' AND option_name NOT IN ('cron', 'rewrite_rules') ORDER BY option_name")]);`;

after(async () => {
  stopWordPress();
  await stopAll();
});

test("A shop that is worked on and killed 20 times keeps its own content", { timeout: 500_000 }, async () => {
  const service = await startService();
  const shop = await startWordPress({ version: "6.5", ...service });
  shop.addPlugin("WooCommerce");
  shop.php(`wp_suspend_cache_addition(true); for ($i = 1; $i <= 400; $i++) wp_insert_post(['post_status' => 'publish',
    'post_type' => $i <= 300 ? 'product' : 'post', 'post_title' => "Thing $i", 'post_name' => "thing-$i",
    'post_content' => "<p>The description of thing $i.</p>", 'post_author' => 1]); flush_rewrite_rules(); echo 'null';`);
  const before = shop.php(OWN_ROWS);

  const article = (number, text) => {
    const names = {
      contentId: `article-${number}`,
      path: `/article-${number}`,
      title: `Article ${number}`,
      type: "post",
    };
    return { ...names, content: `<p>${text} of article ${number}.</p>`, action: "publish" };
  };
  const jobs = [await service.add("sync_content", {})];
  for (let number = 1; number <= 50; number += 1) {
    const path = number <= 25 ? `/product/thing-${number}` : `/thing-${300 + number}`;
    jobs.push(
      await service.add("apply_seo_overlay", { path, title: `Head ${number}`, description: `About ${number}` }),
    );
  }
  for (let number = 1; number <= 5; number += 1)
    jobs.push(await service.add("publish_article", article(number, "The first version")));
  for (const number of [1, 2]) {
    jobs.push(await service.add("publish_article", article(number, "The second version")));
    jobs.push(await service.add("rollback_article", article(number, "The second version")));
  }

  let kills = 0;
  for (let runs = 0; runs < 200; runs += 1) {
    // Each kill is at another query. Its job comes again when its lease ends.
    await service.faults(kills < KILLS ? { leaseMs: 2500 } : {});
    const run = await shop.run(kills < KILLS ? { STOP_AT_QUERY: 7 + ((kills * 13) % 97) } : {});
    if (run.code === "SIGKILL") kills += 1;
    const { jobs: all } = await service.site();
    if (all.every(({ status }) => status === "succeeded")) break;
    assert.ok(
      all.every(({ status }) => status !== "failed"),
      JSON.stringify(all.find(({ status }) => status === "failed")),
    );
    await setTimeout(100);
  }
  assert.equal(kills, KILLS);
  for (const read of jobs) assert.equal((await read()).status, "succeeded");

  assert.deepEqual(shop.php(OWN_ROWS), before);
  assert.equal(
    (await service.site()).contentItems,
    403,
    "400 things, the page and the post of WordPress, and the category",
  );
  for (let number = 1; number <= 5; number += 1) {
    assert.equal(shop.posts(`article-${number}`).length, 1);
    assert.match((await shop.read(`/article-${number}/`)).html, new RegExp(`The first version of article ${number}`));
  }
  for (const [path, number] of [
    ["/product/thing-7/", 7],
    ["/thing-340/", 40],
  ]) {
    const { html } = await shop.read(path);
    assert.equal(html.match(/<title/g).length, 1);
    assert.ok(html.includes(`>Head ${number}</title>`) && html.includes(`content="About ${number}"`));
  }
});
