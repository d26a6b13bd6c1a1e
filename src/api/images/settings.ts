/** The settings of an image, wherever the client could put them: see `http/provider-options.ts`. Pure. */
import { toSettings } from '../../http/provider-options.ts';
import { createValidator } from '../../lib/schema.ts';
import type { ImageModel } from '../../platform/catalog/index.ts';
import { type ImageSetting, imageSettings } from '../../platform/catalog/parameters.ts';
import { checkParameter } from './parameters.ts';
import { type ImageBody, ImageSettings } from './schema.ts';

export interface Settings {
  readonly steps: number | undefined;
  readonly guidanceScale: number | undefined;
  readonly negativePrompt: string | undefined;
}

const validator = createValidator(ImageSettings);

export function readSettings(body: ImageBody, model: ImageModel): Settings {
  const settings = toSettings(body, { validator, allowed: imageSettings(model), slug: model.author });
  for (const [name, { value, path }] of settings) checkParameter(name as ImageSetting, value, model, path);
  // In the order of the places, so that of two names for one thing the first place counts.
  const first = (...names: readonly ImageSetting[]) =>
    [...settings].find(([name]) => names.includes(name as ImageSetting))?.[1].value;
  return {
    steps: first('steps', 'num_inference_steps') as number | undefined,
    guidanceScale: first('guidance_scale') as number | undefined,
    negativePrompt: first('negative_prompt') as string | undefined,
  };
}
