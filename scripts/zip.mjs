// A ZIP archive whose bytes depend on the files alone: sorted names, no times, no owners.

import { createRequire } from "node:module";

/** "Made by Unix", so that the mode of a file counts: readable by all, writable by its owner. */
const UNIX = { os: 3, attrs: 0o100644 << 16 };
/** The first day that a ZIP archive can name, in the local time that fflate writes. */
const FIRST_DAY = new Date(1980, 0, 1);

/** Returns the archive of some files, given as their bytes by their paths. */
export function zip(files) {
  // The scripts that import this file install the packages first.
  const { zipSync } = createRequire(import.meta.url)("fflate");
  const sorted = Object.fromEntries(Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1)));
  return Buffer.from(zipSync(sorted, { level: 9, mtime: FIRST_DAY, ...UNIX }));
}
