// A ZIP archive whose bytes depend on the files alone: sorted names, no times, no owners.

import { deflateRawSync } from "node:zlib";

/** The first day that a ZIP archive can name: 1 January 1980. */
const DATE = 0x21;
/** The version that can read deflated files. */
const VERSION = 20;
/** The flag for names in UTF-8. */
const UTF8 = 0x800;
const DEFLATED = 8;
/** "Made by Unix", so that the mode of a file counts: readable by all, writable by its owner. */
const MADE_BY = (3 << 8) | VERSION;
const MODE = 0o100644;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** Returns the CRC-32 of some bytes. */
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) crc = (crc >>> 8) ^ CRC_TABLE[(crc ^ byte) & 255];
  return ~crc >>> 0;
}

/** Returns the fields that both headers of a file share. */
function sharedFields(path, bytes, deflated) {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(VERSION, 0);
  fields.writeUInt16LE(UTF8, 2);
  fields.writeUInt16LE(DEFLATED, 4);
  fields.writeUInt16LE(DATE, 8);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(deflated.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(Buffer.byteLength(path), 22);
  return fields;
}

/** Returns the archive of some files, given as their bytes by their paths. */
export function zip(files) {
  const [parts, directory] = [[], []];
  let offset = 0;
  for (const path of Object.keys(files).sort()) {
    const deflated = deflateRawSync(files[path], { level: 9 });
    const fields = sharedFields(path, files[path], deflated);
    const name = Buffer.from(path);
    const start = Buffer.from("PK\x01\x02\0\0", "latin1");
    start.writeUInt16LE(MADE_BY, 4);
    // No comment, the first disk, no attributes of MS-DOS; the mode is the upper half of the attributes.
    const rest = Buffer.alloc(14);
    rest.writeUInt16LE(MODE, 8);
    rest.writeUInt32LE(offset, 10);
    directory.push(start, fields, rest, name);
    const local = [Buffer.from("PK\x03\x04"), fields, name, deflated];
    parts.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, index, end]);
}
