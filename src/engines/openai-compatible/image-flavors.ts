/** Servers that make pictures and do nothing else. */
import type { Flavor } from './flavor.ts';
import { stableDiffusionCppImages } from './image-quirks.ts';
import { generic } from './text-flavors.ts';

export const stableDiffusionCpp: Flavor = {
  ...generic,
  name: 'stable-diffusion.cpp',
  serves: ['image'],
  embedding: undefined,
  rerank: undefined,
  decision: undefined,
  speech: undefined,
  transcription: undefined,
  image: stableDiffusionCppImages,
  video: undefined,
};
