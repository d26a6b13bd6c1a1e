/**
 * Brings one tarball onto the disk. What is there already is not fetched again: a download goes on where the
 * last one stopped, whether that one lost its connection or its process. The whole is then held against the pin.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { cutOff, damaged, PackFailure, toSpec } from './failure.ts';
import type { TarballBytes, TarballSource } from './registry.ts';
import type { PackTarball } from './types.ts';

export interface Download {
  readonly tarball: PackTarball;
  readonly file: string;
  readonly source: TarballSource;
  /** Hears how much of the tarball is here. */
  onProgress(receivedBytes: number): void;
  readonly signal: AbortSignal;
  readonly patience?: Patience;
}

export interface Patience {
  /** Attempts in a row that may bring nothing new. */
  readonly attempts: number;
  /** Before the first new attempt; doubled for each that follows. */
  readonly pauseMs: number;
  /** A connection that brings nothing for so long is given up. */
  readonly stallMs: number;
}

const usualPatience: Patience = { attempts: 4, pauseMs: 1_000, stallMs: 60_000 };

export async function download(call: Download): Promise<void> {
  const { tarball, file, signal } = call;
  const { attempts, pauseMs } = call.patience ?? usualPatience;
  let inVain = 0;
  while (true) {
    const before = await sizeOf(file);
    if (before === tarball.bytes) break;
    if (before > tarball.bytes) await rm(file);
    try {
      await fetchRest(call, before > tarball.bytes ? 0 : before);
    } catch (error) {
      if (!(error instanceof PackFailure) || !error.isPassing) throw error;
      inVain = (await sizeOf(file)) > before ? 0 : inVain + 1;
      if (inVain >= attempts) throw error;
      await sleep(pauseMs * 2 ** inVain, undefined, { signal });
    }
  }
  await checkTarball(tarball, file);
}

export async function sizeOf(file: string): Promise<number> {
  return (await stat(file).catch(() => undefined))?.size ?? 0;
}

async function fetchRest(call: Download, from: number): Promise<void> {
  const { tarball, file, source, onProgress, signal } = call;
  const connection = new AbortController();
  const given = AbortSignal.any([signal, connection.signal]);
  const watch = watchStall(call, connection);
  try {
    const bytes = await source.open(from, given);
    const start = checkStart(bytes, from, tarball);
    const handle = await open(file, start === 0 ? 'w' : 'a', 0o600);
    try {
      let received = start;
      for await (const chunk of bytes.chunks) {
        watch.refresh();
        received += chunk.length;
        if (received > tarball.bytes) throw tooLong(tarball);
        await handle.write(chunk);
        onProgress(received);
      }
      if (received < tarball.bytes) throw cutOff(tarball);
    } finally {
      await handle.close();
    }
  } catch (error) {
    // Whatever the fetcher makes of an end that came from here.
    signal.throwIfAborted();
    throw connection.signal.aborted ? cutOff(tarball) : error;
  } finally {
    clearTimeout(watch);
    connection.abort();
  }
}

function watchStall({ patience }: Download, connection: AbortController): NodeJS.Timeout {
  return setTimeout(() => connection.abort(), (patience ?? usualPatience).stallMs);
}

function checkStart(bytes: TarballBytes, asked: number, tarball: PackTarball): number {
  if (bytes.from === 0 || bytes.from === asked) return bytes.from;
  throw new PackFailure(`The registry answers with another part of ${toSpec(tarball)} than was asked for`, {
    told: 'its registry does not work at the moment',
  });
}

function tooLong(tarball: PackTarball): PackFailure {
  return damaged(`${toSpec(tarball)} is longer than the ${tarball.bytes} bytes that are pinned`);
}

/** Before anything of it is opened. A wrong one is not kept: its next download starts from nothing. */
async function checkTarball(tarball: PackTarball, file: string): Promise<void> {
  const found = `sha512-${await digest(file, 'sha512', 'base64')}`;
  if (found === tarball.integrity) return;
  await rm(file, { force: true });
  throw damaged(`${toSpec(tarball)} arrived damaged: it has ${found} and not ${tarball.integrity}`);
}

export async function digest(
  file: string,
  algorithm: 'sha256' | 'sha512',
  form: 'base64' | 'hex',
): Promise<string> {
  const hash = createHash(algorithm);
  for await (const chunk of createReadStream(file, { highWaterMark: 256 * 1024 })) hash.update(chunk);
  return hash.digest(form);
}
