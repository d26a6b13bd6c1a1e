import { describe, expect, test } from 'vitest';
import { createSampleCatalog, sampleModel } from '../../../test/support/sample-models.ts';
import { createValidator } from '../../lib/schema.ts';
import { ModelEntry, toModelEntry } from './entry.ts';

const listed = createSampleCatalog().listed();
const entries = listed.map(toModelEntry);
const entryOf = (id: string) => entries.find((entry) => entry.id === id)!;
const ofType = (...types: string[]) =>
  listed.filter((model) => types.includes(model.type)).map((model) => entryOf(model.id));

describe('the public model entry', () => {
  test('has the declared shape for every type of model', () => {
    const validator = createValidator(ModelEntry);
    const wrong = entries.flatMap((entry) => {
      const { id } = entry;
      return validator.check(entry) ? [] : [{ id, ...validator.problem(entry) }];
    });
    expect(wrong).toEqual([]);
    expect(new Set(listed.map((model) => model.type)).size).toBe(9);
  });

  test('is rendered once for each model', () => {
    const model = listed[0]!;
    expect(toModelEntry(model)).toBe(toModelEntry(model));
  });

  test('[MODEL-1] has id and name strings and an integer Unix created', () => {
    expect(entryOf('qwen3-8b')).toMatchObject({ id: 'qwen3-8b', name: 'Qwen3 8B', created: 1_760_000_000 });
    for (const { id, name, created } of entries) {
      expect([typeof id, typeof name]).toEqual(['string', 'string']);
      expect(Number.isSafeInteger(created) && created > 1_000_000_000 && created < 10_000_000_000).toBe(true);
    }
  });

  test('[MODEL-2] canonical_slug equals the model id', () => {
    for (const entry of entries) expect(entry.canonical_slug).toBe(entry.id);
  });

  test('[MODEL-3] hugging_face_id is a string or null', () => {
    expect(entryOf('qwen3-8b').hugging_face_id).toBe('Qwen/Qwen3-8B');
    expect(entryOf('plain-chat').hugging_face_id).toBeNull();
  });

  test('[MODEL-4] [ERR-48] description is a string or absent, never null', () => {
    expect(entryOf('qwen3-8b').description).toBe('A chat model that thinks.');
    expect(entryOf('plain-chat')).not.toHaveProperty('description');
  });

  test('[MODEL-5] context_length is an integer for models that read tokens', () => {
    expect(entryOf('qwen3-8b').context_length).toBe(131_072);
    expect(ofType('chat', 'embedding', 'rerank', 'decision').map((entry) => entry.context_length)).toEqual([
      131_072, 4096, 8192, 512, 8192, 8192, 4096,
    ]);
  });

  test('[MODEL-6] context_length is null for image, video, speech and transcription models', () => {
    const without = ofType('image', 'video', 'speech', 'transcription', 'music');
    expect(without).toHaveLength(9);
    for (const entry of without) {
      expect(entry.context_length).toBeNull();
      expect(entry.top_provider.context_length).toBeNull();
    }
  });

  test('[MODEL-7] architecture says what a model reads and makes, as arrays and as one string', () => {
    expect(entryOf('qwen3-8b').architecture).toEqual({
      input_modalities: ['text', 'image'],
      output_modalities: ['text'],
      modality: 'text+image->text',
      tokenizer: 'Other',
      instruct_type: 'chatml',
    });
  });

  test('[MODEL-8] modality has the form text+image->text and tokenizer is Other', () => {
    const modality = (id: string) => entryOf(id).architecture.modality;
    expect(modality('plain-chat')).toBe('text->text');
    expect(modality('film-one')).toBe('text+image+audio+video->video');
    expect(modality('listen-one')).toBe('audio->transcription');
    for (const { architecture } of entries) {
      expect(architecture.modality).toMatch(/^[a-z]+(\+[a-z]+)*->[a-z]+$/);
      expect(architecture.tokenizer).toBe('Other');
    }
  });

  test('[MODEL-9] architecture.instruct_type is a string or null', () => {
    expect(entryOf('qwen3-8b').architecture.instruct_type).toBe('chatml');
    expect(entryOf('draw-fast').architecture.instruct_type).toBeNull();
  });

  test('[MODEL-10] pricing.prompt and pricing.completion are strings, dollars per token', () => {
    expect(entryOf('qwen3-8b').pricing).toMatchObject({ prompt: '0.00000015', completion: '0.0000006' });
    expect(entryOf('plain-chat').pricing).toEqual({ prompt: '0', completion: '0' });
  });

  test('[MODEL-11] pricing.internal_reasoning and input_cache_read are strings or absent', () => {
    expect(entryOf('qwen3-8b').pricing).toMatchObject({
      internal_reasoning: '0.0000005',
      input_cache_read: '0.00000003',
    });
    expect(Object.keys(entryOf('plain-chat').pricing)).toEqual(['prompt', 'completion']);
  });

  test('[MODEL-12] image models put the price per megapixel in completion; prompt is 0', () => {
    expect(entryOf('draw-fast').pricing).toEqual({ prompt: '0', completion: '0.01' });
  });

  test('[MODEL-13] video and speech models put the price per generated second in completion; prompt is 0', () => {
    expect(entryOf('film-one').pricing).toEqual({ prompt: '0', completion: '0.05' });
    expect(entryOf('voice-one').pricing).toEqual({ prompt: '0', completion: '0.0003' });
    expect(entryOf('song-one').pricing).toEqual({ prompt: '0', completion: '0.002' });
  });

  test('[MODEL-14] transcription models put the price per second read in prompt; completion is 0', () => {
    expect(entryOf('listen-one').pricing).toEqual({ prompt: '0.0001', completion: '0' });
  });

  test('[MODEL-15] embedding, rerank and decision models put the price per input token in prompt', () => {
    expect(entryOf('embed-small').pricing).toEqual({ prompt: '0.00000002', completion: '0' });
    expect(entryOf('rank-one').pricing).toEqual({ prompt: '0.00000005', completion: '0' });
    expect(entryOf('judge-one').pricing).toEqual({ prompt: '0.0000001', completion: '0' });
  });

  test('[MODEL-16] top_provider has is_moderated, context_length and max_completion_tokens', () => {
    expect(entryOf('qwen3-8b').top_provider).toEqual({
      is_moderated: true,
      context_length: 131_072,
      max_completion_tokens: 32_768,
    });
    expect(entryOf('plain-chat').top_provider).toEqual({
      is_moderated: false,
      context_length: 4096,
      max_completion_tokens: null,
    });
  });

  test('[MODEL-17] per_request_limits is present: null', () => {
    for (const entry of entries) expect(entry).toHaveProperty('per_request_limits', null);
  });

  test('[MODEL-18] supported_parameters is an array of strings without repetition', () => {
    for (const { supported_parameters: names } of entries) {
      expect(names.length).toBeGreaterThan(0);
      expect(new Set(names).size).toBe(names.length);
      for (const name of names) expect(name).toMatch(/^[a-z][a-z_]*$/);
    }
  });

  test('[MODEL-18] supported_parameters follows the declaration of a chat model', () => {
    const full = entryOf('qwen3-8b').supported_parameters;
    const bare = entryOf('plain-chat').supported_parameters;
    const declared = [
      'tools',
      'tool_choice',
      'response_format',
      'structured_outputs',
      'logprobs',
      'top_logprobs',
    ];
    expect(full).toEqual(expect.arrayContaining([...declared, 'reasoning', 'reasoning_effort']));
    for (const name of [...declared, 'reasoning', 'reasoning_effort']) expect(bare).not.toContain(name);
    const always = ['max_tokens', 'max_completion_tokens', 'temperature', 'top_p', 'top_k', 'stop', 'seed'];
    expect(bare).toEqual(
      expect.arrayContaining([...always, 'frequency_penalty', 'presence_penalty', 'repetition_penalty']),
    );
  });

  test('[MODEL-18] supported_parameters follows the declaration of the other models', () => {
    const names = (id: string) => entryOf(id).supported_parameters;
    expect(names('embed-small')).toContain('dimensions');
    expect(names('embed-large')).not.toContain('dimensions');
    expect(names('draw-fast')).toEqual(
      expect.arrayContaining(['steps', 'num_inference_steps', 'negative_prompt']),
    );
    expect(names('draw-fast')).not.toContain('input_references');
    expect(names('atelier/draw-edit')).toEqual(expect.arrayContaining(['input_references', 'mask']));
    expect(names('atelier/draw-edit')).not.toContain('steps');
    expect(names('film-one')).toEqual(
      expect.arrayContaining(['quality', 'start_time_seconds', 'generate_audio', 'seed']),
    );
    for (const name of ['quality', 'start_time_seconds', 'generate_audio', 'seed', 'frame_images']) {
      expect(names('film-mini')).not.toContain(name);
    }
    expect(names('song-one')).toEqual(expect.arrayContaining(['lyrics', 'temperature', 'input_references']));
    expect(names('song-mini')).not.toContain('lyrics');
    expect(names('voice-one')).toEqual(expect.arrayContaining(['instructions', 'input_references']));
    expect(names('voice-mini')).not.toContain('instructions');
  });

  test('[MODEL-19] default_parameters is null or holds only the six names', () => {
    expect(entryOf('qwen3-8b').default_parameters).toEqual({
      temperature: 0.6,
      top_p: 0.95,
      top_k: 20,
      frequency_penalty: 0.1,
      presence_penalty: 0.2,
      repetition_penalty: 1.05,
    });
    for (const entry of entries) if (entry.id !== 'qwen3-8b') expect(entry.default_parameters).toBeNull();
  });

  test('[MODEL-20] supported_voices is the voice ids of a speech model and null on every other', () => {
    expect(entryOf('voice-one').supported_voices).toEqual(['vivian', 'ryan']);
    expect(entries.filter((entry) => entry.supported_voices !== null).map((entry) => entry.id)).toEqual([
      'voice-one',
      'voice-mini',
    ]);
  });

  test('[MODEL-21] links.details is a string: the address of the model itself', () => {
    expect(entryOf('qwen3-8b').links).toEqual({ details: '/v1/model/qwen/qwen3-8b' });
    expect(entryOf('acme/thinker').links).toEqual({ details: '/v1/model/acme/acme/thinker' });
  });

  test('[MODEL-23] reasoning is present on reasoning models only, always with a boolean mandatory', () => {
    expect(entryOf('qwen3-8b').reasoning?.mandatory).toBe(false);
    expect(entries.filter((entry) => 'reasoning' in entry).map((entry) => entry.id)).toEqual([
      'qwen3-8b',
      'acme/thinker',
    ]);
  });

  test('[MODEL-24] what is unknown of reasoning is left out, never null', () => {
    expect(entryOf('qwen3-8b').reasoning).toEqual({
      mandatory: false,
      supports_max_tokens: true,
      supported_efforts: ['low', 'medium', 'high'],
      default_effort: 'medium',
      default_enabled: true,
    });
    expect(entryOf('acme/thinker').reasoning).toEqual({ mandatory: false });
  });

  test('[MODEL-25] has object model and owned_by the provider slug', () => {
    expect(entryOf('qwen3-8b')).toMatchObject({ object: 'model', owned_by: 'qwen' });
    for (const entry of entries) expect(entry.object).toBe('model');
  });

  test('[MODEL-26] shutdown_date is a string where the model has one, and absent elsewhere', () => {
    expect(entryOf('qwen3-8b').shutdown_date).toBe('2027-06-30');
    expect(entryOf('plain-chat')).not.toHaveProperty('shutdown_date');
  });

  test('[MODEL-27] output_modalities names each type; music says audio', () => {
    const outputs = new Map(
      listed.map((model) => [model.type, toModelEntry(model).architecture.output_modalities]),
    );
    expect(Object.fromEntries(outputs)).toEqual({
      chat: ['text'],
      embedding: ['embeddings'],
      image: ['image'],
      video: ['video'],
      music: ['audio'],
      speech: ['speech'],
      transcription: ['transcription'],
      decision: ['decisions'],
      rerank: ['rerank'],
    });
  });

  test('[MODEL-28] input_modalities names are text, image, file, audio, video', () => {
    const inputs = (id: string) => entryOf(id).architecture.input_modalities;
    expect(inputs('draw-fast')).toEqual(['text']);
    expect(inputs('atelier/draw-edit')).toEqual(['text', 'image']);
    expect(inputs('film-one')).toEqual(['text', 'image', 'audio', 'video']);
    expect(inputs('film-mini')).toEqual(['text']);
    expect(inputs('song-one')).toEqual(['text', 'audio']);
    expect(inputs('voice-one')).toEqual(['text', 'audio']);
    expect(inputs('listen-one')).toEqual(['audio']);
    const everything = {
      ...sampleModel('chat', 'plain-chat'),
      inputModalities: ['video', 'audio', 'file', 'image', 'text'],
    };
    expect(toModelEntry(everything as never).architecture.input_modalities).toEqual([
      'text',
      'image',
      'file',
      'audio',
      'video',
    ]);
  });
});
