/** What `POST /videos` takes, and what of it reaches the engine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../src/lib/log.ts';
import { createMedia, type Media } from '../src/platform/media/index.ts';
import { createPictures } from '../src/platform/pictures/index.ts';
import type { Pictures } from '../src/platform/pictures/types.ts';
import { jpegFile, pngFile, webpFile } from './support/images-shell.ts';
import { createJobsEngine, type JobsEngine } from './support/jobs-engine.ts';
import { makeFilms, toDataUri, toMov } from './support/jobs-media.ts';
import { createJobsShell, type JobsShell } from './support/jobs-shell.ts';

const log = createLog('silent');
const never = new AbortController().signal;
let engine: JobsEngine;
let shell: JobsShell;
let media: Media;
let pictures: Pictures;
/** Of 1.9, 2, 15 and 16 s; the first has a soundtrack. */
let films: Record<'tooShort' | 'short' | 'long' | 'tooLong', Buffer>;
let sounds: Record<'wav' | 'mp3' | 'flac' | 'tooShort' | 'tooLong', Buffer>;

beforeAll(async () => {
  media = createMedia({ log });
  pictures = createPictures({ log });
  const sound = (format: 'wav' | 'mp3' | 'flac', seconds: number) =>
    media.encode(new Int16Array(32_000 * 2 * seconds), { format, sampleRate: 32_000, channels: 2 }, never);
  const [made, wav, mp3, flac, shortSound, longSound] = await Promise.all([
    makeFilms({ frames: 45 }, ...[48, 360, 384].map((frames) => ({ frames, hasSound: false }))),
    sound('wav', 2),
    sound('mp3', 15),
    sound('flac', 2),
    sound('wav', 1.9),
    sound('mp3', 16),
  ]);
  const [tooShort, short, long, tooLong] = made as [Buffer, Buffer, Buffer, Buffer];
  films = { tooShort, short, long, tooLong };
  sounds = { wav, mp3, flac, tooShort: shortSound, tooLong: longSound };
  engine = createJobsEngine(tooShort);
  shell = await createJobsShell({ engine, media, pictures });
}, 60_000);
afterAll(async () => {
  await shell.close();
  await Promise.all([media.close(), pictures.close()]);
});

const make = (body: object = {}) => shell.create('/videos', body);

/** What the engine is asked for it. */
async function ask(body: object = {}) {
  const { id } = await make(body);
  const { request } = await engine.filming(id);
  await shell.finished(id);
  return request;
}

/** The refusal, which names the field at its beginning. */
async function refused(body: object, param: string, status = 400): Promise<string> {
  const answer = await shell.post('/videos', { model: 'film', prompt: 'a lake', ...body });
  expect([answer.status, answer.body]).toEqual([status, expect.any(String)]);
  const { error } = answer.json();
  expect(error.param).toEqual(param);
  expect(error.message.startsWith(error.param)).toBe(true);
  return error.message;
}

const png = toDataUri(pngFile, 'image/png');
const frame = (frame_type = 'first_frame', url = png) => ({
  type: 'image_url',
  image_url: { url },
  frame_type,
});
const image = (url = png) => ({ type: 'image_url', image_url: { url } });
const video = (bytes: Buffer) => ({ type: 'video_url', video_url: { url: toDataUri(bytes, 'video/mp4') } });
const audio = (bytes: Buffer) => ({ type: 'audio_url', audio_url: { url: toDataUri(bytes, 'audio/wav') } });
const many = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);

describe('a request', () => {
  it('[VIDEO-1] is answered at once with 202 and the job, pending, with polling_url and queue_position', async () => {
    engine.isHolding = true;
    const body = { model: 'film-line', prompt: 'a lake' };
    const first = await shell.post('/videos', body);
    const second = await shell.post('/videos', body);
    engine.isHolding = false;
    expect(first.status).toBe(202);
    expect(first.json()).toMatchObject({
      status: 'pending',
      polling_url: expect.any(String),
      queue_position: 0,
    });
    expect(second.json()).toMatchObject({ status: 'pending', progress: 0 });
    for (const answer of [first, second]) {
      (await engine.filming(answer.json().id)).finish();
      expect((await shell.finished(answer.json().id)).status).toBe('completed');
    }
  });

  it('[VIDEO-2] [VIDEO-56] comes as JSON or as a form, with or without a file', async () => {
    const fields = [
      ['model', 'film'],
      ['prompt', 'a lake'],
    ] as const;
    expect((await shell.postForm('/videos', fields)).status).toBe(202);
    expect((await shell.post('/videos', Object.fromEntries(fields))).status).toBe(202);
    const text = await shell.send({
      method: 'POST',
      url: '/v1/videos',
      payload: 'model=film',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(text.status).toBe(400);
  });

  it.each(['model', 'prompt'])('[VIDEO-3] without %s is a 400 naming it', async (name) => {
    const { [name]: _, ...body }: Record<string, string> = { model: 'film', prompt: 'a lake' };
    const answer = await shell.post('/videos', body);
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatchObject({ param: name, message: `${name} is required` });
  });

  it('[VIDEO-4] has a prompt that is a string', async () => {
    expect(await refused({ prompt: 5 }, 'prompt')).toBe('prompt must be a string');
  });

  it('[VIDEO-5] for a model that has no valid spec and is not served is a 503, for an unknown one a 404', async () => {
    const answer = await shell.post('/videos', { model: 'film-off', prompt: 'a lake' });
    expect(answer.status).toBe(503);
    expect((await shell.post('/videos', { model: 'song', prompt: 'a lake' })).status).toBe(404);
    expect((await shell.post('/videos', { model: 'nobody', prompt: 'a lake' })).status).toBe(404);
  });

  it('[VIDEO-6] has a prompt of up to 7000 characters, however they are written', async () => {
    expect((await make({ prompt: 'x'.repeat(7000) })).status).toBe('pending');
    expect((await make({ prompt: '𝄞'.repeat(7000) })).status).toBe('pending');
    expect(await refused({ prompt: 'x'.repeat(7001) }, 'prompt')).toBe(
      'prompt must have at most 7000 characters',
    );
  });

  it('[VIDEO-7] brings its prompt to the engine exactly as it was written', async () => {
    const prompt = '  A lake,\n\tat dawn… "ø" 𝄞 {seed} ';
    const { request } = await engine.filming((await make({ prompt })).id);
    expect(request.prompt).toBe(prompt);
  });
});

describe('the length', () => {
  it('[VIDEO-8] is 4 to 15 s', async () => {
    expect((await ask({ duration: 4 })).durationSeconds).toBe(4);
    expect((await ask({ duration: 15 })).durationSeconds).toBe(15);
    expect(await refused({ duration: 3 }, 'duration')).toBe('duration must be from 4 to 15 seconds');
    await refused({ duration: 16 }, 'duration');
    await refused({ seconds: 16 }, 'seconds');
  });

  it('[VIDEO-9] is 6 s where nothing is said', async () => {
    expect((await ask()).durationSeconds).toBe(6);
    expect((await ask({ duration: null, seconds: null })).durationSeconds).toBe(6);
  });

  it('[VIDEO-10] may be a whole number as text, and nothing else', async () => {
    expect((await ask({ duration: '6' })).durationSeconds).toBe(6);
    for (const duration of [6.5, '6.5', 'abc', '', ' 6', '0x6', true])
      expect(await refused({ duration }, 'duration')).toBe('duration must be a whole number');
  });

  it('[VIDEO-11] so may every other whole number of a request, and nothing else is read so', async () => {
    expect(await ask({ num_inference_steps: '20', seed: '-7', seconds: '5' })).toMatchObject({
      steps: 20,
      seed: -7,
      durationSeconds: 5,
    });
    expect((await ask({ provider: { options: { num_inference_steps: '21' } } })).steps).toBe(21);
    await refused({ start_time_seconds: '1' }, 'start_time_seconds');
    await refused({ generate_audio: 'true' }, 'generate_audio');
    await refused({ seed: '99999999999999999' }, 'seed');
  });

  it('[VIDEO-12] is also called seconds, and duration wins', async () => {
    expect((await ask({ seconds: 5 })).durationSeconds).toBe(5);
    expect((await ask({ seconds: 5, duration: 7 })).durationSeconds).toBe(7);
  });
});

describe('the size', () => {
  it('[VIDEO-13] [VIDEO-16] [VIDEO-17] is 768p and 16:9 where nothing is said', async () => {
    expect(await ask()).toMatchObject({ width: 1344, height: 768, upscale: 1, fps: 24 });
    expect(await refused({ resolution: '720p' }, 'resolution')).toContain('768p, 2K');
    expect(await refused({ aspect_ratio: '2:1' }, 'aspect_ratio')).toContain(
      '16:9, 9:16, 4:3, 3:4, 1:1, 21:9',
    );
  });

  it('[VIDEO-18] at 2K is the 768p preset, enlarged twice', async () => {
    const body = { resolution: '2K', aspect_ratio: '21:9' };
    expect(await ask(body)).toMatchObject({ width: 3072, height: 1344, upscale: 2, schedule: 'turbo' });
  });

  it('[VIDEO-14] [VIDEO-15] at 2K is rendered by the turbo schedule alone', async () => {
    for (const quality of ['standard', 'medium', 'max', 'high'])
      await refused({ resolution: '2K', quality }, 'quality');
    await refused({ size: '2688x1536', quality: 'max' }, 'quality');
    for (const steps of [10, 20, 50])
      await refused({ resolution: '2K', num_inference_steps: steps }, 'num_inference_steps');
    expect((await ask({ resolution: '2K', num_inference_steps: 9 })).steps).toBe(9);
  });

  it('[VIDEO-19] [VIDEO-20] [VIDEO-21] may be named by its sides, and must agree with what else is said', async () => {
    expect(await make({ size: '1536x2048' })).toMatchObject({
      resolution: '2K',
      aspect_ratio: '3:4',
      size: '1536x2048',
    });
    expect((await make({ size: '768x768', aspect_ratio: '1:1', resolution: '768p' })).size).toBe('768x768');
    await refused({ size: '800x600' }, 'size');
    await refused({ size: '768x768', aspect_ratio: '16:9' }, 'size');
    await refused({ size: '768x768', resolution: '2K' }, 'size');
  });
});

describe('frames', () => {
  it('[VIDEO-22] are two at most', async () => {
    expect(await refused({ frame_images: many(3, frame()) }, 'frame_images')).toBe(
      'frame_images must have at most 2 items',
    );
  });

  it('[VIDEO-23] need a type, an address and a place', async () => {
    const { type: _, ...untyped } = frame();
    const { image_url: __, ...imageless } = frame();
    const { frame_type: ___, ...placeless } = frame();
    await refused({ frame_images: [untyped] }, 'frame_images[0].type');
    await refused({ frame_images: [{ ...frame(), type: 'video_url' }] }, 'frame_images[0].type');
    await refused({ frame_images: [imageless] }, 'frame_images[0].image_url');
    await refused({ frame_images: [{ ...frame(), image_url: {} }] }, 'frame_images[0].image_url.url');
    await refused({ frame_images: [frame(), placeless] }, 'frame_images[1].frame_type');
  });

  it('[VIDEO-24] are the first and the last one, each once', async () => {
    const message = await refused({ frame_images: [frame('middle')] }, 'frame_images[0].frame_type');
    expect(message).toContain('"first_frame", "last_frame"');
    await refused({ frame_images: [frame(), frame()] }, 'frame_images[1].frame_type');
  });

  it.each([
    ['first', [frame('first_frame')]],
    ['last', [frame('last_frame')]],
    ['both', [frame('last_frame', toDataUri(jpegFile, 'image/jpeg')), frame('first_frame')]],
  ])('[VIDEO-25] reach the engine: %s', async (which, frame_images) => {
    const { firstFrame, lastFrame, references } = await ask({ frame_images });
    expect(firstFrame?.mediaType).toBe(which === 'last' ? undefined : 'image/png');
    expect(lastFrame?.mediaType).toBe({ first: undefined, last: 'image/png', both: 'image/jpeg' }[which]);
    if (which !== 'last') expect(firstFrame?.bytes).toEqual(pngFile);
    expect(references).toEqual([]);
  });

  it('[VIDEO-28] win over references of every form', async () => {
    const body = {
      frame_images: [frame('last_frame')],
      input_references: [image('https://files.example/unread.png')],
      input_reference: 'https://files.example/unread.png',
    };
    const { firstFrame, lastFrame, references, steps } = await ask(body);
    expect({ firstFrame, references, steps }).toEqual({ firstFrame: undefined, references: [], steps: 4 });
    expect(lastFrame?.bytes).toEqual(pngFile);
    expect(shell.fetched).not.toContain('https://files.example/unread.png');
  });

  it('[VIDEO-29] may be one alone: an address, a data URI, or an object with either', async () => {
    const url = 'https://files.example/frame.webp';
    shell.web.set(url, webpFile);
    for (const input_reference of [url, { image_url: url }, { image_url: { url } }]) {
      const { firstFrame, lastFrame } = await ask({ input_reference });
      expect(firstFrame).toMatchObject({ bytes: webpFile, mediaType: 'image/webp' });
      expect(lastFrame).toBeUndefined();
    }
    expect((await ask({ input_reference: png })).firstFrame?.bytes).toEqual(pngFile);
    expect((await ask({ input_reference: { image_url: png } })).firstFrame?.bytes).toEqual(pngFile);
  });

  it('[VIDEO-30] of any other type are a 400', async () => {
    for (const input_reference of [5, true, [png], {}, { image_url: 5 }, { file_id: 'file_1' }])
      await refused({ input_reference }, expect.stringMatching(/^input_reference/));
  });
});

describe('references', () => {
  it('[VIDEO-26] are pictures, films and sounds, each with its own address', async () => {
    const { references, steps } = await ask({
      input_references: [image(), video(films.short), audio(sounds.wav)],
    });
    expect(
      references.map(({ kind, role, mediaType, bytes }) => [kind, role, mediaType, bytes.length]),
    ).toEqual([
      ['image', 'reference', 'image/png', pngFile.length],
      ['video', 'reference', 'video/mp4', films.short.length],
      ['audio', 'reference', 'audio/wav', sounds.wav.length],
    ]);
    expect(steps).toBe(8);
    const path = 'input_references[0]';
    await refused({ input_references: [{ image_url: { url: png } }] }, `${path}.type`);
    await refused({ input_references: [{ ...image(), type: 'text' }] }, `${path}.type`);
    await refused({ input_references: [{ ...image(), type: 'video_url' }] }, `${path}.video_url`);
    await refused({ input_references: [{ type: 'image_url', image_url: {} }] }, `${path}.image_url.url`);
  });

  it('[VIDEO-27] have the role reference, and no other on a model without them', async () => {
    const { references } = await ask({ input_references: [{ ...image(), role: 'reference' }] });
    expect(references).toMatchObject([{ role: 'reference' }]);
    for (const role of ['driving', 'control', 'other'])
      await refused({ input_references: [{ ...image(), role }] }, 'input_references[0].role');
  });

  it('[VIDEO-31] [VIDEO-32] are up to nine pictures, three films, three sounds, and twelve in all', async () => {
    const short = video(films.short);
    const sound = audio(sounds.wav);
    const most = [...many(6, image()), ...many(3, short), ...many(3, sound)];
    expect((await ask({ input_references: most })).references).toHaveLength(12);
    expect((await ask({ input_references: many(9, image()) })).references).toHaveLength(9);
    expect(await refused({ input_references: many(10, image()) }, 'input_references')).toBe(
      'input_references must have at most 9 of type image_url',
    );
    await refused({ input_references: many(4, short) }, 'input_references');
    await refused({ input_references: many(4, sound) }, 'input_references');
    expect(await refused({ input_references: [...most, image()] }, 'input_references')).toBe(
      'input_references must have at most 12 items',
    );
  });

  it('[VIDEO-33] are https addresses or data URIs', async () => {
    const url = 'input_references[0].image_url.url';
    for (const address of ['http://files.example/a.png', 'ftp://files.example/a', '/a.png', 'nonsense'])
      expect(await refused({ input_references: [image(address)] }, url)).toBe(`${url} must be an https URL`);
    await refused({ input_references: [image('data:image/png;base64,*')] }, url);
    await refused({ input_reference: 'http://files.example/a.png' }, 'input_reference');
    await refused(
      { frame_images: [frame('first_frame', 'https://10.0.0.1/a')] },
      'frame_images[0].image_url.url',
    );
  });

  it('[VIDEO-34] are JPG, PNG, WEBP, HEIC, HEIF, MP4, MOV, WAV and MP3, by their bytes', async () => {
    const { references } = await ask({
      input_references: [
        image(toDataUri(jpegFile, 'application/octet-stream')),
        image(toDataUri(webpFile, 'image/png')),
        video(films.short),
        video(toMov(films.short)),
        audio(sounds.wav),
        audio(sounds.mp3),
      ],
    });
    const types = ['image/jpeg', 'image/webp', 'video/mp4', 'video/quicktime', 'audio/wav', 'audio/mpeg'];
    expect(references.map(({ mediaType }) => mediaType)).toEqual(types);
    expect(shell.accepted.at(-1)?.kinds).toEqual(['jpeg', 'png', 'webp', 'heic', 'heif']);
    const path = 'input_references[0]';
    const gif = toDataUri(Buffer.from('GIF89a\u0002\0\u0002\0'), 'image/gif');
    await refused({ input_references: [image(gif)] }, `${path}.image_url.url`);
    await refused(
      { input_references: [image(toDataUri(films.short, 'image/png'))] },
      `${path}.image_url.url`,
    );
    await refused({ input_references: [video(pngFile)] }, `${path}.video_url.url`);
    await refused({ input_references: [video(sounds.wav)] }, `${path}.video_url.url`);
    expect(await refused({ input_references: [audio(sounds.flac)] }, `${path}.audio_url.url`)).toMatch(
      /wav/i,
    );
    await refused({ input_references: [audio(films.short)] }, `${path}.audio_url.url`);
  });

  it.each([
    ['image', 30, () => ({ input_references: [image('https://files.example/big')] })],
    [
      'video',
      50,
      () => ({ input_references: [{ type: 'video_url', video_url: { url: 'https://files.example/big' } }] }),
    ],
    [
      'audio',
      15,
      () => ({ input_references: [{ type: 'audio_url', audio_url: { url: 'https://files.example/big' } }] }),
    ],
  ] as const)('[VIDEO-35] over the size of %s (%d MB) are a 413', async (kind, megabytes, body) => {
    const param = `input_references[0].${kind}_url.url`;
    const padded = Buffer.alloc(megabytes * 1e6 + 1);
    const uri = `data:application/octet-stream;base64,${padded.toString('base64')}`;
    const inline = { input_references: [{ type: `${kind}_url`, [`${kind}_url`]: { url: uri } }] };
    expect(await refused(inline, param, 413)).toBe(`${param} is larger than the limit of ${megabytes} MB`);
    // At its largest it is looked at, and is no such medium.
    shell.web.set('https://files.example/big', padded.subarray(1));
    await refused(body(), param, 400);
    shell.web.delete('https://files.example/big');
  });

  it('[VIDEO-36] last 2 to 15 s', async () => {
    expect((await ask({ input_references: [video(films.long)] })).references).toHaveLength(1);
    const param = (kind: string) => `input_references[0].${kind}_url.url`;
    expect(await refused({ input_references: [video(films.tooShort)] }, param('video'))).toMatch(
      /must be 2 to 15 s long, and is 1\.8\d s$/,
    );
    await refused({ input_references: [video(films.tooLong)] }, param('video'));
    await refused({ input_references: [audio(sounds.tooShort)] }, param('audio'));
    await refused({ input_references: [audio(sounds.tooLong)] }, param('audio'));
  });

  it('[VIDEO-48] [VIDEO-49] start_time_seconds says from where films are read', async () => {
    const input_references = [video(films.short)];
    expect((await ask({ input_references, start_time_seconds: 1.25 })).startTimeSeconds).toBe(1.25);
    expect((await ask({ input_references, start_time_seconds: 0 })).startTimeSeconds).toBe(0);
    expect((await ask({ input_references })).startTimeSeconds).toBeUndefined();
    expect(await refused({ start_time_seconds: -1 }, 'start_time_seconds')).toBe(
      'start_time_seconds must be at least 0',
    );
  });

  it('that fail end the reading of the others, and make no job', async () => {
    const before = (await shell.get('/videos?limit=1')).json().first_id;
    shell.web.set('https://files.example/one.png', pngFile);
    const references = [
      image('https://files.example/none.png'),
      ...many(8, image('https://files.example/one.png')),
    ];
    shell.fetched.length = 0;
    await refused({ input_references: references }, 'input_references[0].image_url.url');
    expect((await shell.get('/videos?limit=1')).json().first_id).toBe(before);
    // As many as are read at once; the rest would have been by now.
    await ask({ input_references: many(2, image()) });
    expect(shell.fetched.length).toBeLessThanOrEqual(3);
  });
});

describe('sound and seed', () => {
  it('[VIDEO-37] there is a soundtrack unless generate_audio is false', async () => {
    expect((await ask()).generateAudio).toBe(true);
    expect((await ask({ generate_audio: true })).generateAudio).toBe(true);
    expect((await make({ generate_audio: false })).generate_audio).toBe(false);
    for (const generate_audio of ['true', 1, 0, 'no'])
      expect(await refused({ generate_audio }, 'generate_audio')).toBe('generate_audio must be a boolean');
  });

  it('[VIDEO-39] seed is a whole number; without one each render has its own', async () => {
    expect((await ask({ seed: 0 })).seed).toBe(0);
    expect((await make({ seed: 123 })).seed).toBe(123);
    for (const seed of [1.5, 'x', true, []]) await refused({ seed }, 'seed');
    const seeds = [(await ask()).seed, (await ask()).seed];
    expect(seeds[0]).not.toBe(seeds[1]);
  });
});

describe('steps and quality', () => {
  it('[VIDEO-40] [VIDEO-42] [VIDEO-43] steps are 4 to 50: below 10 turbo, from there on the base model', async () => {
    expect(await ask({ num_inference_steps: 4 })).toMatchObject({ steps: 4, schedule: 'turbo' });
    expect(await ask({ num_inference_steps: 9 })).toMatchObject({ steps: 9, schedule: 'turbo' });
    expect(await ask({ num_inference_steps: 10 })).toMatchObject({ steps: 10, schedule: 'base' });
    expect(await ask({ num_inference_steps: 50 })).toMatchObject({ steps: 50, schedule: 'base' });
    for (const num_inference_steps of [3, 51])
      expect(await refused({ num_inference_steps }, 'num_inference_steps')).toBe(
        'num_inference_steps must be from 4 to 50',
      );
  });

  it.each([
    ['turbo', 'turbo', 4, 'turbo'],
    ['auto', 'turbo', 4, 'turbo'],
    ['low', 'turbo', 4, 'turbo'],
    ['standard', 'standard', 20, 'base'],
    ['medium', 'standard', 20, 'base'],
    ['max', 'max', 40, 'base'],
    ['high', 'max', 40, 'base'],
    [undefined, 'turbo', 4, 'turbo'],
  ] as const)(
    '[VIDEO-41] [VIDEO-44] [VIDEO-45] [VIDEO-46] quality %s is the tier %s of %d steps',
    async (quality, tier, steps, schedule) => {
      const { id, ...job } = await make({ quality });
      expect(job).toMatchObject({ quality: tier, num_inference_steps: steps });
      expect((await engine.filming(id)).request).toMatchObject({ steps, schedule });
    },
  );

  it('[VIDEO-44] [VIDEO-47] another quality, or steps that are not its own, are a 400', async () => {
    expect(await refused({ quality: 'best' }, 'quality')).toContain('"turbo", "standard", "max"');
    expect(await refused({ quality: 'max', num_inference_steps: 20 }, 'num_inference_steps')).toBe(
      'num_inference_steps disagrees with the quality max, which takes 40 steps',
    );
    expect((await ask({ quality: 'max', num_inference_steps: 40 })).steps).toBe(40);
    await refused({ quality: 'turbo', num_inference_steps: 8 }, 'num_inference_steps');
    const input_references = [image()];
    expect((await ask({ quality: 'turbo', num_inference_steps: 8, input_references })).steps).toBe(8);
  });
});

describe('callback_url', () => {
  it.each([
    'http://client.example/hook',
    'https://127.0.0.1/hook',
    'https://10.1.2.3/hook',
    'https://[::1]/hook',
    'https://localhost/hook',
    'https://169.254.169.254/latest',
    'https://user:secret@client.example/',
    'client.example',
    '',
  ])('[VIDEO-50] %s is a 400 naming it', async (callback_url) => {
    await refused({ callback_url }, 'callback_url');
  });

  it('is not a number', async () => {
    await refused({ callback_url: 5 }, 'callback_url');
  });
});

describe('provider', () => {
  it('[VIDEO-51] routing is accepted and ignored', async () => {
    const provider = {
      order: ['a'],
      only: ['b'],
      ignore: ['c'],
      sort: 'price',
      allow_fallbacks: false,
      data_collection: 'deny',
      anything: 1,
    };
    expect((await ask({ provider })).steps).toBe(4);
    expect((await ask({ provider: null, user: 'u', session_id: 's', trace: {} })).steps).toBe(4);
    await refused({ provider: 'a' }, 'provider');
    await refused({ provider: { options: [] } }, 'provider.options');
  });

  it('[VIDEO-52] options carry settings, and the top level wins', async () => {
    const options = { quality: 'standard', start_time_seconds: 3 };
    expect(await ask({ provider: { options } })).toMatchObject({ steps: 20, startTimeSeconds: 3 });
    expect(await ask({ provider: { options }, quality: 'max', start_time_seconds: 1 })).toMatchObject({
      steps: 40,
      startTimeSeconds: 1,
    });
    expect((await ask({ provider: { options: { num_inference_steps: 12 } } })).steps).toBe(12);
    await refused({ provider: { options: { quality: 'best' } } }, 'provider.options.quality');
    await refused(
      { provider: { options: { num_inference_steps: 3 } } },
      'provider.options.num_inference_steps',
    );
    await refused(
      { provider: { options: { start_time_seconds: -1 } } },
      'provider.options.start_time_seconds',
    );
  });

  it('[VIDEO-53] an undeclared option is a 400 naming its path', async () => {
    const answer = await shell.post('/videos', {
      model: 'film',
      prompt: 'a lake',
      provider: { options: { qualty: 'max' } },
    });
    expect(answer.status).toBe(400);
    expect(answer.json().error).toMatchObject({
      param: 'provider.options.qualty',
      metadata: { error_type: 'unsupported_parameter' },
    });
    await refused({ provider: { options: { duration: 5 } } }, 'provider.options.duration');
    await refused({ provider: { options: { minimax: { quality: 'max' } } } }, 'provider.options.minimax');
  });

  it('[VIDEO-54] options may stand under the name of the provider', async () => {
    const options = { roundhouse: { quality: 'standard' } };
    expect((await ask({ provider: { options } })).steps).toBe(20);
    expect((await ask({ provider: { options: { ...options, quality: 'max' } } })).steps).toBe(40);
    await refused(
      { provider: { options: { roundhouse: { qualty: 1 } } } },
      'provider.options.roundhouse.qualty',
    );
    await refused({ provider: { options: { roundhouse: 'max' } } }, 'provider.options.roundhouse');
  });
});

describe('a form', () => {
  const blob = (bytes: Buffer) => new Blob([new Uint8Array(bytes)]);
  async function askForm(fields: readonly (readonly [string, string | Blob])[]) {
    const answer = await shell.postForm('/videos', [['model', 'film'], ['prompt', 'a lake'], ...fields]);
    expect([answer.status, answer.body]).toEqual([202, expect.any(String)]);
    const { request } = await engine.filming(answer.json().id);
    return { request, job: answer.json() };
  }

  it('[VIDEO-55] has model, prompt, seconds, size, a file, generate_audio and callback_url', async () => {
    const { request, job } = await askForm([
      ['seconds', '5'],
      ['size', '768x768'],
      ['input_reference', blob(pngFile)],
      ['generate_audio', 'false'],
      ['callback_url', 'https://client.example/form'],
    ]);
    expect(request).toMatchObject({ durationSeconds: 5, width: 768, height: 768, generateAudio: false });
    expect(request.firstFrame).toMatchObject({ bytes: pngFile, mediaType: 'image/png' });
    await shell.finished(job.id);
    await shell.webhooks.idle();
    expect(shell.delivered.map(({ url }) => url)).toContain('https://client.example/form');
  });

  it('[VIDEO-38] generate_audio there is the text true or false', async () => {
    expect((await askForm([['generate_audio', 'true']])).request.generateAudio).toBe(true);
    for (const text of ['1', 'TRUE', 'yes', '']) {
      const answer = await shell.postForm('/videos', [
        ['model', 'film'],
        ['prompt', 'a lake'],
        ['generate_audio', text],
      ]);
      expect([text, answer.status]).toEqual([text, 400]);
      expect(answer.json().error.param).toBe('generate_audio');
    }
  });

  it('[VIDEO-57] has structure in brackets, and a repeated leaf starts a new element', async () => {
    const { request } = await askForm([
      ['frame_images[][type]', 'image_url'],
      ['frame_images[][image_url][url]', png],
      ['frame_images[][frame_type]', 'first_frame'],
      ['frame_images[][type]', 'image_url'],
      ['frame_images[][image_url][url]', toDataUri(jpegFile, 'image/jpeg')],
      ['frame_images[][frame_type]', 'last_frame'],
    ]);
    expect([request.firstFrame?.mediaType, request.lastFrame?.mediaType]).toEqual([
      'image/png',
      'image/jpeg',
    ]);
    const one = await askForm([['input_reference[image_url]', png]]);
    expect(one.request.firstFrame?.bytes).toEqual(pngFile);
    const options = await askForm([
      ['provider[options][quality]', 'standard'],
      ['provider[options][start_time_seconds]', '1.5'],
    ]);
    expect(options.request).toMatchObject({ steps: 20, startTimeSeconds: 1.5 });
  });

  it('[VIDEO-58] has structure as JSON, and numbers and truth as text', async () => {
    const { request } = await askForm([
      ['frame_images', JSON.stringify([frame('last_frame')])],
      ['num_inference_steps', '10'],
      ['seed', '5'],
      ['duration', '7'],
      ['start_time_seconds', '0.5'],
    ]);
    expect(request).toMatchObject({ steps: 10, seed: 5, durationSeconds: 7, startTimeSeconds: 0.5 });
    expect(request.lastFrame?.bytes).toEqual(pngFile);
    const referred = await askForm([
      ['input_references', JSON.stringify([image()])],
      ['provider', JSON.stringify({ options: { start_time_seconds: 2 } })],
    ]);
    expect(referred.request).toMatchObject({ references: [{ kind: 'image' }], startTimeSeconds: 2 });
    for (const value of [{ image_url: png }, { image_url: { url: png } }]) {
      const inside = await askForm([['input_reference', JSON.stringify(value)]]);
      expect(inside.request.firstFrame?.bytes).toEqual(pngFile);
    }
  });

  it('takes pictures that are larger than most fields, and refuses them by their own limit', async () => {
    // Bytes behind the end of a PNG are none of it.
    const large = Buffer.concat([pngFile, Buffer.alloc(2e6)]);
    const { request } = await askForm([['input_reference[image_url]', toDataUri(large, 'image/png')]]);
    expect(request.firstFrame?.bytes.length).toBe(large.length);
    const tooLarge = await shell.postForm('/videos', [
      ['model', 'film'],
      ['prompt', 'a lake'],
      ['input_reference', blob(Buffer.alloc(30e6 + 1))],
    ]);
    expect(tooLarge.status).toBe(413);
    expect(tooLarge.json().error.message).toMatch(/^input_reference is larger than the limit of 30 MB/);
  });
});

describe('a model that takes little', () => {
  const plain = { model: 'film-plain', prompt: 'a lake' };
  it.each([
    ['seed', 1],
    ['quality', 'turbo'],
    ['num_inference_steps', 4],
    ['start_time_seconds', 1],
    ['frame_images', [frame()]],
    ['input_reference', png],
    ['input_references', [image()]],
    ['generate_audio', true],
    ['cfg', 7],
    ['negative_prompt', 'rain'],
  ])('refuses %s by name', async (name, value) => {
    const answer = await shell.post('/videos', { ...plain, [name]: value });
    expect(answer.status).toBe(400);
    expect(answer.json().error).toEqual({
      code: 400,
      message: `${name} is not supported by the model film-plain`,
      type: 'validation_error',
      param: name,
      metadata: { error_type: 'unsupported_parameter' },
    });
  });

  it('is asked for what it is', async () => {
    const { id, ...job } = await shell.create('/videos', { ...plain, generate_audio: false, seed: null });
    expect(job).toMatchObject({ duration: 2, size: '640x352', resolution: '480p', generate_audio: false });
    expect((await engine.filming(id)).request).toMatchObject({ width: 640, height: 352, durationSeconds: 2 });
  });
});
