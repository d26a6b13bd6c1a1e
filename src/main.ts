/** `npm start`: serves, with the compile cache on. */
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// `npm start` sets NODE_COMPILE_CACHE, which serves the worker threads too; this is for who runs the file itself.
// Where the folder cannot be written nothing is cached.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/roundhouse', import.meta.url)));
// `npm start` keeps the heap's nursery at 32 MB a half: V8 would let it grow to 64 under load, 50 MB more for 1 µs less
// per request (benchmarks/README.md). It reads the flag when a thread begins, and there it would override the size that
// the thread asks for (`resourceLimits`), so it is taken back before the first one starts.
setFlagsFromString('--max-semi-space-size=0');
const { runServe } = await import('./cli/serve.ts');
await runServe();
