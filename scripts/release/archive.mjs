// A compressed tar archive whose bytes depend on the files and one time alone: sorted names, root as the owner.

import { gzipSync } from "node:zlib";

const BLOCK = 512;
/** The position of the operating system in the header of gzip, and the value for an unknown one. */
const OS = 9;
const UNKNOWN_OS = 255;
/** The longest name of a file in a header. */
const MAX_NAME = 100;

/** Returns the header of a file. `time` is in seconds since 1970. */
function header(path, { bytes, mode }, time) {
  if (Buffer.byteLength(path) > MAX_NAME)
    throw new Error(`invalid path: expected at most ${MAX_NAME} bytes, got ${path}`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value, offset, length) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
  block.write(path, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(bytes.length, 124, 12);
  octal(time, 136, 12);
  block.write("0", 156);
  block.write("ustar\x0000", 257, "latin1");
  block.write("root", 265);
  block.write("root", 297);
  // The checksum counts its own field as spaces.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** Returns the archive of some files, given as `{ bytes, mode }` by their paths. `time` is in seconds since 1970. */
export function tarGz(files, time) {
  const blocks = Object.keys(files)
    .sort()
    .flatMap((path) => {
      const { bytes } = files[path];
      return [header(path, files[path], time), bytes, Buffer.alloc((BLOCK - (bytes.length % BLOCK)) % BLOCK)];
    });
  const compressed = gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * BLOCK)]), { level: 9 });
  compressed[OS] = UNKNOWN_OS;
  return compressed;
}
