/** The name of an uploaded file: its last part, whatever path a client sends with it. Pure. */

const longest = 255;

export function toFilename(sent: string): string {
  const last = sent.slice(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1);
  // Signs that steer terminals or turn the writing around do not belong into a name.
  const clean = last.toWellFormed().replace(/\p{C}/gu, '').trim();
  if (clean === '' || clean === '.' || clean === '..') return 'file';
  if (clean.length <= longest) return clean;
  const extension = /\.[^.]{1,10}$/.exec(clean)?.[0] ?? '';
  return clean.slice(0, longest - extension.length).toWellFormed() + extension;
}
