/**
 * What may be shown of a text that an engine wrote. The specification: "an engine error is cut to its first
 * line without internals" (addresses, hosts, file paths, stack frames).
 */
const internals: readonly [RegExp, string][] = [
  [/\b[a-z][a-z0-9+.-]*:\/\/[^\s"'<>)\]]+/gi, '[address]'],
  [/\[[0-9a-f:.]*:[0-9a-f:.]*\](?::\d+)?/gi, '[address]'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, '[address]'],
  [
    /\b(?:localhost|[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:internal|local|lan|svc|cluster|intranet|corp|home))(?::\d+)?\b/gi,
    '[address]',
  ],
  [/\b(?=[\d.-]*[a-z])[a-z0-9-]+(?:\.[a-z0-9-]+)*:\d{4,5}\b/gi, '[address]'],
  [/(?:\b[A-Za-z]:\\|(?<![\w.])~?\/)(?:[\w.@+-]+[\\/])+[\w.@+-]*(?::\d+)*/g, '[path]'],
  [/\s+at\s+\S+\s*\(.*$/g, ''],
];

const longest = 300;

export function toPublicMessage(text: string): string {
  let line = text.trimStart().split(/[\r\n\u2028\u2029]/, 1)[0] ?? '';
  for (const [pattern, replacement] of internals) line = line.replace(pattern, replacement);
  line = line.trim();
  return line.length > longest ? `${line.slice(0, longest - 1)}…` : line;
}
