/** How a music job is run: every song is recorded as it comes, so that it can be heard, and kept as a file at its end. */
import assert from 'node:assert';
import type { MusicRequest } from '../../engines/contract/music.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { JobKind, JobOutput, JobRun } from '../../platform/jobs/types.ts';
import type { Recorder } from '../../platform/recordings/types.ts';
import { type MusicRender, mediaTypes, toPlainMusic } from './render.ts';

interface Song {
  readonly recorder: Recorder | undefined;
  readonly parts: Buffer[];
  bytes: number;
}

const bytesPerSample = 2;

export const musicJob: JobKind<MusicRender> = {
  kind: 'music',
  toPlain: toPlainMusic,
  async run(run) {
    const songs = await play(run);
    const outputs: JobOutput[] = [];
    for (const [index, song] of songs.entries()) outputs.push(await keep(run, index, song));
    return outputs;
  },
};

/** What the engine makes of each song, and who listens hears it at once. */
async function play(run: JobRun<MusicRender>): Promise<Song[]> {
  const { engine, job, signal } = run;
  assert(engine.music !== undefined, 'the catalogue gives music models only engines that have the port');
  const { count, durationSeconds, sampleRate, channels } = job.request;
  const mostBytes = durationSeconds * sampleRate * channels * bytesPerSample;
  const songs: Song[] = [];
  try {
    for (let index = 0; index < count; index++) songs.push(await begin(run, index));
    for await (const { index, samples } of engine.music.render(await toRequest(run), run, signal)) {
      const song = songs[index];
      if (song === undefined) continue;
      // A listener was promised so much and no more.
      const part = samples.subarray(0, mostBytes - song.bytes);
      if (part.length === 0) continue;
      song.parts.push(part);
      song.bytes += part.length;
      await song.recorder?.write(part);
    }
    return songs;
  } finally {
    await Promise.all(songs.map(({ recorder }) => recorder?.end()));
  }
}

async function begin({ job, recordings }: JobRun<MusicRender>, index: number): Promise<Song> {
  const { id: jobId, attempt, request } = job;
  const recorder = request.progressive ? await recordings.record({ jobId, attempt, index }) : undefined;
  return { recorder, parts: [], bytes: 0 };
}

async function keep(run: JobRun<MusicRender>, index: number, song: Song): Promise<JobOutput> {
  const { job, media, objects, signal } = run;
  const { format, sampleRate, channels } = job.request;
  if (song.bytes === 0) throw new GatewayError('unreachable', 'The engine answered without music');
  const samples = toSamples(song);
  const file = await media.encode(samples, { format, sampleRate, channels: channels === 2 ? 2 : 1 }, signal);
  const objectKey = run.outputKey(index, format === 'opus' ? 'ogg' : format);
  await objects.put(objectKey, file);
  const durationSeconds = samples.length / channels / sampleRate;
  return {
    index,
    objectKey,
    mediaType: mediaTypes[format],
    bytes: file.length,
    durationSeconds: Math.round(durationSeconds * 1000) / 1000,
    details: {},
  };
}

/** One copy, and the parts are let go. */
function toSamples({ parts, bytes }: Song): Int16Array {
  const samples = new Int16Array(Math.floor(bytes / bytesPerSample));
  const target = new Uint8Array(samples.buffer);
  let at = 0;
  for (const part of parts.splice(0)) {
    // Half a sample at the end is none.
    target.set(part.subarray(0, target.length - at), at);
    at += part.length;
  }
  return samples;
}

async function toRequest({ job, model, objects }: JobRun<MusicRender>): Promise<MusicRequest> {
  const { format: _, progressive: __, references, ...render } = job.request;
  const files = await Promise.all(
    references.map(async ({ mediaType }, index) => {
      const bytes = await objects.read(job.inputKeys[index] ?? '');
      if (bytes === undefined) throw new GatewayError('internal', 'An input of the job is gone');
      return { bytes, mediaType };
    }),
  );
  return {
    ...render,
    model: model.engineModel,
    references: files,
    ...(model.script === undefined ? {} : { script: model.script }),
  };
}
