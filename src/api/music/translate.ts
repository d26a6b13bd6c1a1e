/** A music request as what is made and billed. Pure. */
import { randomInt } from 'node:crypto';
import { toSettings } from '../../http/provider-options.ts';
import { refuseUndeclared } from '../../http/undeclared.ts';
import { toWhole } from '../../http/whole-number.ts';
import { refusal } from '../../lib/errors.ts';
import { createValidator } from '../../lib/schema.ts';
import type { MusicModel } from '../../platform/catalog/index.ts';
import { musicSettings, supportedParameters } from '../../platform/catalog/parameters.ts';
import type { MusicRender } from './render.ts';
import { type MusicBody, MusicSettings } from './schema.ts';

export interface AskedMusic {
  readonly render: Omit<MusicRender, 'references'>;
  /** Addresses and data URIs. */
  readonly references: readonly { readonly source: string; readonly param: string }[];
  readonly billedSeconds: number;
  readonly expectedMs: number;
}

const settingRules = createValidator(MusicSettings);
const largestSeed = 2 ** 31;
/** What an engine takes for a second of a song, about. */
const expectedMsPerSecond = 500;

export function toMusic(body: MusicBody, model: MusicModel): AskedMusic {
  refuseUndeclared(body, supportedParameters(model), model.id);
  checkLength('prompt', body.prompt, model.maxPromptLength);
  const [lyricsName, lyrics] =
    body.lyrics == null ? ['lyrics_text', body.lyrics_text] : ['lyrics', body.lyrics];
  if (lyrics != null && model.maxLyricsLength !== undefined)
    checkLength(lyricsName, lyrics, model.maxLyricsLength);
  const settings = toSettings(body, {
    validator: settingRules,
    allowed: musicSettings(model),
    slug: model.author,
  });
  const setting = <T>(name: string) => settings.get(name)?.value as T | undefined;
  const durationSeconds = toDuration(body, model);
  const count = toCount(body, model);
  const render = {
    prompt: body.prompt,
    lyrics: lyrics ?? undefined,
    instrumental: body.instrumental ?? body.is_instrumental ?? body.force_instrumental ?? false,
    durationSeconds,
    count,
    format: toFormat(body, model),
    seed: body.seed == null ? randomInt(largestSeed) : toWhole('seed', body.seed),
    negativePrompt: setting<string>('negative_prompt'),
    temperature: setting<number>('temperature'),
    topP: setting<number>('top_p'),
    topK: setting<number>('top_k'),
    guidanceScale: setting<number>('guidance_scale'),
    steps: setting<number>('num_inference_steps'),
    sampleRate: model.sampleRate,
    channels: model.channels,
    progressive: model.progressive,
  };
  return {
    // What is not asked for is not there, rather than undefined: the job is kept as JSON.
    render: Object.fromEntries(
      Object.entries(render).filter(([, value]) => value !== undefined),
    ) as AskedMusic['render'],
    references: (body.input_references ?? []).map(({ audio_url: { url } }, index) => ({
      source: url,
      param: `input_references[${index}].audio_url.url`,
    })),
    billedSeconds: durationSeconds * count,
    expectedMs: durationSeconds * count * expectedMsPerSecond,
  };
}

function toDuration(body: MusicBody, { duration }: MusicModel): number {
  const asked =
    body.duration != null
      ? { name: 'duration', value: body.duration, perSecond: 1 }
      : body.seconds != null
        ? { name: 'seconds', value: body.seconds, perSecond: 1 }
        : { name: 'music_length_ms', value: body.music_length_ms, perSecond: 1000 };
  if (asked.value == null) return duration.default;
  const { name, perSecond } = asked;
  const seconds = Math.ceil(toWhole(name, asked.value) / perSecond);
  if (seconds >= duration.min && seconds <= duration.max) return seconds;
  const unit = perSecond === 1 ? 'seconds' : 'milliseconds';
  throw refusal(name, `must be from ${duration.min * perSecond} to ${duration.max * perSecond} ${unit}`);
}

function toCount({ n }: MusicBody, { maxOutputs = 1 }: MusicModel): number {
  if (n == null) return 1;
  const count = toWhole('n', n);
  if (count >= 1 && count <= maxOutputs) return count;
  throw refusal('n', maxOutputs === 1 ? 'must be 1' : `must be from 1 to ${maxOutputs}`);
}

function toFormat(body: MusicBody, { formats }: MusicModel): MusicRender['format'] {
  const [name, asked] =
    body.response_format == null
      ? ['output_format', body.output_format]
      : ['response_format', body.response_format];
  const format = asked ?? (formats.includes('mp3') ? 'mp3' : formats[0]);
  if (format !== undefined && formats.includes(format)) return format;
  throw refusal(name, `must be one of ${formats.join(', ')}`);
}

/** Characters as people count them. */
function checkLength(param: string, text: string, most: number): void {
  if ([...text].length > most) throw refusal(param, `must have at most ${most} characters`);
}
