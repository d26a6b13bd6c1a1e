/** `roundhouse serve`, which is also what `npm start` runs. */
import { type Config, readConfig } from '../config.ts';
import { createLog } from '../lib/log.ts';
import { serve } from '../serve.ts';
import type { Command } from './command.ts';
import { toFailureText } from './failure.ts';

export const serveCommand: Command = {
  words: ['serve'],
  operands: [],
  summary: 'Run the gateway until it is told to stop',
  options: {},
  async run({ config }) {
    await serveWith(config());
    return 0;
  },
};

/** For `npm start`: the same without the rest of the command line, which would cost time at every start. */
export async function runServe(): Promise<void> {
  try {
    await serveWith(readConfig());
  } catch (error) {
    process.stderr.write(`roundhouse: ${toFailureText(error)}\n`);
    process.exitCode = 1;
  }
}

function serveWith(config: Config): Promise<void> {
  return serve({ config, log: createLog(config.logLevel) });
}
