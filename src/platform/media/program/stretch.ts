/** Samples at another speed with the same pitch. */
import { runGraph } from './graph.ts';
import { bytesPerSample } from './mono.ts';
import type { Job, JobKinds } from './protocol.ts';

export const stretch: Job<JobKinds['stretch']['options'], undefined> = async (samples, options, output) => {
  const { sampleRate, speed } = options;
  const out = { sampleRate, sampleFormat: 's16', frameSize: sampleRate };
  for (const frame of runGraph(samples, { sampleRate, speed, out })) {
    const bytes = frame.data?.[0];
    // A copy: the frame's own memory is used again.
    if (bytes !== undefined)
      await output.emit(Buffer.from(bytes.subarray(0, frame.nbSamples * bytesPerSample)));
  }
  return undefined;
};
