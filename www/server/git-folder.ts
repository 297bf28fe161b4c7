// Articles as files of a Git folder: publishing is a commit, and so are deleting and rolling back.

import { lstat, mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ConnectorError } from "./connector-error.js";
import { gitIn } from "./git.js";
import { type Article, type HandlerResult, type JobContext, JobFailure, type NamedArticle } from "./job-handler.js";
import { keyOf } from "./journal-store.js";
import { oneLine } from "./page-text.js";

/** The settings of a Git folder. */
export interface GitFolderOptions {
  /** The working tree, or a folder in it. */
  folder: string;
  /** Returns the text of an article's file. By default it has the title and the locale as front matter, and then the HTML. */
  render?: (article: Article) => string | Promise<string>;
  /** The ending of the files; `.md` by default. */
  extension?: string;
  /** The author of the commits; `site-connector` by default. */
  author?: { name: string; email: string };
  /** The name of the remote to push to after each commit. */
  pushTo?: string;
}

/** Marks in the messages of commits. */
const JOB = "Site-Connector-Job";
const ARTICLE = "Site-Connector-Article";
const ACTION = "Site-Connector-Action";
const BEFORE = "Site-Connector-Before";
const PATH = "Site-Connector-Path";

type Action = "publish" | "delete" | "roll back";

/** A state of a page: the commit whose file has its text. */
interface Version {
  commit: string;
  /** Whether it is a page of the site's own, from when no article was there. */
  isOwn: boolean;
}

/** The state of an article, read from the commits. */
interface History {
  path: string | undefined;
  /** Oldest first; the last one is shown, unless the article is withdrawn. */
  versions: Version[];
  isWithdrawn: boolean;
  jobs: string[];
}

/** Returns the file of a page within the folder. */
function fileOf(path: string, extension: string): string {
  const parts = path
    .replace(/[?#].*$/s, "")
    .split("/")
    .filter(Boolean);
  const names = (parts.length === 0 ? ["index"] : parts).map((part) => {
    let name: string;
    try {
      name = decodeURIComponent(part);
    } catch {
      name = "";
    }
    if (!/^[^\s.~/\\:*?"<>|\p{C}-][^/\\:*?"<>|\p{C}]*$/u.test(name) || name.length > 200)
      throw new JobFailure(`The path ${oneLine(path)} cannot be the name of a file.`, { permanent: true });
    return name;
  });
  return `${names.join("/")}${extension}`;
}

/** Returns the version that a page shows. */
const shownBy = ({ versions, isWithdrawn }: History) =>
  isWithdrawn ? versions.filter(({ isOwn }) => isOwn).at(-1) : versions.at(-1);

/** Changes a history as a job does. `before` is the commit of a text that a person had put there. */
function replay(history: History, action: Action, version: Version, before: string | undefined): void {
  const { versions, isWithdrawn } = history;
  if (before !== undefined) versions.push({ commit: before, isOwn: versions.length === 0 || isWithdrawn });
  if (action === "publish") versions.push(version);
  else if (action === "roll back" && !isWithdrawn) versions.pop();
  // The article is shown again, also if a person has put a page there since.
  else if (action === "roll back" && versions.at(-1)?.isOwn)
    versions.push(...versions.filter(({ isOwn }) => !isOwn).slice(-1));
  history.isWithdrawn = action === "delete";
}

const defaultText = ({ title, locale, content }: Article) => {
  const matter = Object.entries({ title, locale }).filter(([, value]) => value !== undefined);
  // JSON texts are YAML.
  return `---\n${matter.map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`).join("")}---\n\n${content}\n`;
};

/** Returns the part of a handler that keeps articles in a Git folder. It never touches what people have not committed. */
export function gitFolder(options: GitFolderOptions) {
  const { folder, render = defaultText, extension = ".md", pushTo } = options;
  // An expression in MDX would be executed by the build.
  if (!/^\.[a-z]{1,10}$/.test(extension) || (extension === ".mdx" && options.render === undefined))
    throw new ConnectorError(
      "setup",
      "invalid extension: expected one such as .md, and for .mdx a `render` that escapes expressions",
    );
  const git = gitIn(folder, options.author ?? { name: "site-connector", email: "site-connector@localhost" });

  /** Returns the text of a file in the working tree; `undefined` if there is none. Links are not followed. */
  const working = async (file: string): Promise<string | undefined> => {
    let place = folder;
    for (const [index, name] of file.split("/").entries()) {
      place = join(place, name);
      const found = await lstat(place).catch((error: { code?: string }) => {
        if (error.code === "ENOENT") return undefined;
        throw error;
      });
      if (found === undefined) return undefined;
      if (index === file.split("/").length - 1 ? !found.isFile() : !found.isDirectory())
        throw new JobFailure(`${oneLine(file)} is a link, or something else than a file.`);
    }
    return readFile(place, "utf8");
  };

  const textAt = async (commit: string, file: string): Promise<string | undefined> => {
    const listed = await git(["ls-tree", "--name-only", commit, "--", file]);
    return listed === "" ? undefined : git(["show", `${commit}:./${file}`]);
  };

  const read = async (article: string): Promise<History> => {
    const format = `--format=%H%x00%(trailers:key=${JOB},key=${ACTION},key=${BEFORE},key=${PATH})%x01`;
    const log = await git(["log", "--reverse", `--grep=^${ARTICLE}: ${article}$`, format]);
    const history: History = { path: undefined, versions: [], isWithdrawn: false, jobs: [] };
    for (const entry of log.split("\x01")) {
      const [commit, trailers] = entry.trim().split("\0");
      if (commit === undefined || trailers === undefined) continue;
      const of = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(trailers)?.[1];
      replay(history, of(ACTION) as Action, { commit, isOwn: false }, of(BEFORE));
      history.path ??= JSON.parse(of(PATH) ?? "null") ?? undefined;
      history.jobs.push(of(JOB) ?? "");
    }
    return history;
  };

  /** Makes a file what it should be, in one commit of this file alone. */
  const commit = async (file: string, text: string | undefined, message: string): Promise<void> => {
    const found = await working(file);
    const status = await git(["status", "--porcelain=v1", "--untracked-files=all", "--ignored", "--", file]);
    // What this job has written before it was killed is no change of a person. What is staged is.
    if (status !== "" && (/^[MADRCU]/.test(status) || found !== text))
      throw new JobFailure(`${oneLine(file)} has changes that are not committed. Commit them, and run the job again.`);
    const place = join(folder, file);
    if (text === undefined) {
      if (found !== undefined) await unlink(place);
    } else if (found !== text) {
      await mkdir(dirname(place), { recursive: true });
      await writeFile(`${place}.tmp`, text);
      await rename(`${place}.tmp`, place);
    }
    // Git commits only files that it knows.
    if (text !== undefined) await git(["add", "--intent-to-add", "--force", "--", file]);
    await git(["commit", "--quiet", "--allow-empty", "-m", message, "--only", "--", file]);
  };

  const execute = async (action: Action, article: NamedArticle, { job, step, signal }: JobContext, text?: string) => {
    const name = await keyOf(article.contentId ?? article.externalId ?? article.path ?? "");
    const jobName = await keyOf(job.id);
    const shown = await step("commit", async (): Promise<HandlerResult> => {
      const history = await read(name);
      const path = history.path ?? (action === "publish" ? article.path : undefined);
      if (path === undefined) throw new JobFailure("This folder has not published the article.", { permanent: true });
      if (action === "publish" && article.path !== path)
        throw new JobFailure(`The article is at ${oneLine(path)}, and cannot move.`, { permanent: true });
      const file = fileOf(path, extension);
      const textOf = ({ commit }: Version) => textAt(commit, file);
      if (!history.jobs.includes(jobName)) {
        const head = await textAt("HEAD", file);
        const expected = shownBy(history);
        // The site's own page, or what a person has committed since.
        const isEdited = head !== undefined && head !== (expected && (await textOf(expected)));
        const before = isEdited ? (await git(["rev-parse", "HEAD"])).trim() : undefined;
        const after: History = { ...history, versions: [...history.versions] };
        replay(after, action, { commit: "", isOwn: false }, before);
        const wanted = shownBy(after);
        if (action === "roll back" && (wanted === undefined || history.versions.length === 0))
          throw new JobFailure("There is no earlier version to go back to.", { permanent: true });
        const wantedText = action === "publish" ? text : wanted && (await textOf(wanted));
        const trailers = { [JOB]: jobName, [ARTICLE]: name, [ACTION]: action, ...(before && { [BEFORE]: before }) };
        const lines = Object.entries({ ...trailers, [PATH]: JSON.stringify(path) }).map((pair) => pair.join(": "));
        const subject = `${action[0]!.toUpperCase()}${action.slice(1)} ${oneLine(article.title ?? path).slice(0, 60)}`;
        await commit(file, wantedText, [subject, "", ...lines].join("\n"));
      }
      const { isWithdrawn } = await read(name);
      const status = !isWithdrawn ? "published" : (await textAt("HEAD", file)) === undefined ? "deleted" : "restored";
      return { path, status };
    });
    if (pushTo !== undefined) await step("push", () => git(["push", "--quiet", pushTo, "HEAD"], signal).then(() => {}));
    const isThere = action !== "publish" && shown.status !== "deleted";
    return { ...shown, ...(isThere && { shows: {} }) };
  };

  return {
    publishArticle: async (article: Article, context: JobContext) =>
      execute("publish", article, context, await render(article)),
    deleteArticle: (article: NamedArticle, context: JobContext) => execute("delete", article, context),
    rollBackArticle: (article: NamedArticle, context: JobContext) => execute("roll back", article, context),
  };
}
