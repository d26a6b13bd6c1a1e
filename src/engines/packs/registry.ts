/** The npm registry as a source of tarballs, reached through npm's own fetcher: tokens, scopes, proxies, authorities. */
import type { RegistryResponse } from 'npm-registry-fetch';
import { cutOff, PackFailure, toSpec } from './failure.ts';
import { type NpmSources, readNpmConfig } from './npm-config.ts';
import type { PackTarball } from './types.ts';

export interface TarballBytes {
  /** Where they begin: 0 when the registry serves no ranges. */
  readonly from: number;
  readonly chunks: AsyncIterable<Buffer>;
}

/** One tarball of a registry. What it does fails with a `PackFailure`. */
export interface TarballSource {
  open(from: number, signal: AbortSignal): Promise<TarballBytes>;
}

/** How long the registry may take to answer at all. */
const answerTimeoutMs = 30_000;

export function createTarballSource(tarball: PackTarball, sources: NpmSources): TarballSource {
  let located: Promise<{ address: string; options: Record<string, unknown> }> | undefined;

  async function locate(signal: AbortSignal) {
    // Loaded here because only a pull needs it, and it takes a tenth of a second.
    const { default: registryFetch } = await import('npm-registry-fetch');
    const { package: name, version, integrity } = tarball;
    const options = {
      ...(await readNpmConfig(name, sources)),
      spec: name,
      // Who downloads tries again, and knows how far it came.
      fetchRetries: 0,
      timeout: answerTimeoutMs,
    };
    const registry = registryFetch.pickRegistry(name, options);
    const answer = (await registryFetch.json(`/${name.replace('/', '%2f')}`, {
      ...options,
      signal,
      headers: { accept: 'application/vnd.npm.install-v1+json; q=1.0, application/json; q=0.8' },
    })) as { versions?: Record<string, { dist?: { tarball?: string; integrity?: string } }> };
    const dist = answer.versions?.[version]?.dist;
    if (dist?.tarball === undefined) throw absent(tarball);
    if (dist.integrity !== undefined && !dist.integrity.split(/\s+/).includes(integrity)) {
      throw new PackFailure(`The registry has another ${toSpec(tarball)} than the one that is pinned here`, {
        told: 'its registry has another file',
      });
    }
    return { address: toOwnHost(dist.tarball, registry, registryFetch.pickRegistry(name)), options };
  }

  return {
    async open(from, signal) {
      try {
        located ??= locate(signal);
        located.catch(() => {
          located = undefined;
        });
        const { address, options } = await located;
        const { default: registryFetch } = await import('npm-registry-fetch');
        const response = await registryFetch(address, {
          ...options,
          signal,
          headers: { 'accept-encoding': 'identity', ...(from > 0 ? { range: `bytes=${from}-` } : {}) },
        });
        // The fetcher tells an abort as an event, also when nobody reads any more.
        response.body.on('error', () => {});
        return { from: firstByte(response), chunks: read(response, tarball) };
      } catch (error) {
        throw signal.aborted ? error : toFailure(error, tarball);
      }
    },
  };
}

/**
 * A mirror may hand on the public registry's addresses as they are. What they name is on the mirror as well, and
 * the public registry may be out of reach: npm asks the mirror, and so do we.
 */
function toOwnHost(address: string, registry: string, publicRegistry: string): string {
  const { host, pathname } = new URL(address);
  if (host !== new URL(publicRegistry).host) return address;
  return new URL(pathname.slice(1), registry.replace(/\/?$/, '/')).href;
}

function firstByte({ status, headers }: RegistryResponse): number {
  if (status !== 206) return 0;
  return Number(/^bytes (\d+)-/.exec(headers.get('content-range') ?? '')?.[1] ?? Number.NaN);
}

async function* read(response: RegistryResponse, tarball: PackTarball): AsyncGenerator<Buffer> {
  try {
    yield* response.body;
  } catch (error) {
    throw cutOff(tarball, error);
  }
}

function absent(tarball: PackTarball): PackFailure {
  return new PackFailure(`The registry does not have ${toSpec(tarball)}`, {
    told: 'its registry does not have it',
  });
}

function toFailure(error: unknown, tarball: PackTarball): PackFailure {
  if (error instanceof PackFailure) return error;
  const { statusCode, message, code } = error as NodeJS.ErrnoException & { statusCode?: number };
  const what = toSpec(tarball);
  if (statusCode === undefined) {
    // npm names some failures only by their code.
    const reason = message === '' ? code : message.replace(/^request to \S+ failed, reason: /, '');
    return new PackFailure(`${what} cannot be fetched: ${reason}`, {
      told: 'its registry cannot be reached',
      isPassing: true,
      cause: error,
    });
  }
  if (statusCode === 404) return absent(tarball);
  if (statusCode === 401 || statusCode === 403) {
    return new PackFailure(
      `The registry refuses ${what} with ${statusCode}: see the credentials in your .npmrc`,
      { told: 'its registry refuses this gateway', cause: error },
    );
  }
  return new PackFailure(`The registry answers ${statusCode} for ${what}`, {
    told: 'its registry does not work at the moment',
    isPassing: statusCode >= 500 || statusCode === 408 || statusCode === 429,
    cause: error,
  });
}
