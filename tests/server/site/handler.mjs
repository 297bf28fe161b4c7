// The handler of a site with a CMS, as a developer writes it.

import { JobFailure, syncPages } from "../../../dist/server/index.mjs";

export function handlerOf(cms, heads, { client, journal }) {
  /** Changes a post once for each job, also if an earlier run was killed within the step. */
  const changing = (post, job, change) => () => {
    if (post.jobs.includes(job.id)) return;
    change(post);
    post.jobs.push(job.id);
    cms.save(post);
  };
  const shown = ({ id, versions }) => {
    const { path, title, content, edited } = versions.at(-1);
    return { externalId: id, path, status: "published", shows: edited ? { content: edited } : { title, content } };
  };
  const known = (contentId) => {
    const post = cms.find(contentId);
    if (post) return post;
    throw new JobFailure("The site does not know the article.", { permanent: true });
  };
  return {
    async publishArticle({ contentId, path, title, content }, { job, step }) {
      const id =
        cms.find(contentId)?.id ??
        (await step("insert", ({ wasBegun }) => (wasBegun && cms.find(contentId)?.id) || cms.insert(contentId)));
      const post = cms.post(id);
      const version = { path, title, content };
      const publish = (post) => {
        post.isPublished = true;
        post.versions.push(version);
      };
      await step("publish", changing(post, job, publish));
      return { externalId: id, path, status: "published" };
    },
    async deleteArticle({ contentId, path }, { job, step }) {
      const post = known(contentId);
      await step(
        "withdraw",
        changing(post, job, () => (post.isPublished = false)),
      );
      const own = cms.own(path);
      return own ? { status: "restored", shows: { content: own } } : { status: "deleted" };
    },
    async rollBackArticle({ contentId }, { job, step }) {
      const post = known(contentId);
      const rollBack = () => (post.isPublished ? post.versions.pop() : (post.isPublished = true));
      await step("roll back", changing(post, job, rollBack));
      return shown(post);
    },
    applySeoOverlay: (overlay, { step }) => step("overlay", () => {}).then(() => heads.apply(overlay)),
    async syncContent(payload, { job }) {
      const snapshotId = `${payload.snapshotId ?? job.id}-${job.attempts}`;
      const synced = await syncPages(cms.pages(), { client, journal, snapshotId, isSnapshot: true });
      return { status: "synced", data: { items: synced.items } };
    },
  };
}
