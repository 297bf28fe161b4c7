// States of the whole console: a lost network, dark, right to left, and a very narrow screen.

import assert from "node:assert/strict";
import { button, field, log, reply, row } from "../../../e2e/inbox.mjs";
import { operatorScene } from "../scene.mjs";

operatorScene("The network is lost", async ({ page, open, visitor, step }) => {
  const xenia = await visitor({ name: "Xenia Moor" }, "Is the shop open today?");
  await open(`inbox/${xenia.conversationId}`);
  await log(page).getByText("open today").waitFor();
  // A live message proves that the stream is open.
  await xenia.say("On Sunday as well?");
  await log(page).getByText("On Sunday as well?").waitFor();
  const banner = page.getByRole("status").filter({ hasText: "Connection lost." });
  await step("The banner", () => page.context().setOffline(true), { shows: [banner, field(page)] });
  await step(
    "A reply waits",
    async () => {
      await reply(page, "Until six.");
      await button(page, "Try now").waitFor();
      // The banner says everything.
      assert.equal(await page.locator(".toast").count(), 0);
    },
    { shows: [banner, button(page, "Try now"), log(page).getByText("Until six.")] },
  );
  await step(
    "The network is back",
    async () => {
      await page.context().setOffline(false);
      await banner.waitFor({ state: "detached", timeout: 30_000 });
    },
    { shows: [log(page).getByText("Sent", { exact: true })] },
  );
});

operatorScene("In the dark", { context: { colorScheme: "dark" } }, async ({ page, open, visitor, step }) => {
  const yara = await visitor({ name: "Yara Diop" }, "How long does delivery take?", "Can I talk to a real person?");
  await step("A conversation", () => open(`inbox/${yara.conversationId}`), {
    shows: [log(page).getByText("real person").first(), field(page)],
  });
  await step("Settings", () => open("settings/labels"), { shows: [page.getByRole("heading", { level: 1 })] });
  await step("Reports", () => open("reports"), { shows: [page.getByRole("heading", { level: 1 })] });
});

/** Returns the number of names that do not begin at the side of the picture, right to left. It runs in the page. */
function farFromPicture(names) {
  const range = document.createRange();
  return names.filter((name) => {
    range.selectNodeContents(name);
    return Math.abs(range.getBoundingClientRect().right - name.getBoundingClientRect().right) > 2;
  }).length;
}

operatorScene("From right to left", { context: { locale: "ar" } }, async ({ page, open, visitor, step }) => {
  const zain = await visitor({ name: "زين العابدين" }, "هل يمكنني التحدث إلى شخص؟");
  const arabicRow = (name) => page.locator(".inbox-rows .row").filter({ hasText: name });
  await step(
    "The list",
    async () => {
      await open("");
      await arabicRow("Mia Rossi").waitFor();
      assert.equal(await page.locator("html").getAttribute("dir"), "rtl");
      assert.equal(await page.locator(".row-name").evaluateAll(farFromPicture), 0, "names beside their pictures");
    },
    { shows: [arabicRow("زين العابدين").first()] },
  );
  await step("A conversation", () => open(`inbox/${zain.conversationId}`), {
    shows: [log(page).getByText("هل يمكنني").first(), field(page)],
  });
  await step("Settings", () => open("settings/labels"), { shows: [page.getByRole("heading", { level: 1 })] });
});

const NARROW = { viewport: { width: 320, height: 640 }, hasTouch: true, isMobile: true };

operatorScene("At 320 px", { sizes: ["phone"], context: NARROW }, async ({ page, open, visitor, step }) => {
  const zoe = await visitor({ name: "Zoë Vandenberghe-Castellanos" }, "Can I talk to a real person about my order?");
  const list = async () => {
    await open("");
    // The list begins with the visitors who have waited longest.
    await row(page, "Zoë").first().scrollIntoViewIfNeeded();
  };
  await step("The list", list, { shows: [row(page, "Zoë").first(), page.getByRole("searchbox")] });
  await step("A conversation", () => open(`inbox/${zoe.conversationId}`), {
    shows: [field(page), button(page, "Send"), button(page, "Take over"), log(page).getByText("about my order")],
  });
  await step("Reports", () => open("reports"), { shows: [page.getByRole("heading", { level: 1 })] });
});
