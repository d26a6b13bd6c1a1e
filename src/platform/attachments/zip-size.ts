/**
 * What a zip archive holds and how large it unpacks, so that a small file cannot fill the memory. What its directory
 * says of sizes is not believed: every entry is unpacked natively under a limit, and only then handed to the library that reads it.
 */
import { inflateRawSync } from 'node:zlib';

const endRecord = 0x06054b50;
const directoryRecord = 0x02014b50;
const longestComment = 0xffff;
/** Fields that are full point to a second, larger directory (zip64), which no document needs. */
const max16 = 0xffff;
const max32 = 0xffffffff;

export interface ZipEntry {
  readonly name: string;
  /** 0: as it is; 8: deflated. */
  readonly method: number;
  readonly packed: Buffer;
}

/**
 * The entries as the directory lists them. Throws when it is no archive or is broken. Strict where readers are
 * lenient: an archive whose directory could be read in two ways might show them another one.
 */
export function* zipEntries(bytes: Buffer): Generator<ZipEntry> {
  const end = findEnd(bytes);
  let at = bytes.readUInt32LE(end + 16);
  const isLarge = [4, 6, 8, 10].some((field) => bytes.readUInt16LE(end + field) === max16);
  if (isLarge || at + bytes.readUInt32LE(end + 12) !== end)
    throw new Error('the directory is not where it should be');
  // Not as many as the record says: readers go on as long as there are entries.
  for (; at < end; at += entryLength(bytes, at)) {
    if (bytes.readUInt32LE(at) !== directoryRecord) throw new Error('the directory is broken');
    if ([20, 24, 42].some((field) => bytes.readUInt32LE(at + field) === max32))
      throw new Error('it is a zip64');
    const method = bytes.readUInt16LE(at + 10);
    const size = bytes.readUInt32LE(at + 20);
    const header = bytes.readUInt32LE(at + 42);
    const data = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
    const name = bytes.toString('utf8', at + 46, at + 46 + bytes.readUInt16LE(at + 28));
    yield { name, method, packed: bytes.subarray(data, data + size) };
  }
}

/** Throws also when it unpacks to more than `maxBytes`. */
export function checkZipSize(bytes: Buffer, maxBytes: number): void {
  let left = maxBytes;
  for (const { method, packed } of zipEntries(bytes)) {
    left -= method === 0 ? packed.length : unpackedLength(packed, left);
    if (left < 0) throw new Error('it unpacks to too much');
  }
}

/** A fixed head, then a name, extra fields and a comment. */
function entryLength(bytes: Buffer, at: number): number {
  return 46 + bytes.readUInt16LE(at + 28) + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32);
}

function unpackedLength(packed: Buffer, maxBytes: number): number {
  return inflateRawSync(packed, { maxOutputLength: Math.max(1, maxBytes) }).length;
}

function findEnd(bytes: Buffer): number {
  const first = Math.max(0, bytes.length - 22 - longestComment);
  for (let at = bytes.length - 22; at >= first; at--) if (bytes.readUInt32LE(at) === endRecord) return at;
  throw new Error('it is no archive');
}
