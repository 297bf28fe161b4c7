//! Rules about what a page says about itself.

use super::{Rule, Severity, define};

define! { HEAD;
TITLE_MISSING "title-missing" Error
"The page has no title"
"Browsers, bookmarks, search results and screen readers name a page by its title; the HTML standard requires one."
"Write a title of its own for the page into <title>, inside of <head>."
TITLE_DUPLICATE "title-duplicate" Warning
"Several pages have the same title"
"Readers and search engines cannot tell the pages apart in a list of results."
"Name in each title what only this page has, or let copies refer to one page by their canonical address."
TITLE_LONG "title-too-long" Warning
"The title is wider than search results show"
"Search results cut titles at about 600 pixels, so that the end is not seen."
"Put what matters first, and shorten the title to 600 pixels: about 60 Latin or 30 Chinese or Japanese characters."
TITLE_CUT "title-cut" Warning
"The title is cut off"
"A title that ends in an ellipsis or a separator is unfinished, and looks so in search results."
"Write the title to its end; a template may cut it, or have an empty part."
TITLE_MULTIPLE "title-multiple" Warning
"The page has several titles"
"The HTML standard allows one, and browsers use the first."
"Remove all but one <title>. Often a theme and a plugin write one each."
DESCRIPTION_MISSING "description-missing" Warning
"The page has no description"
"Search engines then choose a part of the text, which may be a menu or a notice."
"Add <meta name=\"description\"> with one or two sentences that say what the reader finds on the page."
DESCRIPTION_DUPLICATE "description-duplicate" Warning
"Several pages have the same description"
"It describes none of them, and search engines ignore it."
"Describe each page by itself, or leave the description out where you cannot."
DESCRIPTION_LONG "description-too-long" Note
"The description is longer than search results show"
"Search results cut descriptions at about 920 pixels: 160 Latin or 65 Chinese or Japanese characters."
"Say the most important thing within the first 150 characters, or shorten the description."
DESCRIPTION_SHORT "description-too-short" Note
"The description is very short"
"A few words rarely tell more than the title, and search engines often replace them."
"Write one or two whole sentences."
DESCRIPTION_CUT "description-cut" Warning
"The description is cut off"
"A sentence that ends in an ellipsis was cut by a template, and is shown so in search results."
"Write whole sentences instead of the beginning of the text."
DESCRIPTION_MULTIPLE "description-multiple" Warning
"The page has several descriptions"
"Which one is used is not defined."
"Remove all but one <meta name=\"description\">. Often a theme and a plugin write one each."
DESCRIPTION_TITLE "description-repeats-title" Note
"The description only repeats the title"
"It tells readers nothing new."
"Say in a sentence what the reader finds on the page."
HEAD_IN_BODY "head-element-in-body" Warning
"An element of the head is in the body"
"Browsers end the head at the first element that does not belong into it. Search engines ignore canonical addresses, robots rules and translations that come later."
"Move the element into <head>, before any <div>, <img> or <iframe>, which end the head."
CANONICAL_MULTIPLE "canonical-multiple" Error
"The page has several different canonical addresses"
"Search engines ignore all of them if they differ."
"Keep one <link rel=\"canonical\">."
CANONICAL_INVALID "canonical-invalid" Error
"The canonical address is no web address"
"It is empty or cannot be parsed, and search engines ignore it."
"Write the full address of the page, such as https://shop.example/mugs.html."
CANONICAL_BROKEN "canonical-broken" Error
"The canonical address does not exist"
"The page asks search engines to list another page instead, which is not there."
"Correct the address, or remove the element."
CANONICAL_CHAIN "canonical-chain" Warning
"The canonical page names another canonical page, or moves readers on"
"Search engines may follow neither of them."
"Name the last address of the chain."
CANONICAL_NOINDEX "canonical-to-noindex" Error
"The canonical page asks not to be indexed"
"The page says that the other one is to be listed, and the other one says that it is not to be: neither may be."
"Remove noindex from the canonical page, or name another page."
CANONICAL_AND_NOINDEX "canonical-and-noindex" Warning
"The page has noindex and a canonical address elsewhere"
"One says that the page is a copy, the other that it is not to be listed; search engines may apply noindex to both."
"Use only one of them."
CANONICAL_FOREIGN "canonical-foreign-host" Warning
"The canonical address is on another website"
"The page asks search engines to list the other website instead of this one."
"If this site is the original, write its own address."
CANONICAL_RELATIVE "canonical-relative" Note
"The canonical address is not a full address"
"A copy of the page on another host, such as a test system, then names itself."
"Write the full address, with https:// and the host."
CANONICAL_HTTP "canonical-http" Warning
"The canonical address is http, and the site is https"
"The address leads to a redirect, or to an insecure copy of the page."
"Write https."
HREFLANG_INVALID "hreflang-invalid" Error
"The language of a translation is not valid"
"Search engines know languages by ISO 639-1 and regions by ISO 3166-1, and ignore anything else."
"Write a language such as en, with a region if needed (en-GB), or x-default."
HREFLANG_BROKEN "hreflang-broken" Error
"A translation does not exist"
"The page names an address that is not there."
"Correct or remove the address."
HREFLANG_CONFLICT "hreflang-conflict" Error
"Several addresses are named for the same language"
"Search engines cannot know which one is meant."
"Name one address for each language."
HREFLANG_NO_RETURN "hreflang-no-return" Warning
"A translation does not name this page"
"Translations must name each other. Search engines ignore those that do not."
"Add the same list of translations to each of the pages."
HREFLANG_NO_SELF "hreflang-no-self" Warning
"The list of translations lacks the page itself"
"Each page of a group is to name all of them, itself included."
"Add a <link rel=\"alternate\" hreflang> with the page's own language and address."
HREFLANG_NOT_CANONICAL "hreflang-not-canonical" Warning
"A translation is a page that names another canonical address, or asks not to be indexed"
"Search engines ignore translations that they do not list."
"Name the canonical address of the translation."
LANG_MISSING "lang-missing" Warning
"The page does not say its language"
"Screen readers choose a voice by it, browsers hyphenate and translate by it (WCAG 3.1.1)."
"Add the language to the root: <html lang=\"en\">."
LANG_INVALID "lang-invalid" Error
"The language of the page is not valid"
"It is no language tag as BCP 47 defines it, so that browsers and screen readers ignore it."
"Write a tag such as de or pt-BR."
LANG_MISMATCH "lang-mismatch" Warning
"The text is not in the script of the page's language"
"Screen readers read it with the wrong voice, and browsers offer the wrong translation."
"Correct the attribute lang of <html>."
VIEWPORT_MISSING "viewport-missing" Warning
"The page has no viewport"
"Phones then show it as on a desktop, with tiny letters."
"Add <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">."
VIEWPORT_ZOOM "viewport-blocks-zoom" Warning
"The page prevents zooming"
"People who do not see well cannot enlarge the text (WCAG 1.4.4)."
"Remove user-scalable=no, and maximum-scale below 2."
CHARSET_MISSING "charset-missing" Warning
"The page does not say its encoding"
"Browsers guess it, and may show wrong letters."
"Add <meta charset=\"utf-8\"> as the first element of <head>."
ENCODING_BROKEN "encoding-broken" Error
"The page has bytes that are not valid in its encoding"
"Browsers show a replacement character for each."
"Save the file in the encoding that it names, UTF-8 if possible."
ROBOTS_CONFLICT "robots-conflict" Warning
"The page has contradictory rules for robots"
"Search engines follow the stricter one, so that the page may be missing from search."
"Keep one <meta name=\"robots\">."
OG_INCOMPLETE "og-incomplete" Warning
"The preview for social networks is incomplete"
"Open Graph requires title, type, image and url; without them, networks choose a text and a picture themselves."
"Add the missing properties."
OG_MISSING "og-missing" Note
"The page has no preview for social networks"
"Shared links show a text and a picture that the network chooses."
"Add og:title, og:type, og:url, og:image and og:description."
OG_URL_CONFLICT "og-url-conflict" Warning
"The address for social networks is not the canonical address"
"Likes and shares count for another address than the one in search."
"Write the canonical address into og:url."
OG_IMAGE_RELATIVE "og-image-not-absolute" Warning
"The picture for social networks has no full address"
"Most networks do not resolve relative addresses, and show no picture."
"Write the full address, with https:// and the host."
TWITTER_CARD_INVALID "twitter-card-invalid" Warning
"The type of the Twitter card does not exist"
"X shows no card for it."
"Write summary, summary_large_image, app or player."
}
