/** Pictures that try to break, hang or fill the gateway: each is refused by name or taken without harm. */
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '../src/lib/errors.ts';
import { createLog } from '../src/lib/log.ts';
import { createPictures, type RunningPictures } from '../src/platform/pictures/index.ts';
import { type HostilePicture, makeHostilePictures } from './support/hostile-pictures.ts';
import { makePicture } from './support/picture-files.ts';

const signal = new AbortController().signal;
const kinds = ['png', 'jpeg', 'webp', 'gif', 'heic', 'heif', 'avif'] as const;
const options = { param: 'image', kinds };
const mostMb = 300;
const hasProc = existsSync('/proc/self/status');

let pictures: RunningPictures;
let files: readonly HostilePicture[];
let watch: NodeJS.Timeout;
let peakMb = 0;
const lines: string[] = [];

beforeAll(async () => {
  files = await makeHostilePictures();
  pictures = createPictures({ log: createLog('warn', { write: (line) => lines.push(line) }) });
  watch = setInterval(weigh, 10);
});

afterAll(async () => {
  clearInterval(watch);
  await pictures.close();
});

/** The most that any of the processes had, as long as it is there to be asked. */
function weigh(): void {
  for (const pid of hasProc ? pictures.pids : [])
    try {
      const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
      peakMb = Math.max(peakMb, Number(kilobytes ?? 0) / 1024);
    } catch {
      // It has just ended.
    }
}

async function outcomeOf({ bytes }: HostilePicture): Promise<string> {
  try {
    const { width, height, mediaType, content: taken } = await pictures.accept(bytes, options, signal);
    if (!(width > 0 && height > 0 && taken.length > 0 && mediaType.startsWith('image/'))) return 'nonsense';
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError)) return `another error: ${error}`;
    const { kind, param, message } = error;
    return kind === 'invalid_request' && param === 'image' && message.startsWith('image ')
      ? 'refused'
      : `${kind}: ${message}`;
  }
}

describe('hostile pictures', () => {
  it('are many, each with a name of its own', () => {
    expect(files.length).toBeGreaterThan(70);
    expect(new Set(files.map(({ name }) => name)).size).toBe(files.length);
  });

  it('are refused naming the field, or taken without harm, and cost neither the gateway nor a good picture', async () => {
    const queue = [...files];
    const surprises: string[] = [];
    const work = async () => {
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        const outcome = await outcomeOf(file);
        const isExpected = outcome === 'refused' || (file.expected === 'either' && outcome === 'accepted');
        if (!isExpected) surprises.push(`${file.name}: ${outcome}`);
      }
    };
    await Promise.all([work(), work()]);
    expect(surprises).toEqual([]);
    for (const kind of kinds) {
      const picture = await pictures.accept(await makePicture(kind), options, signal);
      expect(picture).toMatchObject({ width: 64, height: 48 });
    }
    weigh();
    expect(peakMb).toBeLessThan(mostMb);
    if (hasProc) expect(peakMb).toBeGreaterThan(20);
    // No process was lost: every one of them was told apart by a limit or a decoder.
    expect(lines).toEqual([]);
  }, 120_000);
});
