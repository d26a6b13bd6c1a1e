/** The process that runs speech recognition models. */
import { serve } from '../host/serve.ts';
import { createTranscribeRuntime } from './runtime.ts';

serve(createTranscribeRuntime);
