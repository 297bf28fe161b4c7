//! Rules about the site as a whole: orphans, robots and sitemaps.

use super::{Rule, Severity, define};

define! { SITE;
PAGE_ERROR "page-error" Error
"A page answers with an error of the server"
"Readers and search engines see nothing."
"Look into the log of the server."
PAGE_ORPHAN "page-orphan" Warning
"No page links to this page"
"Readers do not find it, and search engines take it for unimportant."
"Link to it from a page about the same subject, or remove it."
ROBOTS_BLOCKS_SITE "robots-blocks-site" Warning
"robots.txt forbids the whole site to all robots"
"No search engine reads the site. Often a rule of a test system was left behind."
"Remove \"Disallow: /\", unless the site is to stay out of search."
ROBOTS_SYNTAX "robots-syntax" Warning
"robots.txt has a line that robots do not understand"
"The rule has no effect."
"Correct the line: it needs a name such as Disallow, a colon and a value."
ROBOTS_NOINDEX "robots-hides-noindex" Warning
"The page has noindex, but robots.txt forbids reading it"
"Robots never see noindex, and may list the address all the same."
"Allow the page in robots.txt, or remove noindex."
AI_CRAWLER_BLOCKED "ai-crawler-blocked" Note
"robots.txt forbids the site to a crawler of an answer engine"
"Its answers cannot name the site. That may be what you want."
"To be found there, allow the crawler in robots.txt."
SITEMAP_MISSING "sitemap-missing" Note
"The site has no sitemap"
"Search engines find new pages later, and pages without links not at all."
"Add sitemap.xml, and name it in robots.txt."
SITEMAP_INVALID "sitemap-invalid" Error
"The sitemap cannot be read"
"It is no XML with <urlset> or <sitemapindex>, so that search engines ignore it."
"Create the file anew."
SITEMAP_BROKEN "sitemap-broken" Error
"The sitemap lists a page that does not exist"
"Search engines waste their time, and trust the file less."
"Remove the address."
SITEMAP_REDIRECT "sitemap-redirect" Warning
"The sitemap lists an address that redirects"
"A sitemap is to list final addresses."
"List the final address."
SITEMAP_NOINDEX "sitemap-noindex" Error
"The sitemap lists a page that asks not to be indexed"
"The site says both that the page is to be found and that it is not."
"Remove the address, or noindex."
SITEMAP_NOT_CANONICAL "sitemap-not-canonical" Warning
"The sitemap lists a page that names another canonical address"
"A sitemap is to list canonical addresses only."
"List the canonical address instead."
SITEMAP_BLOCKED "sitemap-blocked" Error
"The sitemap lists a page that robots.txt forbids"
"The site asks robots to read a page, and forbids it."
"Remove the address, or allow it."
SITEMAP_FOREIGN "sitemap-foreign-host" Warning
"The sitemap lists an address of another website"
"Search engines ignore it."
"List addresses of the own host only."
SITEMAP_INCOMPLETE "sitemap-incomplete" Note
"The sitemap lacks a page"
"Search engines find the page later, or not at all."
"Add the page, or keep it out of search by noindex."
}
