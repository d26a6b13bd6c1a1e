import { describe, expect, it } from 'vitest';
import { modelTypes } from '../engines/contract/model-type.ts';
import { engineKinds } from '../engines/index.ts';
import { createValidator } from '../lib/schema.ts';
import { declarations } from '../platform/catalog/declaration.ts';
import { createCatalog, type Model, type ModelType } from '../platform/catalog/index.ts';
import { builtinEngines, builtins } from './builtin-models.ts';
import { parseSettings } from './settings.ts';

const catalog = createCatalog({
  settings: parseSettings({ file: undefined, env: {}, engineKinds }),
  engineKinds,
});
const model = <T extends ModelType>(type: T, id: string): Model<T> => catalog.resolve(type, id).model;

describe('the built-in models', () => {
  it.each(builtins.models.map((declaration) => [declaration.id, declaration] as const))(
    '%s keeps to the schema that files are checked against',
    (_, declaration) => {
      const validator = createValidator(declarations[declaration.type]);
      expect(validator.check(declaration) || validator.problem(declaration)).toBe(true);
    },
  );

  it('are all listed, with names and descriptions, those of the sandbox with prices', () => {
    expect(catalog.listed().map(({ id }) => id)).toEqual(builtins.models.map(({ id }) => id));
    for (const { id, name, description, pricing, engines } of catalog.listed()) {
      const isMadeUp = engines.includes('sandbox');
      expect(name.startsWith('Sandbox '), id).toBe(isMadeUp);
      expect(description?.length, id).toBeGreaterThan(20);
      expect(Object.keys(pricing ?? {}).length > 0, id).toBe(isMadeUp);
    }
  });

  it.each(modelTypes.map((type) => [type]))('one is the default for %s', (type) => {
    expect(catalog.resolve(type, undefined).model.id).toBe(builtins.defaults[type]);
  });
});

it('the engine of the embedded models has more slots than one subscription may fill, and not without end', () => {
  const slots = builtinEngines['embedded']?.['slots'];
  expect(slots).toBeGreaterThan(8);
  expect(slots).toBeLessThanOrEqual(16);
});

describe('the default image model', () => {
  const image = model('image', 'sandbox-image');

  it('has the specification’s limits', () => {
    expect(image).toMatchObject({
      maxPromptLength: 4000,
      maxImages: 10,
      size: { multipleOf: 16, minArea: 65_536, maxArea: 4_194_304, maxRatio: 4, default: '1024x1024' },
      steps: { min: 1, max: 50, default: 8 },
      guidanceScale: { min: 0, max: 20, default: 0 },
      transparentBackground: false,
    });
    expect(image.references).toBeUndefined();
  });

  it('has the resolutions 512, 768, 1K, 1.5K and 2K, each with every ratio, and no 4K', () => {
    expect(Object.keys(image.resolutions).sort()).toEqual(['1.5K', '1K', '2K', '512', '768']);
    const ratios = Object.keys(image.resolutions['1K'] ?? {});
    expect(ratios).toContain('16:9');
    for (const row of Object.values(image.resolutions)) expect(Object.keys(row)).toEqual(ratios);
  });

  it('the edit-capable one takes ten references, a mask and a clear background', () => {
    expect(model('image', 'sandbox-image-edit')).toMatchObject({
      references: { max: 10, formats: ['png', 'webp', 'jpeg'], mask: true },
      transparentBackground: true,
    });
  });
});

describe('the primary video model', () => {
  it('has the specification’s tables', () => {
    const video = model('video', 'sandbox-video');
    const ratios = ['16:9', '9:16', '4:3', '3:4', '1:1', '21:9'];
    expect(ratios.map((ratio) => video.resolutions['768p']?.[ratio]).join(', ')).toBe(
      '1344x768, 768x1344, 1024x768, 768x1024, 768x768, 1536x672',
    );
    expect(ratios.map((ratio) => video.resolutions['2K']?.[ratio]).join(', ')).toBe(
      '2688x1536, 1536x2688, 2048x1536, 1536x2048, 1536x1536, 3072x1344',
    );
    expect(video).toMatchObject({
      maxPromptLength: 7000,
      duration: { min: 4, max: 15, default: 6 },
      defaultResolution: '768p',
      defaultAspectRatio: '16:9',
      fps: 24,
      steps: { min: 4, max: 50 },
      inputReferences: { images: 9, videos: 3, audio: 3, total: 12 },
      frameImages: ['first_frame', 'last_frame'],
      resolutionPriceFactors: { '2K': 4 },
      turboOnlyResolutions: ['2K'],
    });
  });
});

it('the primary music model is heard while it renders, at 32 kHz in stereo', () => {
  expect(model('music', 'sandbox-music')).toMatchObject({
    sampleRate: 32_000,
    channels: 2,
    progressive: true,
  });
});

it('the speech model has several voices, designs and clones', () => {
  const speech = model('speech', 'sandbox-speech');
  expect(speech.voices.length).toBeGreaterThan(1);
  expect(speech).toMatchObject({ design: true, clone: true });
});

it('the embedding model has a query instruction that begins with its marker', () => {
  const { queryInstruction, flexibleDimensions } = model('embedding', 'sandbox-embedding');
  expect(queryInstruction?.text.startsWith(queryInstruction.marker)).toBe(true);
  expect(flexibleDimensions).toBe(true);
});
