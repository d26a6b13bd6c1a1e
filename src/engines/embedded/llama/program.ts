/** The process that runs GGUF models. */
import { serve } from '../host/serve.ts';
import { createLlamaRuntime } from './runtime.ts';

serve(createLlamaRuntime);
