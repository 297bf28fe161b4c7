//! Rules about the content of a page: headings, text, links, pictures and structured data.

use super::{Rule, Severity, define};

define! { CONTENT;
H1_MISSING "h1-missing" Warning
"The page has no main heading"
"Screen readers and search engines learn from it what the page is about."
"Make the name of the page an <h1>."
H1_MULTIPLE "h1-multiple" Note
"The page has several main headings"
"It is less clear what the page is about."
"Keep one <h1>, and make the others <h2>."
HEADING_SKIPPED "heading-skipped" Note
"The outline skips a level of headings"
"People who navigate by headings believe to have missed a part."
"Use the next level, and style it by CSS."
HEADING_EMPTY "heading-empty" Warning
"A heading is empty"
"Screen readers announce a heading without a name."
"Remove the heading, or give it a text."
CONTENT_EMPTY "content-empty" Warning
"The page has no text"
"Readers without scripts, search engines and answer engines find nothing. A page that a script fills is empty for most of them."
"Send the text with the page, or keep the page out of search."
CONTENT_THIN "content-thin" Note
"The page has little text"
"Search and answer engines rarely show pages with fewer than 50 words."
"Say more, join the page with another one, or keep it out of search."
CONTENT_DUPLICATE "content-duplicate" Warning
"Several pages have the same text"
"Search engines show one of them, which may be the wrong one."
"Let the copies name one page as their canonical address, or redirect them."
CONTENT_NEAR_DUPLICATE "content-near-duplicate" Note
"The text is almost the same as that of another page"
"Search engines may show only one of them."
"Join the pages, or say on each what only it has."
LINK_BROKEN "link-broken" Error
"A link leads to a page that does not exist"
"Readers see an error, and search engines lose the trail."
"Correct the address, or remove the link."
LINK_FRAGMENT "link-fragment-broken" Warning
"A link leads to a place that the page does not have"
"The browser stays at the top of the page."
"Correct the part behind #, or add an id to the target."
LINK_REDIRECT "link-redirect" Note
"A link leads to a redirect"
"Each redirect costs readers time."
"Link to the final address."
REDIRECT_CHAIN "redirect-chain" Warning
"A link leads through several redirects"
"Each costs readers time, and crawlers give up after a few."
"Redirect to the final address at once, and link to it."
REDIRECT_LOOP "redirect-loop" Error
"A redirect leads back to itself"
"Nobody can ever open the page."
"Correct the target of the redirect."
LINK_NO_TEXT "link-without-text" Warning
"A link has no name"
"Screen readers read out the address, and search engines do not learn what it leads to (WCAG 2.4.4)."
"Write a text into the link, an alternative text for its picture, or aria-label."
LINK_GENERIC "link-text-generic" Note
"The text of a link does not say where it leads"
"\"Click here\" tells nothing to people who jump from link to link, nor to search engines."
"Name the target in the text."
LINK_HTTP "link-http" Warning
"A link to the own site is not secure"
"The address is http, although the site is https: readers pass through a redirect in clear text."
"Write https, or leave out the host."
LINK_LOCAL "link-local-address" Warning
"The page refers to an address of the developer's machine"
"localhost, 127.0.0.1 and file: mean the reader's own machine."
"Write the public address."
LINK_MALFORMED "link-malformed" Warning
"A link has an address that cannot be parsed"
"Browsers cannot open it."
"Correct the address."
LINK_SCRIPT "link-script" Note
"A link has a script in place of an address"
"Search engines do not follow it, and it cannot be opened in a new tab."
"Use a <button>, or a real address."
ID_DUPLICATE "id-duplicate" Note
"Several elements have the same id"
"Links, labels and scripts find only the first one."
"Give each element an id of its own."
IMAGE_ALT_MISSING "image-alt-missing" Error
"A picture has no alternative text"
"People who do not see it learn nothing of it; the HTML standard and WCAG 1.1.1 require the attribute."
"Add alt with what the picture shows, or alt=\"\" if it is a decoration."
IMAGE_ALT_FILE "image-alt-file-name" Warning
"The alternative text of a picture is the name of its file"
"Screen readers read out the file's name."
"Say what the picture shows."
IMAGE_SIZE "image-size-missing" Note
"A picture has no size"
"The page jumps when the picture arrives."
"Add the attributes width and height, in pixels of the file."
IMAGE_BROKEN "image-broken" Error
"A picture does not exist"
"Browsers show a broken picture."
"Correct the address, or add the file."
RESOURCE_BROKEN "resource-broken" Error
"A script, style sheet or frame does not exist"
"The page lacks what the file would do."
"Correct the address, or add the file."
MIXED_CONTENT "mixed-content" Error
"A secure page loads a script, style sheet or frame insecurely"
"Browsers block it."
"Write https."
MIXED_IMAGE "mixed-content-image" Warning
"A secure page loads a picture, sound or video insecurely"
"Browsers change the address to https, and show nothing if the server does not know it."
"Write https."
DATA_INVALID_JSON "structured-data-invalid-json" Error
"Structured data is no valid JSON"
"Search engines ignore all of it."
"Correct the syntax; typical are a trailing comma and quotes that are not escaped."
DATA_NO_TYPE "structured-data-no-type" Warning
"Structured data has no type"
"Search engines cannot know what is described."
"Add \"@type\", such as \"Product\"."
DATA_NO_CONTEXT "structured-data-no-context" Warning
"Structured data does not name its vocabulary"
"Without \"@context\", its words have no meaning."
"Add \"@context\": \"https://schema.org\"."
DATA_MISSING "structured-data-property-missing" Warning
"Structured data lacks a property that search engines require"
"The page gets no rich result for it."
"Add the property, with what the page shows."
DATA_VALUE "structured-data-value-invalid" Error
"Structured data has a value that is not valid"
"The value contradicts the definition of its property, and is ignored."
"Write dates as 2026-05-31, prices as 12.90 without a currency sign, currencies as EUR, ratings within their scale."
DATA_BREADCRUMB "structured-data-breadcrumb-order" Error
"The positions of a breadcrumb are not 1, 2, 3 …"
"Search engines order the parts by them."
"Number the parts from 1 on, without gaps."
DATA_NOT_VISIBLE "structured-data-not-visible" Warning
"A question or answer of the structured data is not on the page"
"Search engines require that readers see what the data says, and may punish the site."
"Show the same text on the page, or remove it from the data."
ARTICLE_NO_DATE "article-date-missing" Note
"An article has no date"
"Readers and answer engines cannot tell whether it still holds."
"Add datePublished and dateModified to its structured data."
ARTICLE_NO_AUTHOR "article-author-missing" Note
"An article has no author"
"Readers and answer engines prefer texts that somebody vouches for."
"Add author to its structured data, with a name."
ARTICLE_FUTURE "article-date-future" Warning
"An article is dated in the future"
"It contradicts itself until then."
"Correct datePublished or dateModified."
ARTICLE_ORDER "article-date-order" Error
"An article was changed before it was published"
"dateModified is earlier than datePublished: one of them is wrong."
"Correct the dates."
ARTICLE_OLD "article-outdated" Note
"An article was not changed for more than two years"
"Answer engines prefer fresh texts."
"Check whether the article still holds, and date the change."
}
