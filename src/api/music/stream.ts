/** A song while it is made: WAV from the first byte, whenever one begins to listen. */
import { Readable } from 'node:stream';
import { isUnfinished } from '../../http/jobs/render.ts';
import { Reply } from '../../http/reply.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Job, Jobs } from '../../platform/jobs/types.ts';
import { wavHeader } from '../../platform/media/index.ts';
import type { Recordings } from '../../platform/recordings/types.ts';
import type { MusicRender } from './render.ts';

interface Listening {
  readonly jobs: Jobs;
  readonly recordings: Recordings;
  readonly signal: AbortSignal;
}

export async function streamSong(
  job: Job<MusicRender>,
  index: number,
  { jobs, recordings, signal }: Listening,
): Promise<Reply> {
  const { id, status, request, subscriptionId } = job;
  if (status === 'expired' || index >= request.count)
    throw new GatewayError('not_found', `The music job ${id} has no output ${index}`);
  if (!request.progressive)
    throw new GatewayError('conflict', `The model ${job.modelId} does not stream: read the content instead`);
  const song = { jobId: id, index };
  if (!isUnfinished(job) && !(await recordings.isKept(song)))
    throw new GatewayError(
      'conflict',
      `The stream of the music job ${id} is no longer kept: read the content instead`,
    );
  const isOver = async () => {
    const now = await jobs.find('music', id, subscriptionId);
    return now === undefined || !isUnfinished(now);
  };
  async function* bytes() {
    const { durationSeconds, sampleRate, channels } = request;
    // How long it will be is not known yet: the most that was asked for is promised.
    yield wavHeader({ sampleRate, channels, frames: durationSeconds * sampleRate });
    yield* recordings.follow(song, isOver, signal);
  }
  return new Reply(Readable.from(bytes(), { objectMode: false }), {
    headers: { 'content-type': 'audio/wav', 'cache-control': 'no-store' },
  });
}
