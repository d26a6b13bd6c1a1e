/**
 * Which request parameters a model takes, by the names that clients send: `supported_parameters` of the
 * public entry, and the list from which each capability builds its own descriptors and checks.
 */
import type { ChatModel, ImageModel, Model, MusicModel, SpeechModel, VideoModel } from './declaration.ts';

export function supportedParameters(model: Model): readonly string[] {
  switch (model.type) {
    case 'chat':
      return chatParameters(model);
    case 'embedding':
      return ['input', 'encoding_format', 'input_type', ...when(model.flexibleDimensions, ['dimensions'])];
    case 'image':
      return imageParameters(model);
    case 'video':
      return videoParameters(model);
    case 'music':
      return musicParameters(model);
    case 'speech':
      return speechParameters(model);
    case 'transcription':
      return ['language', 'prompt', 'temperature', 'response_format', 'stream'];
    case 'decision':
      return ['state', 'questions'];
    case 'rerank':
      return ['query', 'documents', 'top_n', 'return_documents'];
  }
}

/** Nearly every chat engine has tools, structured output and logprobs: a model lacks them only where it says so. */
function chatParameters(model: ChatModel): string[] {
  return [
    'max_tokens',
    'max_completion_tokens',
    'temperature',
    'top_p',
    'top_k',
    'frequency_penalty',
    'presence_penalty',
    'repetition_penalty',
    'stop',
    'seed',
    'n',
    'continue_final_message',
    ...when(model.logprobs !== false, ['logprobs', 'top_logprobs']),
    ...when(model.structuredOutput !== false, ['response_format', 'structured_outputs']),
    ...when(model.tools !== false, ['tools', 'tool_choice']),
    ...when(model.reasoning !== undefined, ['reasoning', 'reasoning_effort']),
  ];
}

export type ImageParameter =
  | 'prompt'
  | 'n'
  | 'size'
  | 'width'
  | 'height'
  | 'aspect_ratio'
  | 'resolution'
  | 'seed'
  | 'response_format'
  | 'output_format'
  | 'output_compression'
  | 'background'
  | 'quality'
  | 'stream'
  | 'partial_images'
  | ImageSetting
  | 'input_references'
  | 'image'
  | 'images'
  | 'mask';

/** What an image model may also take under `provider.options`. `steps` is an alias of `num_inference_steps`. */
export type ImageSetting = 'num_inference_steps' | 'steps' | 'guidance_scale' | 'negative_prompt';

export function imageParameters(model: ImageModel): readonly ImageParameter[] {
  return [
    'prompt',
    'n',
    'size',
    'width',
    'height',
    'aspect_ratio',
    'resolution',
    'seed',
    'response_format',
    'output_format',
    'output_compression',
    'background',
    'quality',
    'stream',
    'partial_images',
    ...imageSettings(model),
    ...when(model.references !== undefined, ['input_references', 'image', 'images']),
    ...when(model.references?.mask, ['mask']),
  ];
}

export function imageSettings(model: ImageModel): readonly ImageSetting[] {
  return [
    ...when(model.steps !== undefined, ['num_inference_steps', 'steps']),
    ...when(model.guidanceScale !== undefined, ['guidance_scale']),
    ...when(model.negativePrompt, ['negative_prompt']),
  ];
}

function videoParameters(model: VideoModel): string[] {
  return [
    'prompt',
    'duration',
    'seconds',
    'resolution',
    'aspect_ratio',
    'size',
    'callback_url',
    ...when(model.audio, ['generate_audio']),
    ...when(model.seed, ['seed']),
    ...when((model.frameImages ?? []).length > 0, ['frame_images', 'input_reference']),
    ...when(model.inputReferences !== undefined, ['input_references']),
    ...videoSettings(model),
  ];
}

/** What a video model may also take under `provider.options`. */
export function videoSettings(model: VideoModel): readonly string[] {
  return [
    ...when(model.quality, ['quality']),
    ...when(model.steps !== undefined, ['num_inference_steps']),
    ...when((model.inputReferences?.videos ?? 0) > 0, ['start_time_seconds']),
  ];
}

function musicParameters(model: MusicModel): string[] {
  return [
    'prompt',
    'duration',
    'seconds',
    'music_length_ms',
    'n',
    'response_format',
    'output_format',
    'callback_url',
    ...when(model.lyrics, ['lyrics', 'lyrics_text']),
    ...when(model.instrumental, ['instrumental', 'is_instrumental', 'force_instrumental']),
    ...when(model.seed, ['seed']),
    ...(model.parameters ?? []),
  ];
}

/** What a music model may also take under `provider.options`. */
export function musicSettings(model: MusicModel): readonly string[] {
  return (model.parameters ?? []).filter((name) => name !== 'input_references');
}

function speechParameters(model: SpeechModel): string[] {
  return [
    'input',
    'voice',
    'language',
    'response_format',
    'stream_format',
    'speed',
    'seed',
    'temperature',
    'top_p',
    'top_k',
    ...when(model.instructions === true || model.design === true, ['instructions']),
    ...when(model.clone, ['input_references']),
  ];
}

function when<const N extends string>(condition: boolean | undefined, names: readonly N[]): readonly N[] {
  return condition === true ? names : [];
}
