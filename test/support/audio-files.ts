/** Real sound files for tests, made on the spot by a program of their own. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** `mov`, `vorbis` and `ac3` are no formats of the API: odd contents for containers that are. */
export type SoundFormat = 'wav' | 'mp3' | 'flac' | 'm4a' | 'ogg' | 'webm' | 'aac' | 'mov' | 'vorbis' | 'ac3';

/** Those of the API. */
export const soundFormats = ['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac'] as const;

/** A mono tone. With `repeats` a stretch of `seconds` is played so many times. */
export async function makeSound(
  format: SoundFormat,
  seconds: number,
  hertz = 440,
  repeats = 1,
): Promise<Buffer> {
  const child = fileURLToPath(new URL('./audio-child.ts', import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', child, format, seconds, hertz, repeats].map(String);
  const { stdout } = await run(process.execPath, args, { encoding: 'buffer', maxBuffer: 1e9 });
  return stdout;
}
