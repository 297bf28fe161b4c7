// A network of sites (multisite), in folders of one host: each site has its own connection, and touches no other.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { stopAll } from "../../scripts/servers.mjs";
import { startService } from "./service.mjs";
import { startWordPress, stopWordPress } from "./wordpress.mjs";

after(async () => {
  stopWordPress();
  await stopAll();
});

/** Makes a network of a WordPress, with the plugin active in all sites, and a second site. */
function makeNetwork(site) {
  const host = new URL(site.address).host;
  site.php(`require_once ABSPATH . 'wp-admin/includes/upgrade.php'; require_once ABSPATH . 'wp-admin/includes/network.php';
    foreach ($wpdb->tables('ms_global') as $table => $name) $wpdb->$table = $name;
    install_network(); populate_network(1, '${host}', 'admin@kiln.example', 'Kilns', '/', false); echo 'null';`);
  const config = join(site.home, "wp-config.php");
  // The addresses of the sites are in the database.
  const single = readFileSync(config, "utf8").replace(/define\('WP_(HOME|SITEURL)'.*\n/g, "");
  const network = `define('MULTISITE', true); define('SUBDOMAIN_INSTALL', false); define('PATH_CURRENT_SITE', '/');
define('DOMAIN_CURRENT_SITE', '${host}'); define('SITE_ID_CURRENT_SITE', 1); define('BLOG_ID_CURRENT_SITE', 1);\n`;
  writeFileSync(config, single.replace("<?php\n", `<?php\n${network}`));
  site.php(`update_site_option('active_sitewide_plugins', ['chat-widget/chat-widget.php' => time()]);
    update_option('active_plugins', []); echo 'null';`);
  addSite(site, "second");
}

/** Adds a site to the network. */
function addSite(site, name) {
  const { host } = new URL(site.address);
  // WordPress takes the colon before a port out of the names of sites.
  site.php(`require_once ABSPATH . 'wp-admin/includes/admin.php';
    $made = wp_insert_site(['domain' => 'x.example', 'path' => '/${name}/', 'network_id' => 1, 'user_id' => 1]);
    $wpdb->update($wpdb->blogs, ['domain' => '${host}'], ['blog_id' => $made]);
    foreach (['home', 'siteurl'] as $name) update_blog_option($made, $name, '${site.address}/${name}');
    echo json_encode($made);`);
}

test("Each site of a network has its own connection, articles and page heads", async () => {
  const service = await startService();
  const site = await startWordPress({ version: "6.5" });
  makeNetwork(site);
  const second = (code) => site.php(code, "$_SERVER['REQUEST_URI'] = '/second/';");
  second(`update_option('permalink_structure', '/%postname%/'); switch_theme('twentytwentyfour'); flush_rewrite_rules();
    update_option('chat_widget_site', ['origin' => '${service.origin}', 'token' => '${service.token}']); echo 'null';`);
  const work = (hook = "chat_widget_run") => second(`do_action('${hook}'); echo 'null';`);
  const done = async (type, payload) => {
    const read = await service.add(type, payload);
    work();
    const job = await read();
    assert.equal(job.status, "succeeded", job.error);
    return job.result;
  };

  assert.match((await site.read("/second/")).html, /data-proxy="\/second\/connector"/);
  assert.doesNotMatch((await site.read("/")).html, /data-proxy/);
  assert.equal((await site.read("/second/connector/chat/config")).status, 200);
  assert.equal((await site.read("/connector/chat/config")).status, 404);

  const article = { contentId: "a", path: "/second/news", title: "News", content: "<p>News of the second.</p>" };
  const page = { contentId: "b", type: "page", path: "/second/about", title: "About", content: "<p>About us.</p>" };
  const below = { contentId: "c", type: "page", path: "/second/about/team", title: "Team", content: "<p>Three.</p>" };
  for (const one of [article, page, below]) {
    const { path } = await done("publish_article", { ...one, action: "publish" });
    assert.equal(path, `${one.path}/`);
  }
  await done("apply_seo_overlay", { path: "/second/news", title: "The head of the second" });
  assert.match((await site.read("/second/news/")).html, />The head of the second<\/title>/);
  // An article at the address of a page that the site has takes its place, and gives it back.
  const sample = { ...page, contentId: "d", path: "/second/sample-page", content: "<p>In its place.</p>" };
  await done("publish_article", { ...sample, action: "publish" });
  assert.match((await site.read("/second/sample-page/")).html, /In its place\./);
  await done("delete_article", sample);
  assert.match((await site.read("/second/sample-page/")).html, /This is an example page/);

  work("chat_widget_reconcile");
  const paths = (await service.site()).content.map(({ path }) => path);
  assert.ok(paths.includes("/second/news/") && paths.every((path) => path.startsWith("/second/")), paths.join());
  assert.equal(
    site.php("echo json_encode(wp_count_posts('post')->publish);"),
    "1",
    "the first site has its own post only",
  );
  addSite(site, "third");
  site.php("ChatWidget\\Database::open(); echo 'null';", "$_SERVER['REQUEST_URI'] = '/third/';");
  const tables = () => site.php(`echo json_encode($wpdb->get_col("SHOW TABLES LIKE '%chat_widget%'"));`);
  assert.equal(tables().length, 8);
  site.php("require_once ABSPATH . 'wp-admin/includes/admin.php'; wp_delete_site(3); echo 'null';");
  assert.equal(tables().length, 4, "a deleted site takes its tables with it");
  site.php(`define('WP_UNINSTALL_PLUGIN', true); require WP_PLUGIN_DIR . '/chat-widget/uninstall.php'; echo 'null';`);
  assert.deepEqual(tables(), []);
  assert.deepEqual(
    second(
      `echo json_encode($wpdb->get_col("SELECT option_name FROM $wpdb->options WHERE option_name LIKE '%chat_widget%'"));`,
    ),
    [],
  );
});
