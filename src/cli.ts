/** The command line: finds the command that the words mean, reads its options, runs it, and tells how it ended. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Command, Terminal } from './cli/command.ts';
import { commands } from './cli/commands.ts';
import { openDoor } from './cli/door.ts';
import { UsageError } from './cli/errors.ts';
import { toFailureText } from './cli/failure.ts';
import { toHelp, toOverview } from './cli/help.ts';
import { type Config, readConfig } from './config.ts';
import { createLog } from './lib/log.ts';

export type { Terminal } from './cli/command.ts';

/** Runs one command line (without the program's own name) and answers its exit code: 0, 1 failed, 2 not understood. */
export async function runCli(words: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const command = commands.find((candidate) => candidate.words.every((word, i) => words[i] === word));
    if (command === undefined) return answerWithoutCommand(words, terminal);
    return await runCommand(command, words.slice(command.words.length), terminal);
  } catch (error) {
    if (error instanceof UsageError) {
      terminal.stderr.write(`roundhouse: ${error.message}\n`);
      return 2;
    }
    terminal.stderr.write(`roundhouse: ${toFailureText(error)}\n`);
    return 1;
  }
}

async function runCommand(command: Command, args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parse(command, args);
  if (values['help'] === true) {
    terminal.stdout.write(toHelp(command));
    return 0;
  }
  checkOperands(command, positionals);
  let config: Config | undefined;
  const readOnce = () => {
    config ??= readConfig({ env: terminal.env, cwd: terminal.cwd });
    return config;
  };
  const log = createLog('warn', { write: (line) => void terminal.stderr.write(line) });
  const code = await command.run({
    operands: positionals,
    options: values,
    terminal,
    config: readOnce,
    log,
    async withDoor(work) {
      const door = await openDoor(readOnce(), log);
      try {
        if (door.firstKey !== undefined) {
          terminal.stderr.write(
            `First use of this data folder. Its first API key, shown this once: ${door.firstKey}\n`,
          );
        }
        return await work(door);
      } finally {
        await door.close();
      }
    },
  });
  return code ?? 0;
}

/** Only options, a group of commands, or words that mean nothing. */
function answerWithoutCommand(words: readonly string[], { stdout, stderr }: Terminal): number {
  const group = words.filter((word) => !word.startsWith('-'));
  const options = words.filter((word) => word.startsWith('-'));
  const isGroup =
    group.length === 0 || (group.length === 1 && commands.some(({ words: [first] }) => first === group[0]));
  if (!isGroup)
    throw new UsageError(`unknown command "${group.join(' ')}". "roundhouse --help" lists them all.`);
  if (group.length === 0 && options.includes('--version')) {
    stdout.write(`${readVersion()}\n`);
    return 0;
  }
  const strange = options.find((option) => option !== '--help' && option !== '-h');
  if (strange !== undefined) throw new UsageError(`unknown option "${strange}"`);
  // Asked for, it is an answer; otherwise something is missing.
  const isAsked = options.length > 0;
  (isAsked ? stdout : stderr).write(toOverview(commands, group));
  return isAsked ? 0 : 2;
}

function parse(command: Command, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { type }]) => [name, { type }]),
  );
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    }) as { values: Record<string, string | boolean | undefined>; positionals: string[] };
  } catch (error) {
    // Node's sentence goes on with advice on `--`, which is of no use here.
    const [sentence] = (error as Error).message.split(/[.\n]/);
    throw new UsageError(`${sentence}. See "roundhouse ${command.words.join(' ')} --help".`);
  }
}

function checkOperands({ words, operands }: Command, given: readonly string[]): void {
  const name = words.join(' ');
  const missing = operands[given.length];
  if (missing !== undefined && !missing.startsWith('['))
    throw new UsageError(`"${name}" needs ${missing}. See "roundhouse ${name} --help".`);
  if (given.length > operands.length && operands.at(-1)?.endsWith('…]') !== true)
    throw new UsageError(`"${name}" does not take "${given[operands.length]}"`);
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  return version;
}
