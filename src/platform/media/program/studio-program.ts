/** The program that a studio's process runs. */
import { createRender } from './render.ts';
import { serve } from './serve.ts';

await serve(async (seal) => ({ render: createRender(seal) }));
