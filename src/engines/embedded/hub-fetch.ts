/**
 * Brings one file from its address onto the disk. Beside the part that is here (`.partial`) stands which version
 * of the file it is of (`.partial.json`): a fetch goes on only with the same version, and starts anew with
 * another. The file gets its name when all of it is here.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Dispatcher } from 'undici';
import { loadUndici } from '../../lib/undici.ts';
import { PackFailure, toMegabytes } from '../packs/failure.ts';
import { takeLock } from '../packs/lock.ts';
import { type NpmSources, readNpmConfig } from '../packs/npm-config.ts';

export interface HubFetch {
  readonly address: string;
  /** Where the file will lie. */
  readonly path: string;
  readonly npm: NpmSources;
  readonly signal: AbortSignal;
  /** The total is 0 where the hub does not tell it. */
  onProgress(receivedBytes: number, totalBytes: number): void;
}

/** A version of a file. */
interface Version {
  /** A strong ETag, or else the date of its last change: what `If-Range` takes (RFC 9110, 13.1.5). */
  readonly validator: string;
  readonly totalBytes: number;
}

/** The beginning of a version, as long as `bytes`. */
interface Kept extends Version {
  readonly bytes: number;
}

type Answer = Dispatcher.ResponseData;

const stallMs = 60_000;
const mostRedirects = 5;

/** False when another process has brought the file meanwhile. Rejects with a `PackFailure`, or the file system's error. */
export async function fetchFromHub(call: HubFetch): Promise<boolean> {
  const { path, signal, onProgress } = call;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // The lock's file stays: who deleted it could let two in.
  const release = await takeLock(`${path}.lock`, {
    signal,
    onWait() {
      const kept = readKept(path);
      if (kept !== undefined) onProgress(kept.bytes, kept.totalBytes);
    },
  });
  try {
    if (existsSync(path)) return false;
    await fetchWhole(call);
    await checkKind(call);
    await rename(partialOf(path), path);
    await rm(versionOf(path), { force: true });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    // The room that is left belongs to the gateway's own books.
    await drop(path);
    throw diskFull(call, { cause: error });
  } finally {
    release();
  }
}

async function fetchWhole(call: HubFetch): Promise<void> {
  const agent = await createAgent(call.npm);
  try {
    const kept = readKept(call.path);
    if (kept !== undefined) {
      if (await fetchRest(call, agent, kept)) return;
      // First of all, so that its room is free.
      await drop(call.path);
    }
    await fetchAnew(call, agent);
  } finally {
    await agent.destroy();
  }
}

/** False when the hub has another version now, or cannot go on from here. */
async function fetchRest(call: HubFetch, agent: Dispatcher, kept: Kept): Promise<boolean> {
  const { bytes, totalBytes, validator } = kept;
  if (bytes === totalBytes) return true;
  const answer = await ask(call, agent, { range: `bytes=${bytes}-`, 'if-range': validator });
  if (answer.statusCode === 200) {
    await drop(call.path);
    await takeFromStart(call, answer);
    return true;
  }
  if (answer.statusCode === 206 && isRestOf(kept, answer)) {
    await write(call, answer, { from: bytes, totalBytes });
    return true;
  }
  await answer.body.dump();
  if (answer.statusCode === 206 || answer.statusCode === 416) return false;
  throw refused(call, answer.statusCode);
}

/** Not every server heeds `If-Range`, or answers with the range that was asked for. */
function isRestOf({ bytes, totalBytes, validator }: Kept, answer: Answer): boolean {
  const range = parseContentRange(header(answer, 'content-range'));
  const found = toValidator(answer) ?? validator;
  return range?.from === bytes && range.totalBytes === totalBytes && found === validator;
}

async function fetchAnew(call: HubFetch, agent: Dispatcher): Promise<void> {
  const answer = await ask(call, agent, {});
  if (answer.statusCode === 200) return takeFromStart(call, answer);
  await answer.body.dump();
  throw refused(call, answer.statusCode);
}

async function takeFromStart(call: HubFetch, answer: Answer): Promise<void> {
  const { path } = call;
  await rm(versionOf(path), { force: true });
  const totalBytes = Number(header(answer, 'content-length') ?? 0);
  const validator = toValidator(answer);
  if (validator !== undefined && totalBytes > 0) {
    const version: Version = { validator, totalBytes };
    await writeFile(versionOf(path), JSON.stringify(version), { mode: 0o600 });
  }
  await write(call, answer, { from: 0, totalBytes });
}

async function ask(call: HubFetch, agent: Dispatcher, headers: Record<string, string>): Promise<Answer> {
  const { address, signal } = call;
  const { request } = loadUndici();
  try {
    const answer = await request(address, {
      dispatcher: agent,
      headers: { 'accept-encoding': 'identity', ...headers },
      signal,
    });
    // An answer that is given up tells its end as an event, also when nobody reads any more.
    answer.body.on('error', () => {});
    return answer;
  } catch (error) {
    throw unreachable(call, error);
  }
}

async function write(
  call: HubFetch,
  { body }: Answer,
  { from, totalBytes }: { from: number; totalBytes: number },
): Promise<void> {
  const { path, onProgress } = call;
  try {
    await checkSpace(call, totalBytes - from);
    const handle = await open(partialOf(path), from === 0 ? 'w' : 'a', 0o600);
    try {
      let received = from;
      onProgress(received, totalBytes);
      for await (const chunk of chunksOf(call, body)) {
        await handle.appendFile(chunk);
        received += chunk.length;
        onProgress(received, totalBytes);
      }
      if (received < totalBytes) throw cutOff(call);
    } finally {
      await handle.close();
    }
  } finally {
    body.destroy();
  }
}

async function* chunksOf(call: HubFetch, body: Answer['body']): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk as Buffer;
  } catch (error) {
    throw cutOff(call, error);
  }
}

async function checkSpace(call: HubFetch, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(call.path));
  const free = bavail * bsize;
  if (free < needed) throw diskFull(call, { needed, free });
}

/** A page that asks to log in, or an error that comes with a 200, would stay as a model that cannot be loaded. */
async function checkKind(call: HubFetch): Promise<void> {
  const handle = await open(partialOf(call.path));
  const { buffer } = await handle.read(Buffer.alloc(4), 0, 4, 0).finally(() => handle.close());
  if (buffer.toString('latin1') === 'GGUF') return;
  await drop(call.path);
  throw new PackFailure(`${toShown(call.address)} gives no GGUF file`, {
    told: 'its address gives no GGUF file',
  });
}

const partialOf = (path: string) => `${path}.partial`;
const versionOf = (path: string) => `${path}.partial.json`;

async function drop(path: string): Promise<void> {
  await rm(partialOf(path), { force: true });
  await rm(versionOf(path), { force: true });
}

/** What a fetch can go on from. A part of which nobody knows the version is none. */
function readKept(path: string): Kept | undefined {
  const bytes = statSync(partialOf(path), { throwIfNoEntry: false })?.size ?? 0;
  if (bytes === 0) return undefined;
  try {
    const { validator, totalBytes } = JSON.parse(readFileSync(versionOf(path), 'utf8')) as Partial<Version>;
    if (typeof validator !== 'string' || typeof totalBytes !== 'number' || bytes > totalBytes)
      return undefined;
    return { validator, totalBytes, bytes };
  } catch {
    return undefined;
  }
}

function toValidator(answer: Answer): string | undefined {
  const etag = header(answer, 'etag');
  return etag?.startsWith('"') ? etag : header(answer, 'last-modified');
}

function header({ headers }: Answer, name: string): string | undefined {
  return [headers[name]].flat()[0];
}

function parseContentRange(value: string | undefined): { from: number; totalBytes: number } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+)$/.exec(value ?? '');
  return match === null ? undefined : { from: Number(match[1]), totalBytes: Number(match[2]) };
}

/** With the proxies and the authorities that npm on this machine has: packs come that way, too. */
async function createAgent(npm: NpmSources): Promise<Dispatcher> {
  const { EnvHttpProxyAgent, interceptors } = loadUndici();
  const { httpsProxy, proxy, noProxy, ca, strictSSL } = await readNpmConfig('', npm);
  const variable = (name: string) => npm.variable(name) ?? npm.variable(name.toUpperCase());
  const tls = {
    ...(ca === undefined ? {} : { ca: ca as string }),
    ...(strictSSL === false ? { rejectUnauthorized: false } : {}),
  };
  return new EnvHttpProxyAgent({
    httpProxy: String(proxy ?? variable('http_proxy') ?? ''),
    httpsProxy: String(httpsProxy ?? variable('https_proxy') ?? proxy ?? variable('http_proxy') ?? ''),
    noProxy: String(noProxy ?? variable('no_proxy') ?? ''),
    connect: tls,
    requestTls: tls,
    proxyTls: tls,
    headersTimeout: stallMs,
    bodyTimeout: stallMs,
  }).compose(interceptors.redirect({ maxRedirections: mostRedirects }));
}

/** Without what may hold a signature. */
function toShown(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

function unreachable({ address }: HubFetch, cause: unknown): PackFailure {
  return new PackFailure(`${toShown(address)} cannot be fetched: ${(cause as Error).message}`, {
    told: 'its hub cannot be reached',
    cause,
  });
}

function cutOff({ address }: HubFetch, cause?: unknown): PackFailure {
  return new PackFailure(`The connection ended before all of ${toShown(address)} had come`, {
    told: 'the connection to its hub broke',
    cause,
  });
}

function refused({ address }: HubFetch, status: number): PackFailure {
  const told =
    status === 404
      ? 'its hub does not have it'
      : status === 401 || status === 403
        ? 'its hub refuses this gateway'
        : 'its hub does not work at the moment';
  return new PackFailure(`The hub answers ${status} for ${toShown(address)}`, { told });
}

/** What it needs and what is free is unknown where the disk became full on the way. */
function diskFull(
  { address, path }: HubFetch,
  { needed, free, cause }: { needed?: number; free?: number; cause?: unknown },
): PackFailure {
  const need = needed === undefined ? '' : `: ${toMegabytes(needed)} are needed`;
  const left = free === undefined ? '' : `, ${toMegabytes(free)} are free`;
  return new PackFailure(
    `The disk is full: no room for ${toShown(address)} in ${dirname(path)}${need}${left}`,
    {
      told: `the disk is full${needed === undefined ? '' : `, it needs ${toMegabytes(needed)}`}`,
      cause,
    },
  );
}
