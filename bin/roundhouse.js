#!/usr/bin/env node
// Starts the command line under Node 24. An older Node hands over to the one that `npm ci` put into the
// checkout; this file itself therefore stays plain JavaScript that old versions can read.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';

const oldestMajor = 24;

if (Number.parseInt(process.versions.node, 10) < oldestMajor) handOver();
else await run();

async function run() {
  // Type stripping and SQLite are called experimental by Node 24; nobody who types a command needs to know.
  const { emitWarning } = process;
  process.emitWarning = (warning, ...rest) => {
    const type = typeof rest[0] === 'string' ? rest[0] : rest[0]?.type;
    if (type !== 'ExperimentalWarning') emitWarning.call(process, warning, ...rest);
  };
  const cache = fileURLToPath(new URL('../node_modules/.cache/roundhouse', import.meta.url));
  module.enableCompileCache(cache);
  // For the worker threads, which do not inherit it otherwise.
  process.env.NODE_COMPILE_CACHE ??= cache;
  // `roundhouse keys list | head` closes the pipe early: that is no failure of ours.
  process.stdout.on('error', (error) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  const { runCli } = await import('../src/cli.ts');
  const { env, stdout, stderr } = process;
  process.exitCode = await runCli(process.argv.slice(2), {
    env,
    cwd: process.cwd(),
    stdout,
    stderr,
    now: Date.now,
  });
}

function handOver() {
  const node = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
  if (!existsSync(node)) {
    console.error(
      `roundhouse: Node ${oldestMajor} is needed, and this is ${process.versions.node}. "npm ci" in the checkout brings it ` +
        '(with its optional dependencies).',
    );
    process.exit(1);
  }
  const child = spawn(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both of us; passed on as well, it would look like an impatient second one.
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    console.error(`roundhouse: ${node} does not start: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
