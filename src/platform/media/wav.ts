/** Samples as a WAV file: 44 bytes in front of them. Needs no codec, and so no process. Pure. */
const headerBytes = 44;

export function toWav(samples: Int16Array, sampleRate: number): Buffer {
  const { buffer, byteOffset, byteLength } = samples;
  const file = Buffer.allocUnsafeSlow(headerBytes + byteLength);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(headerBytes - 8 + byteLength, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20); // PCM
  file.writeUInt16LE(1, 22); // mono
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(sampleRate * 2, 28);
  file.writeUInt16LE(2, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(byteLength, 40);
  // Every platform that we run on is little-endian, as WAV is.
  Buffer.from(buffer, byteOffset, byteLength).copy(file, headerBytes);
  return file;
}
