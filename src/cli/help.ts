/** What `--help` says, of the whole program, of a group of commands and of one command. */
import type { Command } from './command.ts';

export function toOverview(commands: readonly Command[], group: readonly string[] = []): string {
  const words = ['roundhouse', ...group].join(' ');
  const shown = commands.filter((command) => group.every((word, i) => command.words[i] === word));
  return [
    `Usage: ${words} COMMAND [OPTIONS]`,
    '',
    'Commands:',
    ...columns(shown.map((command) => [[...command.words, ...command.operands].join(' '), command.summary])),
    '',
    `${words} COMMAND --help says what a command takes.`,
    '',
  ].join('\n');
}

export function toHelp({ words, operands, summary, options }: Command): string {
  const rows = Object.entries(options).map(([name, { placeholder, help }]) => [
    `--${name}${placeholder === undefined ? '' : ` ${placeholder}`}`,
    help,
  ]);
  return [
    `Usage: ${['roundhouse', ...words, ...operands].join(' ')} [OPTIONS]`,
    '',
    `${summary}.`,
    '',
    'Options:',
    ...columns([...rows, ['--help', 'show this help']]),
    '',
  ].join('\n');
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const width = Math.max(...rows.map(([first = '']) => first.length));
  return rows.map(([first = '', second = '']) => `  ${first.padEnd(width)}  ${second}`);
}
