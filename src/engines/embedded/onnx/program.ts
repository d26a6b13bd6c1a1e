/** The process that runs ONNX models. */
import { serve } from '../host/serve.ts';
import { createOnnxRuntime } from './runtime.ts';

serve(createOnnxRuntime);
