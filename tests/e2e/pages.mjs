// Pages of a test that replace the shop's first one under its policy.

import { shopWith } from "./chat.mjs";

/**
 * Prepares a visit of a page with this body. A module in it becomes a file, because the policy forbids inline scripts.
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

/** Prepares a visit of a page with a module and a body. */
export const pageWith = (code, body = "") => pageOf(`${body}<script type="module">${code}</script>`);

/** Returns the code with the import of a page without a bundler. */
export const unbundled = (code) => code.replace('"@site-connector/chat-widget"', '"/chat-widget/chat-widget.mjs"');
