// Syncs COUNT pages, and kills itself after the page STOP_AFTER.

import { fileJournal } from "../../../dist/server/files.mjs";
import { ServerConnectorClient, syncPages } from "../../../dist/server/index.mjs";

const { ORIGIN, TOKEN, PLACE, COUNT, STOP_AFTER } = process.env;
const client = new ServerConnectorClient({ origin: ORIGIN, token: TOKEN, siteId: "shop" });
const pages = Array.from({ length: Number(COUNT) }, (_, number) => ({
  externalId: `${number}`,
  type: "page",
  path: `/page-${number}`,
  title: `Page ${number}`,
}));
const result = await syncPages(pages, {
  client,
  journal: fileJournal(PLACE),
  pageSize: 20,
  onPage: (page) => page === Number(STOP_AFTER) && process.kill(process.pid, "SIGKILL"),
});
console.log(JSON.stringify(result ?? null));
