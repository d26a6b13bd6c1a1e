/** The list of commands, in the order of the help. */
import type { Command } from './command.ts';
import { doctorCommand } from './doctor.ts';
import { jobCommands } from './jobs.ts';
import { keyCommands } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { modelCommands } from './models.ts';
import { serveCommand } from './serve.ts';
import { subscriptionCommands } from './subscriptions.ts';
import { usageCommand } from './usage.ts';
import { webhookCommands } from './webhooks.ts';

export const commands: readonly Command[] = [
  serveCommand,
  migrateCommand,
  ...keyCommands,
  ...subscriptionCommands,
  ...modelCommands,
  usageCommand,
  ...jobCommands,
  ...webhookCommands,
  doctorCommand,
];
