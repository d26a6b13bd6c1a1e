/** The samples of a file's sound in the shape that is wanted, as they are decoded. */
import { Packet } from 'node-av/lib';
import { type Input, keepOnly } from './input.ts';
import { Problem } from './problem.ts';
import type { Channels, JobOutput } from './protocol.ts';
import { Resampler } from './resample.ts';
import { SoundDecoder } from './sound.ts';

export interface SampleShape {
  readonly sampleRate: number;
  readonly channels: Channels;
}

/** Bytes that are only valid until the next ones. */
export async function* readSamples(
  input: Input,
  { sampleRate, channels }: SampleShape,
  output: Pick<JobOutput, 'throwIfStopped'>,
): AsyncGenerator<Buffer> {
  const { audio, format } = input;
  if (audio === undefined) throw new Problem('has no audio in it');
  const decoder = new SoundDecoder(audio);
  const resampler = new Resampler(sampleRate, channels);
  const packet = new Packet();
  packet.alloc();
  try {
    keepOnly(input, audio);
    // A file that ends too early, or goes on as something else, ends there.
    while ((await format.readFrame(packet)) >= 0) {
      output.throwIfStopped();
      if (packet.streamIndex === audio.index)
        for (const frame of decoder.read(packet)) yield* resampler.convert(frame);
      packet.unref();
    }
    for (const frame of decoder.read(null)) yield* resampler.convert(frame);
    yield* resampler.flush();
    decoder.finish();
  } finally {
    packet.free();
    resampler.close();
    decoder.close();
  }
}
