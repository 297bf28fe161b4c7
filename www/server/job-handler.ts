// The functions by which a site carries out each kind of job, and their arguments.

import type { ConnectorErrorDetails } from "./connector-error.js";
import { printable } from "./connector-error.js";
import { type PageOverlay, readOverlay } from "./overlay.js";
import type { ClaimedJob, Job, JobResult } from "./types.js";

/** An article of a job. */
export interface Article {
  /** The service's id. */
  contentId?: string;
  /** The site's id, as the site reported it. */
  externalId?: string;
  /** The kind of content, such as `post`. */
  type?: string;
  locale?: string;
  /** The path on the site, such as `/guides/glaze`. */
  path: string;
  title: string;
  /** HTML of people and of the service: clean it as a text of authors. */
  content: string;
}

/** An article of which the service may send only the names. */
export type NamedArticle = Partial<Article>;

/** The outcome of a handler. Only the members of a result are reported. */
export interface HandlerResult extends JobResult {
  /** What visitors must see at the page, if it is not what the job contains. */
  shows?: { title?: string | undefined; content?: string | undefined };
  /** Takes the change back, if visitors do not see it. */
  undo?: () => Promise<unknown>;
}

/** The job that a handler executes. */
export interface JobContext {
  job: Job;
  /** Aborts when the lease is about to expire. */
  signal: AbortSignal;
  /**
   * Executes a step once for each job: the journal has what it returned, which must be JSON of at most 32 KiB, and a later
   * run of the job gets it from there. A process that was killed within the step leaves it undecided: then `wasBegun` is
   * true, and the step must find out. It rejects when the lease is about to expire, or when another runner has taken over.
   */
  step<Data>(name: string, work: (step: { wasBegun: boolean }) => Data | Promise<Data>): Promise<Data>;
}

/** The return value of a handler. */
type Handled = HandlerResult | Promise<HandlerResult>;

/** The functions by which a site carries out each kind of job. A job of a kind that the handler lacks fails for good. */
export interface JobHandler {
  publishArticle?(article: Article, context: JobContext): Handled;
  /** Removes an article. The page that the site had there before comes back. */
  deleteArticle?(article: NamedArticle, context: JobContext): Handled;
  /** Goes back to the version before; an article that was deleted comes back. */
  rollBackArticle?(article: NamedArticle, context: JobContext): Handled;
  /** Stores what a page has in its head. An overlay without content takes the earlier one back. */
  applySeoOverlay?(overlay: PageOverlay, context: JobContext): Handled;
  syncContent?(payload: Record<string, unknown>, context: JobContext): Handled;
}

/** The reason of a failed job. The service shows the text to people. */
export class JobFailure extends Error {
  override readonly name = "JobFailure";
  /** Whether every other attempt would fail as well. */
  readonly permanent: boolean;

  constructor(
    message: string,
    { permanent = false, cause }: { permanent?: boolean } & Pick<ConnectorErrorDetails, "cause"> = {},
  ) {
    super(message, { cause });
    this.permanent = permanent;
  }
}

/** A job with its validated payload. */
export type Work =
  | { kind: "publish"; article: Article }
  | { kind: "delete" | "rollBack"; article: NamedArticle }
  | { kind: "overlay"; overlay: PageOverlay }
  | { kind: "sync"; payload: Record<string, unknown> };

const permanent = (message: string) => new JobFailure(message, { permanent: true });

/** Whether a text is the path of a page. One that begins with two slashes is the address of another host. */
export const isPath = (text: string) => /^\/(?![/\\])[^\s\\\p{Cc}]*$/u.test(text);

function readArticle(payload: Record<string, unknown>): NamedArticle {
  const text = (name: string) =>
    typeof payload[name] === "string" && payload[name] !== "" ? payload[name] : undefined;
  const article: Record<string, string> = {};
  for (const name of ["contentId", "externalId", "type", "locale", "path", "title", "content"]) {
    const value = text(name);
    if (value !== undefined) article[name] = value;
  }
  if (article["path"] !== undefined && !isPath(article["path"]))
    throw permanent(`Invalid path ${printable(article["path"])}: expected one such as /guides/glaze.`);
  if (!article["contentId"] && !article["externalId"] && !article["path"])
    throw permanent("The payload names no content.");
  return article;
}

/** Reads what a job wants. Throws a permanent failure if it cannot be read. */
export function readWork({ type, payload: sent }: ClaimedJob): Work {
  const payload = typeof sent === "object" && sent !== null ? sent : {};
  if (type === "sync_content") return { kind: "sync", payload };
  if (type === "apply_seo_overlay") {
    const overlay = readOverlay(payload["overlay"] ?? payload);
    if (overlay === undefined) throw permanent("The overlay names no page.");
    return { kind: "overlay", overlay };
  }
  const [, verb] = /^(publish|delete|rollback)_(?:article|content)$/.exec(type) ?? [];
  if (verb === undefined) throw permanent(`Unknown job type ${printable(String(type))}.`);
  const article = readArticle(payload);
  const action = payload["action"];
  if (verb === "delete" || action === "delete" || action === "unpublish") return { kind: "delete", article };
  if (verb === "rollback" || action === "rollback" || action === "roll_back") return { kind: "rollBack", article };
  const { path, title, content } = article;
  if (path === undefined || title === undefined || content === undefined)
    throw permanent(`The payload has no ${path === undefined ? "path" : title === undefined ? "title" : "content"}.`);
  return { kind: "publish", article: { ...article, path, title, content } };
}

/** Passes a job to its handler. */
export async function handle(handler: JobHandler, work: Work, context: JobContext): Promise<HandlerResult> {
  const unsupported = () => {
    throw permanent(`This site has no handler for jobs of the type ${printable(context.job.type)}.`);
  };
  switch (work.kind) {
    case "publish":
      return (await (handler.publishArticle ?? unsupported).call(handler, work.article, context)) ?? {};
    case "delete":
      return (await (handler.deleteArticle ?? unsupported).call(handler, work.article, context)) ?? {};
    case "rollBack":
      return (await (handler.rollBackArticle ?? unsupported).call(handler, work.article, context)) ?? {};
    case "overlay":
      return (await (handler.applySeoOverlay ?? unsupported).call(handler, work.overlay, context)) ?? {};
    case "sync":
      return (await (handler.syncContent ?? unsupported).call(handler, work.payload, context)) ?? {};
  }
}
