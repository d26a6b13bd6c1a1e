/** Runs a command of the command line against a shell, as on the gateway's own machine, and answers what it printed. */
import { expect } from 'vitest';
import type { Command, CommandCall } from '../../src/cli/command.ts';
import type { Door } from '../../src/cli/door.ts';
import type { Shell } from './shell.ts';

export interface CommandLine {
  readonly commands: readonly Command[];
  /** The second of its words: `list`. */
  readonly word: string;
  readonly operands: string[];
  readonly options: CommandCall['options'];
}

export async function runCommand(
  shell: Shell,
  { commands, word, operands, options }: CommandLine,
): Promise<string> {
  let out = '';
  const door: Door = {
    firstKey: undefined,
    async request(method, url, payload) {
      const answer = await shell.send({ method, url, payload, origin: 'local' });
      return { status: answer.status, body: answer.json() };
    },
    close: async () => {},
  };
  const command = commands.find(({ words }) => words[1] === word)!;
  const stdout = { write: (text: string) => (out += text) };
  await command.run({
    operands,
    options,
    terminal: { stdout } as CommandCall['terminal'],
    config: () => expect.fail('no configuration is needed'),
    log: undefined as never,
    withDoor: (work) => work(door),
  });
  return out;
}
