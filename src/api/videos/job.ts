/** How a video job is run: its inputs to the engine, the engine's film to an object. */
import assert from 'node:assert';
import type { VideoReference, VideoRequest } from '../../engines/contract/video.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { JobKind, JobOutput, JobRun } from '../../platform/jobs/types.ts';
import { toPlainVideo, type VideoRender } from './render.ts';

export const videoJob: JobKind<VideoRender> = {
  kind: 'video',
  toPlain: toPlainVideo,
  async run(run) {
    const { engine, signal, objects } = run;
    assert(engine.video !== undefined, 'the catalogue gives video models only engines that have the port');
    const film = await engine.video.render(await toRequest(run), run, signal);
    const output = await describe(run, film);
    await objects.put(output.objectKey, film);
    return [output];
  },
};

async function toRequest({ job, model, objects }: JobRun<VideoRender>): Promise<VideoRequest> {
  const { inputs, resolution: _, aspectRatio: __, quality: ___, ...render } = job.request;
  const files = await Promise.all(
    inputs.map(async (input, index) => {
      const bytes = await objects.read(job.inputKeys[index] ?? '');
      if (bytes === undefined) throw new GatewayError('internal', 'An input of the job is gone');
      return { ...input, bytes };
    }),
  );
  const firstFrame = files.find(({ use }) => use === 'first_frame');
  const lastFrame = files.find(({ use }) => use === 'last_frame');
  const references = files.flatMap(({ use, role, bytes, mediaType }): VideoReference[] =>
    use === 'image' || use === 'video' || use === 'audio' ? [{ kind: use, role, bytes, mediaType }] : [],
  );
  return {
    ...render,
    model: model.engineModel,
    ...(firstFrame === undefined ? {} : { firstFrame }),
    ...(lastFrame === undefined ? {} : { lastFrame }),
    references,
    ...(model.script === undefined ? {} : { script: model.script }),
  };
}

/** What it really is: an engine may have snapped to its frame grid. */
async function describe(run: JobRun<VideoRender>, film: Buffer): Promise<JobOutput> {
  const { durationSeconds, video, audio } = await probe(run, film);
  if (video === undefined) throw new GatewayError('unreachable', 'The engine answered without a film');
  return {
    index: 0,
    objectKey: run.outputKey(0, 'mp4'),
    mediaType: 'video/mp4',
    bytes: film.length,
    durationSeconds: Math.round(durationSeconds * 1000) / 1000,
    details: {
      width: video.width,
      height: video.height,
      fps: Math.round(video.fps * 1000) / 1000,
      hasAudio: audio !== undefined,
    },
  };
}

async function probe({ media, signal }: JobRun<VideoRender>, film: Buffer) {
  try {
    return await media.probeFilm(film, 'video', signal);
  } catch (cause) {
    if (!(cause instanceof GatewayError) || cause.kind !== 'invalid_request') throw cause;
    // The client sent no film: the engine did.
    throw new GatewayError('unreachable', 'The engine answered with a film that cannot be read', { cause });
  }
}
