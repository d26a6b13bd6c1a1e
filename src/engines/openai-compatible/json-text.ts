/** Scans JSON strings in bytes-in-a-string, without parsing them. */

const quote = 34;
const backslash = 92;
const letterU = 117;
const escapable = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)));

/**
 * The place of the quote that closes a JSON string, or -1 when it is not there, or when what stands before it
 * is no valid JSON and UTF-8: such a text must never be handed on unparsed.
 */
export function stringEnd(bytes: string, from: number, end: number): number {
  let at = from;
  while (at < end) {
    const code = bytes.charCodeAt(at);
    if (code === quote) return at;
    if (code >= 0x80) {
      const length = sequenceLength(bytes, at, code);
      if (length === 0) return -1;
      at += length;
    } else if (code === backslash) {
      const length = escapeLength(bytes, at);
      if (length === 0) return -1;
      at += length;
    } else if (code < 0x20) return -1;
    else at += 1;
  }
  return -1;
}

function escapeLength(bytes: string, at: number): number {
  const code = bytes.charCodeAt(at + 1);
  if (code !== letterU) return escapable.has(code) ? 2 : 0;
  for (let i = at + 2; i < at + 6; i++) if (!isHex(bytes.charCodeAt(i))) return 0;
  return 6;
}

function isHex(code: number): boolean {
  const lower = code | 0x20;
  return (code >= 48 && code <= 57) || (lower >= 97 && lower <= 102);
}

/** Bytes of the UTF-8 sequence that starts here; 0 when it is none (RFC 3629, section 4). */
function sequenceLength(bytes: string, at: number, lead: number): number {
  const second = bytes.charCodeAt(at + 1);
  if (lead >= 0xc2 && lead <= 0xdf) return isTail(second) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const low = lead === 0xe0 ? 0xa0 : 0x80;
    const high = lead === 0xed ? 0x9f : 0xbf;
    return second >= low && second <= high && isTail(bytes.charCodeAt(at + 2)) ? 3 : 0;
  }
  if (lead < 0xf0 || lead > 0xf4) return 0;
  const low = lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xf4 ? 0x8f : 0xbf;
  if (!(second >= low && second <= high)) return 0;
  return isTail(bytes.charCodeAt(at + 2)) && isTail(bytes.charCodeAt(at + 3)) ? 4 : 0;
}

function isTail(code: number): boolean {
  return code >= 0x80 && code <= 0xbf;
}
