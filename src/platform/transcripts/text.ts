/** How the texts of stretches become one. Pure. */

/** Scripts that put no space between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}、-〿！-～]/u;

/** What has to be added to a text to go on with another: empty where nothing was said. */
export function toAddition(before: string, heard: string): string {
  const next = heard.replace(/\s+/g, ' ').trim();
  // Models write lone dots and dashes where they heard nothing.
  if (!/[\p{L}\p{N}]/u.test(next)) return '';
  if (before === '') return next;
  const last = [...before.slice(-2)].at(-1) ?? '';
  const first = String.fromCodePoint(next.codePointAt(0) ?? 0);
  return unspaced.test(last) && unspaced.test(first) ? next : ` ${next}`;
}

const longestContext = 200;
const longestGuidance = 800;

/** What an engine is told before a stretch: how the client spells things, and what was said just before. */
export function toPrompt(guidance: string | undefined, text: string): string | undefined {
  const parts = [lastWords(guidance?.trim() ?? '', longestGuidance), lastWords(text, longestContext)];
  const prompt = parts.filter((part) => part !== '').join(' ');
  return prompt === '' ? undefined : prompt;
}

/** At most so many characters of the end, beginning with a whole word where there are words. */
function lastWords(text: string, most: number): string {
  if (text.length <= most) return text;
  const end = text.slice(-most);
  const space = end.indexOf(' ');
  return space === -1 ? end.replace(/^[\udc00-\udfff]/, '') : end.slice(space + 1);
}
