/** What a command is: its words, what it takes, and what it may use. */
import type { Config } from '../config.ts';
import type { Log } from '../lib/log.ts';
import type { Door } from './door.ts';

/** The world around a command. Tests give one of their own. */
export interface Terminal {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  readonly now: () => number;
}

export interface Option {
  type: 'string' | 'boolean';
  /** How the value is shown in the help: `--name NAME`. */
  placeholder?: string;
  help: string;
}

export interface CommandCall<Name extends string = string> {
  readonly operands: readonly string[];
  readonly options: { readonly [K in Name]?: string | boolean | undefined };
  readonly terminal: Terminal;
  readonly config: () => Config;
  /** Where no running gateway writes the log: only what is wrong. */
  readonly log: Log;
  /** Opens the way to the gateway for the work, and closes it afterwards. */
  withDoor<T>(work: (door: Door) => Promise<T>): Promise<T>;
}

export interface Command {
  readonly words: readonly string[];
  /** One in brackets may be left out; `[NAME…]`, the last, takes any number. */
  readonly operands: readonly string[];
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Answers the exit code; 0 when it answers nothing. */
  run(call: CommandCall): Promise<number | undefined>;
}

export const jsonOption = { json: { type: 'boolean', help: 'answer in JSON' } } as const;

/** An option's value where one is given. */
export function text(value: string | boolean | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

export function printJson({ stdout }: Terminal, value: unknown): void {
  stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}
