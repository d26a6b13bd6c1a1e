/** Reads the WAV files that flite writes: 16 bit, mono. Pure. */
export interface Wav {
  readonly sampleRate: number;
  readonly samples: Int16Array;
}

export function parseWav(file: Buffer): Wav | undefined {
  if (
    file.length < 12 ||
    file.toString('latin1', 0, 4) !== 'RIFF' ||
    file.toString('latin1', 8, 12) !== 'WAVE'
  )
    return undefined;
  let sampleRate = 0;
  for (let at = 12; at + 8 <= file.length; ) {
    const name = file.toString('latin1', at, at + 4);
    const size = file.readUInt32LE(at + 4);
    const body = file.subarray(at + 8, at + 8 + size);
    if (name === 'fmt ') {
      if (body.length < 16 || body.readUInt16LE(2) !== 1 || body.readUInt16LE(14) !== 16) return undefined;
      sampleRate = body.readUInt32LE(4);
    }
    if (name === 'data') {
      // A copy of its own: two bytes a sample must begin at an even place.
      const whole = new Uint8Array(body.subarray(0, body.length - (body.length % 2)));
      return sampleRate === 0 ? undefined : { sampleRate, samples: new Int16Array(whole.buffer) };
    }
    at += 8 + size + (size % 2);
  }
  return undefined;
}
