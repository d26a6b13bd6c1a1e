/** Rows as a plain aligned table, and times as people read them. */

/** Names come from whoever made them: an escape sequence must not reach the terminal. */
const controlCharacters = /[\p{Cc}\p{Cf}]/gu;

export function toTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((row) => row.map((cell) => cell.replace(controlCharacters, '?')));
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => [...(line[column] ?? '')].length)),
  );
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => padded(cell, widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

function padded(cell: string, width: number): string {
  return cell + ' '.repeat(width - [...cell].length);
}

/** Unix seconds as `2026-11-15 02:32` in UTC. */
export function toTime(seconds: number | null): string {
  return seconds === null ? '-' : new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}
