// Pages of a test's own, in place of the shop's first one and under its policy.

import { shopWith } from "./chat.mjs";

/**
 * To prepare a visit: a page with this body. A module that is written into it becomes a file, since the policy lets
 * nothing else run.
 */
export const pageOf =
  (body, { head = "", headers } = {}) =>
  async (page) => {
    const modules = [];
    const html = body.replace(/<script type="module">([^]*?)<\/script>/g, (_, code) => {
      modules.push(code);
      return `<script type="module" src="/chat-widget/page-${modules.length}.mjs"></script>`;
    });
    for (const [index, code] of modules.entries()) {
      await page.route(`**/chat-widget/page-${index + 1}.mjs`, (route) =>
        route.fulfill({ contentType: "text/javascript", body: code }),
      );
    }
    const whole = `<!doctype html><html lang="en"><head><title>Shop</title>${head}</head><body>${html}</body></html>`;
    await shopWith(() => whole, headers)(page);
  };

/** The same with a module, and what it finds in the page. */
export const pageWith = (code, body = "") => pageOf(`${body}<script type="module">${code}</script>`);

/** The module as a page imports it that has no bundler. */
export const unbundled = (code) => code.replace('"@site-connector/chat-widget"', '"/chat-widget/chat-widget.mjs"');
