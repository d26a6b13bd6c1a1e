/** A file's sound as mono samples, a second at a time: what is not taken yet is not decoded yet. */
import { Packet } from 'node-av/lib';
import { keepOnly, openInput } from './input.ts';
import { bytesPerSample, MonoConverter } from './mono.ts';
import { Problem } from './problem.ts';
import type { Container, Job, JobKinds } from './protocol.ts';
import { SoundDecoder } from './sound.ts';

/** Of these a length is only guessed from the first frames: nobody is refused for a guess. */
const guessed: ReadonlySet<Container> = new Set(['mp3', 'aac']);

export const decode: Job<JobKinds['decode']['options'], undefined> = async (bytes, options, output) => {
  const { container, sampleRate, maxSeconds } = options;
  const input = await openInput(bytes, container);
  const packet = new Packet();
  packet.alloc();
  let decoder: SoundDecoder | undefined;
  const converter = new MonoConverter(sampleRate);
  const pieceBytes = sampleRate * bytesPerSample;
  const mostBytes = maxSeconds * pieceBytes;
  let piece = Buffer.allocUnsafeSlow(pieceBytes);
  let filled = 0;
  let total = 0;

  async function take(samples: Buffer): Promise<void> {
    total += samples.length;
    if (total > mostBytes) throw tooLong(maxSeconds);
    for (let taken = 0; taken < samples.length; ) {
      const copied = samples.copy(piece, filled, taken);
      taken += copied;
      filled += copied;
      if (filled < pieceBytes) continue;
      await output.emit(piece);
      piece = Buffer.allocUnsafeSlow(pieceBytes);
      filled = 0;
    }
  }

  try {
    const { audio, claimedSeconds = 0, format } = input;
    if (audio === undefined) throw new Problem('has no audio in it');
    decoder = new SoundDecoder(audio);
    if (claimedSeconds > maxSeconds && !guessed.has(container)) throw tooLong(maxSeconds);
    keepOnly(input, audio);
    // A file that ends too early, or goes on as something else, ends there.
    while ((await format.readFrame(packet)) >= 0) {
      output.throwIfStopped();
      if (packet.streamIndex === audio.index)
        for (const frame of decoder.read(packet))
          for (const samples of converter.convert(frame)) await take(samples);
      packet.unref();
    }
    for (const frame of decoder.read(null))
      for (const samples of converter.convert(frame)) await take(samples);
    for (const samples of converter.flush()) await take(samples);
    decoder.finish();
    if (filled > 0) await output.emit(piece.subarray(0, filled));
    return undefined;
  } finally {
    packet.free();
    converter.close();
    decoder?.close();
    await input.close();
  }
};

function tooLong(maxSeconds: number): Problem {
  return new Problem(`is longer than the limit of ${toDuration(maxSeconds)}`);
}

function toDuration(seconds: number): string {
  const [count, unit] =
    seconds % 3600 === 0
      ? [seconds / 3600, 'hour']
      : seconds % 60 === 0
        ? [seconds / 60, 'minute']
        : [seconds, 'second'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
