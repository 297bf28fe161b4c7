// A journal in a folder of files, one for each key, for its owner only.

import { link, lstat, mkdir, open, readdir, readFile, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { JournalStore } from "./journal-store.js";
import { randomId } from "./keys.js";

/** The age at which a file that a killed process left unfinished is removed. */
const UNFINISHED_MS = 60 * 60 * 1000;

const codeOf = (error: unknown) => (error as { code?: string }).code ?? "";

/** Returns the result of a call, or `other` if it fails with a code. */
const unless = <Data, Other>(code: string, call: Promise<Data>, other: Other) =>
  call.catch((error: unknown) => {
    if (codeOf(error) === code) return other;
    throw error;
  });

/**
 * Returns a journal in a folder of a local disk, which is created if it is missing. A value is written beside the old one,
 * flushed and renamed, so that a killed process and a power cut leave the old value or the new one.
 */
export function fileJournal(folder: string): JournalStore {
  const fileOf = (key: string) => join(folder, encodeURIComponent(key));

  /** Flushes the names of the folder's files. Windows has no such call. */
  const flushNames = async () => {
    try {
      const names = await open(folder, "r");
      await names.sync().finally(() => names.close());
    } catch (error) {
      if (!["EPERM", "EISDIR", "EACCES", "EINVAL"].includes(codeOf(error))) throw error;
    }
  };

  const removeUnfinished = async () => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder)) {
      if (!/^\..*\.tmp$/.test(name)) continue;
      const file = join(folder, name);
      const found = await unless("ENOENT", lstat(file), undefined);
      if (found && Date.now() - found.mtimeMs > UNFINISHED_MS) await unless("ENOENT", unlink(file), undefined);
    }
  };
  let prepared: Promise<void> | undefined;
  const prepare = () => {
    prepared ??= removeUnfinished().catch((error: unknown) => {
      prepared = undefined;
      throw error;
    });
    return prepared;
  };

  /** Writes a new file, and gives it its place. */
  const write = async (key: string, value: string, place: (from: string, to: string) => Promise<void>) => {
    await prepare();
    const unfinished = join(folder, `.${randomId()}.tmp`);
    const file = await open(unfinished, "wx", 0o600);
    try {
      await file
        .writeFile(value)
        .then(() => file.sync())
        .finally(() => file.close());
      await place(unfinished, fileOf(key));
    } catch (error) {
      await unlink(unfinished).catch(() => {});
      throw error;
    }
    await flushNames();
  };

  return {
    get: (key) => unless("ENOENT", readFile(fileOf(key), "utf8"), undefined),
    set: (key, value) => write(key, value, rename),
    create: (key, value) =>
      unless(
        "EEXIST",
        write(key, value, async (from, to) => {
          // Unlike a rename, this fails if the file exists.
          await link(from, to);
          await unlink(from);
        }).then(() => true),
        false,
      ),
    async delete(key) {
      await unless("ENOENT", unlink(fileOf(key)), undefined);
      await flushNames();
    },
    async list(prefix) {
      await prepare();
      const names = (await readdir(folder)).filter((name) => !name.startsWith("."));
      return names.map(decodeURIComponent).filter((key) => key.startsWith(prefix));
    },
  };
}
