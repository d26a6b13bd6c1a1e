/**
 * The studio: engines' own code that draws, films and plays, in processes with walls around them. Keeps nothing: a
 * render that is lost with its process fails, and whoever ordered it may order it again.
 */
import assert from 'node:assert';
import { fileURLToPath } from 'node:url';
import type { Studio } from '../../engines/contract/studio.ts';
import { toContent } from '../../lib/content.ts';
import { GatewayError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { JobFailure } from './failure.ts';
import { createPool, type MediaLimits } from './pool.ts';

export interface RunningStudio extends Studio {
  close(): Promise<void>;
  /** The processes there are. */
  readonly pids: readonly number[];
}

export interface StudioParts {
  readonly log: Log;
  readonly limits?: Partial<MediaLimits>;
  /** Only modules below it are loaded. Tests put one of their own here. */
  readonly modules?: URL;
}

/**
 * Each of two lines has so many processes: what clients wait for, and what jobs order. Without a limit on the wait: both
 * have a signal.
 */
export const studioLimits: MediaLimits = {
  processes: 2,
  timeoutMs: 20 * 60_000,
  cpuMs: 30 * 60_000,
  memoryMb: 900,
  idleMs: 60_000,
};

/** What engines' modules and the tools may load. */
const packages = ['typebox', 'spessasynth_core', 'sharp', 'heic-decode'];
const heapMb = 512;

export function createStudio({ log, limits, modules = ownModules() }: StudioParts): RunningStudio {
  const openPool = () =>
    createPool({
      log,
      limits: { ...studioLimits, ...limits },
      program: new URL('./program/studio-program.ts', import.meta.url),
      words: {
        notLoaded: 'a studio cannot be started, so nothing can be rendered',
        unavailable: 'This cannot be rendered on this installation',
        busy: 'Too much is being rendered; try again soon',
      },
      walls: {
        packages,
        heapMb,
        readable: [modules, ownModules(), new URL('../../lib/', import.meta.url)].map((url) =>
          fileURLToPath(url),
        ),
      },
    });
  const awaited = openPool();
  const ordered = openPool();

  return {
    get pids() {
      return [...awaited.pids, ...ordered.pids];
    },

    async *render({ module, request, inputs, maxBytes, maxCpuMs, isAwaited = false }, signal) {
      assert(module.href.startsWith(modules.href), `a render is a file of an engine: ${module.href}`);
      const inputLengths = inputs.map((input) => toContent(input).length);
      const options = { module: module.href, request, inputLengths };
      const job = { kind: 'render', options, input: inputs, maxBytes, maxCpuMs } as const;
      try {
        return yield* (isAwaited ? awaited : ordered).run(job, signal);
      } catch (error) {
        if (error instanceof JobFailure && error.reason === 'missing')
          log.error({ detail: error.message }, 'a package is missing, so this cannot be rendered');
        throw toGatewayError(error);
      }
    },

    async close() {
      await Promise.all([awaited.close(), ordered.close()]);
    },
  };
}

function ownModules(): URL {
  return new URL('../../engines/', import.meta.url);
}

/** A render works from what was accepted and from our own code: but for a file that breaks in the middle, the fault is ours. */
function toGatewayError(error: unknown): unknown {
  if (!(error instanceof JobFailure)) return error;
  const cause = error;
  switch (error.reason) {
    case 'input':
      return new GatewayError('invalid_request', `A file that was sent ${error.problem}`, { cause });
    case 'missing':
      return new GatewayError('unreachable', 'This cannot be rendered on this installation', {
        cause,
        permanent: true,
      });
    case 'outside':
      return new GatewayError('unreachable', 'The render was ended before it was done; try again', { cause });
    default:
      return new GatewayError('internal', 'The render failed', { cause });
  }
}
