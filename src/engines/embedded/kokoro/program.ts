/** The process that runs Kokoro. */
import { serve } from '../host/serve.ts';
import { createKokoroRuntime } from './kokoro.ts';

serve(createKokoroRuntime);
