/**
 * What a message or a log line shows of a text that a client sent: its beginning, and every character visible.
 * A name of 20 MB made an answer of 40 MB and a log line of 20 MB.
 */
const longest = 100;

/** In quotation marks: `"gpt-5"`. */
export function quoted(text: string): string {
  const { start, end } = cut(text);
  return `"${visible(start.replace(/["\\]/g, '\\$&'))}${end}"`;
}

/** Without quotation marks, for a name that stands in a path: `metadata.key`. */
export function shown(text: string): string {
  const { start, end } = cut(text);
  return visible(start) + end;
}

function cut(text: string): { start: string; end: string } {
  if (text.length <= longest) return { start: text, end: '' };
  // Half of a pair of surrogates would be no character at all.
  return { start: text.slice(0, longest).replace(/[\ud800-\udbff]$/, ''), end: '…' };
}

function visible(text: string): string {
  return text.replace(
    /[\p{C}\u2028\u2029]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
}
