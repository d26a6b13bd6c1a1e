/** A music model as its list shows it. */
import type { MusicModel } from '../../platform/catalog/index.ts';
import { musicSettings } from '../../platform/catalog/parameters.ts';
import type { MusicModelEntry } from './schema.ts';

export function toMusicModelEntry(model: MusicModel): MusicModelEntry {
  const price = model.pricing?.completion;
  return {
    id: model.id,
    canonical_slug: model.id,
    name: model.name,
    created: model.created,
    description: model.description ?? '',
    hugging_face_id: model.huggingFaceId ?? null,
    supported_formats: [...model.formats],
    duration: { type: 'range', ...model.duration },
    max_outputs: model.maxOutputs ?? 1,
    max_prompt_length: model.maxPromptLength,
    max_lyrics_length: model.maxLyricsLength ?? null,
    lyrics: model.lyrics,
    instrumental: model.instrumental,
    seed: model.seed,
    supported_input_references:
      model.parameters?.includes('input_references') === true ? { audio_url: 1, total: 1 } : null,
    sample_rate: model.sampleRate,
    channels: model.channels,
    streaming: model.progressive
      ? {
          progressive: true,
          format: 'wav',
          sample_rate: model.sampleRate,
          bit_depth: 16,
          channels: model.channels,
        }
      : { progressive: false },
    pricing_skus: price === undefined ? null : { duration_seconds: price },
    allowed_passthrough_parameters: [...musicSettings(model)],
  };
}
