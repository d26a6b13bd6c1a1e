/** Samples as a WAV file: 44 bytes in front of them. Needs no codec, and so no process. Pure. */
const headerBytes = 44;
const bytesPerSample = 2;
/** Its sizes are 32 bit: what is longer says so much and goes on. */
const largest = 0xffffffff;

export interface WavShape {
  readonly sampleRate: number;
  readonly channels: number;
  /** Samples of each channel that follow, or are promised. */
  readonly frames: number;
}

export function wavHeader({ sampleRate, channels, frames }: WavShape): Buffer {
  const frameBytes = bytesPerSample * channels;
  const dataBytes = Math.min(frames * frameBytes, largest - headerBytes);
  const header = Buffer.alloc(headerBytes);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(headerBytes - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(8 * bytesPerSample, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

/** Interleaved where there are several channels. */
export function toWav(samples: Int16Array, sampleRate: number, channels = 1): Buffer {
  const { buffer, byteOffset, byteLength } = samples;
  const file = Buffer.allocUnsafeSlow(headerBytes + byteLength);
  wavHeader({ sampleRate, channels, frames: samples.length / channels }).copy(file);
  // Every platform that we run on is little-endian, as WAV is.
  Buffer.from(buffer, byteOffset, byteLength).copy(file, headerBytes);
  return file;
}
