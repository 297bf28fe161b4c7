// What a bundle for a browser gets in place of the server library: none of its names, and an error.

// Without any export, esbuild takes the file for CommonJS, and builds the page with a warning.
export default undefined;

throw new Error(
  "@site-connector/chat-widget/server needs the site token, which a page must never have: import it on a server. For a page, import BrowserWidgetClient from @site-connector/chat-widget/client.",
);
