/** What a command may throw, with the exit code that each becomes. */
/** The command line cannot be understood: exit code 2. */
export class UsageError extends Error {}

/** What was asked for did not work, in words for the person who asked: exit code 1. */
export class CommandFailed extends Error {}
