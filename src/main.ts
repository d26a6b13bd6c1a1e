/** `npm start`: serves, with the compile cache on. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// `npm start` sets NODE_COMPILE_CACHE, which serves the worker threads too; this is for who runs the file itself.
// Where the folder cannot be written nothing is cached.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roundhouse', import.meta.url)));
const { runServe } = await import('./cli/serve.ts');
await runServe();
