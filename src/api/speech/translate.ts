/** What a client asks for as what an engine is asked for: the settings, the voice, and how the sound leaves. Pure. */
import type { SpeechRequest } from '../../engines/contract/speech.ts';
import { refusal } from '../../lib/errors.ts';
import { createValidator } from '../../lib/schema.ts';
import type { SpeechModel } from '../../platform/catalog/index.ts';
import { type SpeechBody, type SpeechFormat, type SpeechReference, SpeechSettings } from './schema.ts';

/** The voice, but for a clip that is not decoded yet. */
export type AskedVoice =
  | { readonly type: 'builtin'; readonly id: string }
  | { readonly type: 'design'; readonly description: string }
  | {
      readonly type: 'clone';
      readonly data: string;
      /** Where the clip stands in the body. */
      readonly param: string;
      readonly transcript: string | undefined;
    };

export interface AskedSpeech {
  readonly voice: AskedVoice;
  readonly request: Omit<SpeechRequest, 'voice'>;
  readonly format: SpeechFormat;
  readonly speed: number;
  /** As events. */
  readonly isEvents: boolean;
  /** The sound leaves as it is made. */
  readonly isStreamed: boolean;
}

/** Engines take 0 for "no limit" or refuse it; this leaves the likeliest sound and nothing else. */
const leastTopP = 0.000001;

export function toAskedSpeech(body: SpeechBody, model: SpeechModel): AskedSpeech {
  checkLength(body.input, model);
  const settings = readSettings(body, model);
  const voice = toVoice(body, settings, model);
  const format = body.response_format ?? 'mp3';
  const speed = settings.speed ?? 1;
  // The specification: pcm at speed 1 streams as generated, in both stream formats.
  const isStreamed = format === 'pcm' && speed === 1;
  const { language, seed, temperature, top_p: topP, top_k: topK } = settings;
  return {
    voice,
    format,
    speed,
    isEvents: body.stream_format === 'sse',
    isStreamed,
    request: {
      model: model.engineModel,
      input: body.input,
      ...(voice.type === 'builtin' ? given('instructions', settings.instructions) : {}),
      ...given('language', language?.toLowerCase() === 'auto' ? undefined : language?.trim()),
      ...given('seed', seed),
      ...given('temperature', temperature),
      ...given('topP', topP === 0 ? leastTopP : topP),
      ...given('topK', topK),
      ...given('script', model.script),
      isStreamed,
    },
  };
}

/** In characters, not in UTF-16 units: an emoji is one. */
function checkLength(input: string, { maxPromptLength }: SpeechModel): void {
  if (input.trim() === '') throw refusal('input', 'must not be blank');
  if (input.length <= maxPromptLength) return;
  let pairs = 0;
  for (const _ of input.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) pairs += 1;
  if (input.length - pairs > maxPromptLength)
    throw refusal('input', `must have at most ${maxPromptLength} characters`);
}

const settingNames = Object.keys(SpeechSettings.properties) as (keyof SpeechSettings)[];
const validator = createValidator(SpeechSettings);

type Settings = { readonly [Name in keyof SpeechSettings]?: Exclude<SpeechSettings[Name], null | undefined> };

/** The top level, then `provider.options`, then the model's own provider in there, as one SDK sends them. */
function readSettings(body: SpeechBody, { author }: SpeechModel): Settings {
  const options = asObject(asObject(body.provider)['options']);
  const places = [
    ['', body],
    ['provider.options', options],
    [`provider.options.${author}`, asObject(options[author])],
  ] as const;
  const found: Record<string, unknown> = {};
  for (const [place, values] of places) {
    for (const name of settingNames) {
      const value = (values as Record<string, unknown>)[name] ?? undefined;
      if (value === undefined || found[name] !== undefined) continue;
      if (place !== '') checkSetting(place, name, value);
      found[name] = value;
    }
  }
  return found as Settings;
}

function checkSetting(place: string, name: string, value: unknown): void {
  const setting = { [name]: value };
  if (!validator.check(setting)) throw refusal(`${place}.${name}`, validator.problem(setting).message);
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function toVoice(body: SpeechBody, { instructions }: Settings, model: SpeechModel): AskedVoice {
  const references = body.input_references ?? [];
  const asked = typeof body.voice === 'object' ? body.voice?.id : body.voice;
  const id = asked ?? (references.length > 0 ? 'clone' : model.defaultVoice);
  if (id === 'clone') return toClone(references, instructions, model);
  if (references.length > 0) throw refusal('voice', 'must be clone when input_references is sent');
  if (id === 'design') {
    if (model.design !== true) throw refusal('voice', `must not be design: ${model.id} makes no voices`);
    if (instructions === undefined)
      throw refusal('instructions', 'is required with the voice design: it describes the voice');
    return { type: 'design', description: instructions };
  }
  if (!model.voices.some((voice) => voice.id === id))
    throw refusal('voice', `is not a voice of ${model.id}: GET /audio/voices lists them`);
  if (instructions !== undefined && model.instructions !== true)
    throw refusal('instructions', `is not supported by ${model.id}`);
  return { type: 'builtin', id };
}

function toClone(
  references: readonly SpeechReference[],
  instructions: string | undefined,
  model: SpeechModel,
): AskedVoice {
  if (model.clone !== true) throw refusal('voice', `must not be clone: ${model.id} clones no voices`);
  const clips = references.flatMap((reference, index) =>
    reference.type === 'input_audio' ? [{ data: reference.input_audio.data, index }] : [],
  );
  const texts = references.flatMap((reference) => (reference.type === 'text' ? [reference.text] : []));
  const [clip] = clips;
  if (clip === undefined) throw refusal('voice', 'clone needs a clip in input_references');
  if (clips.length > 1) throw refusal('input_references', 'must have one input_audio clip');
  if (texts.length > 1)
    throw refusal('input_references', 'must have at most one text, the clip’s transcript');
  if (instructions !== undefined) throw refusal('instructions', 'cannot be sent with the voice clone');
  const param = `input_references[${clip.index}].input_audio.data`;
  return { type: 'clone', data: clip.data, param, transcript: texts[0] };
}

function given<Name extends string, Value>(name: Name, value: Value | undefined): { [N in Name]?: Value } {
  return value === undefined ? {} : ({ [name]: value } as { [N in Name]?: Value });
}
