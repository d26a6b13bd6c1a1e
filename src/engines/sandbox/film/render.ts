/** What the studio's process runs: paints, films and plays one film, and tells how far it is. */
import type { Pixels } from '../../contract/picture.ts';
import type { FilmWriter, Render, Stage } from '../../contract/studio.ts';
import { toSeed } from '../seed.ts';
import { smooth } from './direction.ts';
import { createFilmExhibit, createStillExhibit } from './exhibits.ts';
import { createGallery, type Exhibit, type Gallery } from './gallery.ts';
import { type FilmOrder, filmFollows, type InputRole } from './order.ts';
import { makePlan, type Plan } from './plan.ts';
import { Raster } from './raster.ts';
import { filmSampleRate, makeSoundtrack } from './soundtrack.ts';

export interface FilmResult {
  readonly frames: number;
  readonly bytes: number;
}

export const render: Render<FilmOrder, FilmResult> = async (order, inputs, stage) => {
  const { width, height, fps, upscale, frames } = order;
  const { prompt, seed } = order;
  // Steps are no part of it: more of them make the same film finer.
  const filmSeed = toSeed([prompt, seed]);
  const sounds = order.hasSound ? { sampleRate: filmSampleRate } : {};
  const film = stage.tools.createFilm({ width, height, fps, upscale, ...sounds });
  const gallery = await openGallery(order, inputs, stage);
  try {
    const plan = await makePlan({
      order,
      seed: filmSeed,
      firstFrame: await readFrame(order, inputs, 'first_frame', stage),
      lastFrame: await readFrame(order, inputs, 'last_frame', stage),
      pause: () => breathe(stage),
    });
    if (order.hasSound) {
      const samples = await makeSoundtrack({
        prompt,
        seed,
        filmSeed,
        seconds: frames / fps,
        scene: plan.scene,
        sounds: inputs.filter((_, index) => order.roles[index] === 'audio'),
        stage,
      });
      await film.sound(samples);
    }
    await shoot(order, plan, gallery, film, stage);
    const bytes = await film.finish();
    await stage.emit(Uint8Array.of(filmFollows));
    await stage.emit(bytes);
    return { frames, bytes: bytes.length };
  } finally {
    film.close();
    await gallery?.close();
  }
};

/** A word from outside is only heard between two turns of the event loop. */
async function breathe(stage: Stage): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  stage.throwIfStopped();
}

async function shoot(
  { width, height, fps, frames }: FilmOrder,
  plan: Plan,
  gallery: Gallery | undefined,
  film: FilmWriter,
  stage: Stage,
): Promise<void> {
  const raster = new Raster(width, height);
  const other = new Raster(width, height);
  let told = 0;
  for (let frame = 0; frame < frames; frame++) {
    stage.throwIfStopped();
    const moment = { seconds: frame / fps, share: frame / Math.max(1, frames - 1) };
    const { first, onward } = plan;
    const over = onward === undefined ? 0 : smooth((moment.share - onward.from) / (onward.to - onward.from));
    if (over < 1) first.draw(raster, moment);
    if (over > 0) {
      onward?.shot.draw(over === 1 ? raster : other, moment);
      if (over < 1) raster.dissolve(other, over);
    }
    await gallery?.draw(raster, moment.seconds);
    await film.frame(raster.bytes);
    const percent = Math.max(1, Math.floor(((frame + 1) / frames) * 100));
    if (percent > told) await stage.emit(Uint8Array.of(percent));
    told = percent;
  }
}

async function readFrame(
  { roles, width, height }: FilmOrder,
  inputs: readonly Buffer[],
  role: InputRole,
  stage: Stage,
): Promise<Pixels | undefined> {
  const bytes = inputs[roles.indexOf(role)];
  return bytes === undefined ? undefined : stage.tools.readPicture(bytes, Math.max(width, height) * 2);
}

async function openGallery(
  { roles, width, height, frames, fps, startSeconds }: FilmOrder,
  inputs: readonly Buffer[],
  stage: Stage,
): Promise<Gallery | undefined> {
  const maxSide = Math.round(Math.min(width, height) * 0.6);
  const exhibits: Exhibit[] = [];
  for (const [index, bytes] of inputs.entries()) {
    if (roles[index] === 'image')
      exhibits.push(createStillExhibit(await stage.tools.readPicture(bytes, maxSide)));
    if (roles[index] !== 'video') continue;
    const maxSeconds = frames / fps;
    exhibits.push(createFilmExhibit({ tools: stage.tools, bytes, startSeconds, maxSeconds, maxSide }));
  }
  return exhibits.length === 0 ? undefined : createGallery(exhibits, width, height);
}
