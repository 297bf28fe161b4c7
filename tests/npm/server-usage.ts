// A site's server in TypeScript, with the types of Node alone: tests/npm/package.test.mjs compiles it.

import { createServer } from "node:http";
import {
  type Claim,
  ConnectorError,
  type ConnectorProxy,
  connectorProxy,
  databaseJournal,
  JobFailure,
  type JobHandler,
  PageHeads,
  runJobs,
  ServerConnectorClient,
  SyncStoppedError,
  syncPages,
  toNodeHandler,
} from "@site-connector/chat-widget/server";
import { fileJournal, gitFolder } from "@site-connector/chat-widget/server/files";

const proxy: ConnectorProxy = connectorProxy({
  origin: "https://service.example",
  token: "token",
  clientRate: { perMinute: 60, burst: 10 },
  trustedHops: ["10.0.0.0/8"],
});
createServer(toNodeHandler(proxy)).listen(3000);
export const answer: Promise<Response> = proxy(new Request("https://shop.example/connector/chat/config"));
// @ts-expect-error: the token is required.
connectorProxy({ origin: "https://service.example" });

const client = new ServerConnectorClient({
  origin: "https://service.example",
  token: "token",
  backOff: { attempts: 2 },
});

export async function work(): Promise<Claim> {
  const { message, lead } = await client.sendMessage(
    { message: "Hi", visitor: { visitorId: "v" } },
    { messageId: "m" },
  );
  console.log(message?.content.length, lead?.score?.toFixed(1));
  await client.track({ eventType: "cta_clicked", visitorId: "v", eventData: { label: "Buy" } });
  try {
    await client.syncContentPages([{ externalId: "1", type: "page" }], { snapshotId: "s" });
  } catch (error) {
    if (error instanceof SyncStoppedError) console.log(error.page, error.progress.items);
    if (error instanceof ConnectorError) console.log(error.kind === "timeout", error.retryAfterMs?.toFixed());
  }
  const claim = await client.claimNextJob({ signal: AbortSignal.timeout(1000) });
  if (claim.job) await client.completeJob(claim.job.id, { ok: false, claimToken: claim.job.claimToken, error: "no" });
  // @ts-expect-error: a failure has no result.
  await client.completeJob("j", { ok: false, claimToken: "c", result: {} });
  const { token } = await ServerConnectorClient.activate(
    { origin: "https://service.example" },
    { licenseCode: "L", domain: "https://shop.example" },
  );
  console.log(token.length);
  return claim;
}

const journal = fileJournal("state");
const heads = new PageHeads({ client, journal });
const handler: JobHandler = {
  ...gitFolder({ folder: "site", render: async ({ title, content }) => `# ${title}\n${content}`, pushTo: "origin" }),
  async publishArticle({ contentId, path, title, content }, { job, step, signal }) {
    const saved = await step("save", async ({ wasBegun }) => ({ number: wasBegun ? 1 : content.length, at: job.id }));
    if (signal.aborted) throw new JobFailure(`${title} took too long`, { permanent: true });
    return { externalId: contentId ?? saved.at, path, data: { number: saved.number.toFixed() } };
  },
  applySeoOverlay: (overlay) => heads.apply(overlay),
  deleteArticle: ({ path }) => ({ message: `${path?.length}` }),
};

export async function serve(): Promise<void> {
  const summary = await runJobs(handler, {
    client,
    journal,
    site: { origin: "https://shop.example" },
    intervalMs: 5000,
  });
  console.log(summary?.succeeded.toFixed());
  const inDatabase = databaseJournal(async (sql, values) => [{ [sql]: values.length }], { table: "jobs" });
  const { skipped } = await syncPages([{ externalId: "1", type: "page" }], { client, journal: inDatabase });
  console.log(skipped[0]?.reason.length);
  const head = await heads.headFor("/", "en");
  const metadata: { title: string } = head.metadata({ title: "Own" });
  console.log(head.apply("<head></head>"), metadata, head.overlay?.title?.length);
  // @ts-expect-error: the journal is required.
  await runJobs(handler, { client });
}
