// A disk that becomes full, and free again.

import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Advice } from "../setup.mjs";

const SIZE = "96m";
const BLOCK = Buffer.alloc(64 * 1024);

/** A small file system in memory, which a file fills. Only root can mount one. */
class MountedDisk {
  /** How the disk becomes full, for the report. */
  kind = "a file system of its own";
  /** The program and arguments that start a service on this disk. */
  wrap = [];

  constructor(folder) {
    this.folder = folder;
    this.filler = join(folder, "filler");
  }

  /** Uses up the space, to the last byte. */
  fill() {
    const file = openSync(this.filler, "w");
    try {
      for (let block = BLOCK; block.length > 0; ) {
        try {
          writeSync(file, block);
        } catch {
          block = block.subarray(0, Math.floor(block.length / 2));
        }
      }
    } finally {
      closeSync(file);
    }
  }

  free() {
    rmSync(this.filler, { force: true });
  }

  remove() {
    spawnSync("umount", ["-l", this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** A limit of the size of files, which each process has of its own. It needs no rights. */
class LimitedDisk {
  kind = "a limit of the size of files";
  // With the signal ignored, a write beyond the limit fails, as on a full disk.
  wrap = ["sh", "-c", 'trap "" XFSZ; exec "$@"', "sh"];

  constructor(folder) {
    this.folder = folder;
  }

  fill(pids) {
    for (const pid of pids) limit(pid, "1");
  }

  free(pids) {
    for (const pid of pids) limit(pid, "unlimited");
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function limit(pid, size) {
  const { status, stderr } = spawnSync("prlimit", ["--pid", String(pid), `--fsize=${size}:unlimited`], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Advice(`prlimit failed: ${stderr}`);
}

/** Creates a disk at a folder: a file system of its own as root, else a limit of the size of files. */
export function createDisk(folder, { mount = process.getuid?.() === 0 } = {}) {
  mkdirSync(folder, { recursive: true });
  const mounted = mount && spawnSync("mount", ["-t", "tmpfs", "-o", `size=${SIZE}`, "tmpfs", folder]).status === 0;
  return mounted ? new MountedDisk(folder) : new LimitedDisk(folder);
}
