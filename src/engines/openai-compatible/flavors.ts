/**
 * Everything in which the engines that speak OpenAI's language differ, one table row each. Checked against the
 * sources of vLLM 0.27, SGLang 0.5.18 (pictures: August 2026), llama.cpp b10586, Ollama 0.32, text-embeddings-inference 1.9, vLLM-Omni
 * (August 2026), Kokoro-FastAPI 0.8, whisper.cpp 1.9, speaches (August 2026) and stable-diffusion.cpp
 * master-827; older versions are named where they
 * behave otherwise. What all of them accept (both reasoning names, any tool call id, any finish reason) is in
 * `wire.ts`.
 */
import { kokoroFastapi, speaches, vllmOmni, whisperCpp } from './audio-flavors.ts';
import type { Flavor, FlavorName } from './flavor.ts';
import { stableDiffusionCpp } from './image-flavors.ts';
import { generic, llamaCpp, ollama, sglang, tei, vllm } from './text-flavors.ts';

export const flavors: Readonly<Record<FlavorName, Flavor>> = {
  vllm,
  sglang,
  'llama.cpp': llamaCpp,
  ollama,
  tei,
  'vllm-omni': vllmOmni,
  'kokoro-fastapi': kokoroFastapi,
  'whisper.cpp': whisperCpp,
  speaches,
  'stable-diffusion.cpp': stableDiffusionCpp,
  generic,
};
