import { describe, expect, it } from 'vitest';
import { checkDeclaration } from './checks.ts';
import type { Declaration } from './declaration.ts';

const problems = (model: Declaration) =>
  checkDeclaration(model).map(({ path, message }) => `${path} ${message}`);

const image: Declaration<'image'> = {
  id: 'picture',
  type: 'image',
  maxPromptLength: 100,
  size: { multipleOf: 16, minArea: 65_536, maxArea: 1_048_576, maxRatio: 2, default: '1024x1024' },
  resolutions: { '1K': { '1:1': '1024x1024', '3:2': '1248x832' } },
  defaultResolution: '1K',
};
const video: Declaration<'video'> = {
  id: 'film',
  type: 'video',
  maxPromptLength: 100,
  duration: { min: 4, max: 15, default: 6 },
  resolutions: { '768p': { '16:9': '1344x768', '1:1': '768x768' } },
  defaultResolution: '768p',
  defaultAspectRatio: '16:9',
  fps: 24,
  audio: true,
};
const speech: Declaration<'speech'> = {
  id: 'voice',
  type: 'speech',
  maxPromptLength: 100,
  voices: [{ id: 'nora' }, { id: 'paul' }],
  defaultVoice: 'nora',
};
const chat: Declaration<'chat'> = { id: 'talk', type: 'chat', contextLength: 8192 };

it('sound declarations have no problems', () => {
  for (const model of [image, video, speech, chat]) expect(problems(model)).toEqual([]);
});

describe('image sizes keep to the declared constraint', () => {
  const withSize = (ratio: string, size: string) =>
    problems({ ...image, resolutions: { '1K': { [ratio]: size } } });

  it.each([
    ['1:1', '1000x1000', 'must have sides that are multiples of 16: 1000x1000'],
    ['1:1', '2048x2048', 'must have an area of 65536 to 1048576 pixels: 2048x2048 has 4194304'],
    ['1:1', '16x16', 'must have an area of 65536 to 1048576 pixels: 16x16 has 256'],
    ['3:1', '1536x512', 'must have a longer side of at most 2 times the shorter: 1536x512'],
    ['1:1', '1248x832', 'does not have the aspect ratio 1:1: 1248x832'],
    ['0:1', '1024x1024', 'does not have the aspect ratio 0:1: 1024x1024'],
  ])('%s as %s is refused', (ratio, size, message) => {
    expect(withSize(ratio, size)).toEqual([`resolutions.1K.${ratio} ${message}`]);
  });

  it('and so do the default size and the areas themselves', () => {
    expect(problems({ ...image, size: { ...image.size, default: '1000x1000' } })[0]).toMatch(
      /^size\.default must have sides/,
    );
    expect(problems({ ...image, size: { ...image.size, minArea: 2_000_000 } })[0]).toBe(
      'size.minArea must be at most maxArea',
    );
    expect(problems({ ...image, size: { ...image.size, maxTotalArea: 5 } })).toEqual([
      'size.maxTotalArea must be at least maxArea',
    ]);
  });

  it('the default resolution exists', () => {
    expect(problems({ ...image, defaultResolution: '4K' })).toEqual([
      'defaultResolution must be one of resolutions, 1K',
    ]);
    expect(problems({ ...image, resolutions: {} })).toEqual(['resolutions must have at least 1 entry']);
  });

  it('ranges hold their defaults', () => {
    expect(problems({ ...image, steps: { min: 1, max: 50, default: 60 } })).toEqual([
      'steps.default must be from 1 to 50',
    ]);
    expect(problems({ ...image, guidanceScale: { min: 5, max: 1 } })).toEqual([
      'guidanceScale.min must be at most guidanceScale.max',
    ]);
  });
});

describe('video tables', () => {
  it('have even sides and each size once', () => {
    const resolutions = { '768p': { '16:9': '1344x768' }, tiny: { '16:9': '1344x768', '1:1': '255x255' } };
    expect(problems({ ...video, resolutions })).toEqual([
      'resolutions.tiny.16:9 is the same size as resolutions.768p.16:9: 1344x768',
      'resolutions.tiny.1:1 must have even sides, as video codecs do: 255x255',
    ]);
  });

  it('have the default ratio at every resolution, and the default resolution', () => {
    const resolutions = { '768p': { '1:1': '768x768' } };
    expect(problems({ ...video, resolutions })).toEqual([
      'resolutions.768p has no size for the default aspect ratio, 16:9',
    ]);
    expect(problems({ ...video, defaultResolution: '2K' })).toEqual([
      'defaultResolution must be one of resolutions, 768p',
    ]);
  });

  it('name only resolutions that exist', () => {
    expect(
      problems({ ...video, resolutionPriceFactors: { '2K': 4 }, turboOnlyResolutions: ['768p', '4K'] }),
    ).toEqual([
      'resolutionPriceFactors.2K must be one of resolutions, 768p',
      'turboOnlyResolutions[1] must be one of resolutions, 768p',
    ]);
  });

  it('hold the default duration, and no more references than there can be', () => {
    expect(problems({ ...video, duration: { min: 4, max: 15, default: 20 } })).toEqual([
      'duration.default must be from 4 to 15',
    ]);
    expect(problems({ ...video, inputReferences: { images: 1, videos: 0, audio: 0, total: 2 } })).toEqual([
      'inputReferences.total must be at most images, videos and audio together',
    ]);
  });
});

describe('speech', () => {
  it('has its default voice', () => {
    expect(problems({ ...speech, defaultVoice: 'zoe' })).toEqual([
      'defaultVoice must be one of the voices, nora, paul',
    ]);
  });

  it('has each voice once, and none that is called like a mode', () => {
    expect(problems({ ...speech, voices: [{ id: 'nora' }, { id: 'nora' }, { id: 'clone' }] })).toEqual([
      'voices[1].id "nora" is the id of two voices',
      'voices[2].id "clone" is a mode of the speech route',
    ]);
  });
});

describe('chat', () => {
  it('cannot answer with more tokens than its window', () => {
    expect(problems({ ...chat, maxCompletionTokens: 9000 })).toEqual([
      'maxCompletionTokens must be at most the contextLength, 8192',
    ]);
  });

  it('reasons by default as it can', () => {
    const reasoning = { supportedEfforts: ['low' as const], defaultEffort: 'high' as const };
    expect(problems({ ...chat, reasoning })).toEqual([
      'reasoning.defaultEffort must be one of supportedEfforts, low',
    ]);
    expect(problems({ ...chat, reasoning: { mandatory: true, defaultEnabled: false } })).toEqual([
      'reasoning.defaultEnabled must not be false where reasoning is mandatory',
    ]);
  });
});

it('music holds its default duration', () => {
  const music: Declaration<'music'> = {
    id: 'song',
    type: 'music',
    maxPromptLength: 10,
    duration: { min: 20, max: 10, default: 15 },
    formats: ['mp3'],
    lyrics: false,
    instrumental: true,
    seed: false,
    sampleRate: 32_000,
    channels: 2,
    progressive: false,
  };
  expect(problems(music)).toEqual(['duration.min must be at most duration.max']);
});

it('a shutdown date is a day of the calendar', () => {
  expect(problems({ ...chat, shutdownDate: '2027-02-30' })).toEqual([
    'shutdownDate must be a date of the calendar',
  ]);
  expect(problems({ ...chat, shutdownDate: '2028-02-29' })).toEqual([]);
});

it('an id cannot be the path of another route', () => {
  expect(problems({ ...chat, id: 'count' })).toEqual(['id "count" is the path of another route']);
});
