/** `npm start`: serves, with the compile cache on. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// `npm start` sets NODE_COMPILE_CACHE, which serves the worker threads too; this is for who runs the file itself.
// Where the folder cannot be written nothing is cached.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roundhouse', import.meta.url)));
// `npm start` keeps the heap's nursery at 32 MB a half. The size is read when a thread begins, and the flag goes before
// what a thread asks for itself: those that begin from here on get what they ask for.
setFlagsFromString('--max-semi-space-size=0');
const { runServe } = await import('./cli/serve.ts');
await runServe();
