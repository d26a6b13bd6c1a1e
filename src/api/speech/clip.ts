/** The clip of a voice that is to be cloned: whatever the client sent, as a WAV file of what engines expect. */
import { type SpeechVoice, speechSampleRate } from '../../engines/contract/speech.ts';
import { tooLarge } from '../../http/too-large.ts';
import { GatewayError } from '../../lib/errors.ts';
import { decodeBase64, decodedLength, isDataUri, parseDataUri } from '../../platform/attachments/base64.ts';
import type { Media } from '../../platform/media/index.ts';
import type { AskedVoice } from './translate.ts';

/** Of the clip as it was sent. */
export const maxClipBytes = 15 * 1024 * 1024;
const shortestSeconds = 1;
const longestSeconds = 60;

export async function toEngineVoice(
  asked: AskedVoice,
  media: Media,
  signal: AbortSignal,
): Promise<SpeechVoice> {
  if (asked.type !== 'clone') return asked;
  const { data, param, transcript } = asked;
  const bytes = readClip(data, param);
  const pieces: Int16Array[] = [];
  let length = 0;
  const options = { sampleRate: speechSampleRate, maxSeconds: longestSeconds, param };
  for await (const piece of media.decode(bytes, options, signal)) {
    pieces.push(piece);
    length += piece.length;
  }
  if (length < shortestSeconds * speechSampleRate)
    throw new GatewayError('invalid_request', `${param} must be a clip of at least ${shortestSeconds} s`, {
      param,
    });
  return {
    type: 'clone',
    clip: toWav(pieces, length),
    ...(transcript === undefined ? {} : { transcript }),
  };
}

function readClip(data: string, param: string): Buffer {
  if (/^\s*(?:https?|ftp|file|s3):/i.test(data))
    throw new GatewayError('invalid_request', `${param} must be base64: addresses are not accepted`, {
      param,
    });
  const base64 = isDataUri(data) ? parseDataUri(data, param).data : data;
  if (base64 === '') throw new GatewayError('invalid_request', `${param} must not be empty`, { param });
  if (decodedLength(base64) > maxClipBytes) throw tooLarge(param, maxClipBytes);
  return decodeBase64(base64, param).bytes;
}

const headBytes = 44;

function toWav(pieces: readonly Int16Array[], length: number): Buffer {
  const size = 2 * length;
  const wav = Buffer.alloc(headBytes + size);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(headBytes - 8 + size, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(speechSampleRate, 24);
  wav.writeUInt32LE(2 * speechSampleRate, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(size, 40);
  let at = headBytes;
  for (const piece of pieces) {
    wav.set(new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength), at);
    at += piece.byteLength;
  }
  return wav;
}
