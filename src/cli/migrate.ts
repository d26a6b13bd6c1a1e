/** `roundhouse migrate`: brings the database up to date without starting the gateway. */
import { migrationsFolder } from '../compose.ts';
import { migrate, openDatabase } from '../storage/index.ts';
import { type Command, jsonOption, printJson } from './command.ts';

export const migrateCommand: Command = {
  words: ['migrate'],
  operands: [],
  summary: 'Bring the database up to date (every start does so, too)',
  options: jsonOption,
  async run({ config, log, options, terminal }) {
    const { databaseUrl, dataFolder } = config();
    const database = await openDatabase({ databaseUrl, folder: dataFolder, log });
    try {
      const applied = await migrate(database, { folder: migrationsFolder });
      if (options['json'] === true) printJson(terminal, { applied });
      else
        terminal.stdout.write(
          applied.length === 0
            ? 'The database is up to date.\n'
            : `${applied.map((file) => `Applied ${file}\n`).join('')}`,
        );
    } finally {
      await database.close();
    }
    return 0;
  },
};
