/** Samples at another speed with the same pitch. */
import { runGraph } from './graph.ts';
import type { Job, JobKinds } from './protocol.ts';
import { bytesPerSample } from './resample.ts';

export const stretch: Job<JobKinds['stretch']['options'], undefined> = async (samples, options, output) => {
  const { sampleRate, channels, speed } = options;
  const out = { sampleRate, sampleFormat: 's16', frameSize: sampleRate };
  for (const frame of runGraph(samples, { sampleRate, channels, speed, out })) {
    const bytes = frame.data?.[0];
    // A copy: the frame's own memory is used again.
    if (bytes !== undefined)
      await output.emit(Buffer.from(bytes.subarray(0, frame.nbSamples * bytesPerSample * channels)));
  }
  return undefined;
};
