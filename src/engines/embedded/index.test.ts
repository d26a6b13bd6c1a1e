import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { chatRequest, completed } from '../../../test/support/chat-sink.ts';
import { noStudio } from '../../../test/support/no-studio.ts';
import { createLog } from '../../lib/log.ts';
import { createValidator } from '../../lib/schema.ts';
import { embedded, toMemoryMb } from './index.ts';

describe('the embedded engine', () => {
  it('serves what it has models for, and takes sensible options', () => {
    expect(embedded.serves).toEqual(['chat', 'embedding', 'rerank', 'decision', 'speech', 'transcription']);
    const { check } = createValidator(embedded.options);
    expect(check({ kind: 'embedded' })).toBe(true);
    expect(check({ kind: 'embedded', memoryMb: 2_000, idleMs: 60_000, threads: 2, slots: 1 })).toBe(true);
    expect(check({ kind: 'embedded', threads: 0 })).toBe(false);
    expect(check({ kind: 'embedded', gpu: true })).toBe(false);
  });

  it('lets each of its processes have a quarter of the memory, and as much as a small model needs', () => {
    const gibibyte = 1024 ** 3;
    expect(toMemoryMb(32 * gibibyte)).toBe(8 * 1_024);
    expect(toMemoryMb(2 * gibibyte)).toBe(1_024);
  });

  it('tells what is wrong with a file without its path, and lets go of its process', async () => {
    const dataFolder = await mkdtemp(join(tmpdir(), 'roundhouse-embedded-'));
    const path = join(dataFolder, 'wrong.gguf');
    await writeFile(path, 'this is no model');
    const context = {
      name: 'local',
      log: createLog('silent'),
      secret: () => undefined,
      dataFolder,
      studio: noStudio,
    };
    const engine = embedded.create({ kind: 'embedded' }, context);
    try {
      expect(await engine.health(new AbortController().signal)).toEqual({ ok: true });
      const request = chatRequest('Hello', { model: `file:${path}` });
      const failure = await completed(engine.chat!, request).catch((error: unknown) => error);
      expect(failure).toMatchObject({ kind: 'internal', permanent: true });
      expect((failure as Error).message).toContain('The model wrong.gguf cannot be loaded');
      expect((failure as Error).message).not.toContain(dataFolder);
    } finally {
      await engine.close();
      await rm(dataFolder, { recursive: true });
    }
  });

  it('brings no native code into the process of the gateway', async () => {
    const script = `
      import { registerHooks } from 'node:module';
      const seen = [];
      registerHooks({ resolve(specifier, context, next) { seen.push(specifier); return next(specifier, context); } });
      const { embedded } = await import('${new URL('./index.ts', import.meta.url)}');
      const log = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };
      const engine = embedded.create({ kind: 'embedded' }, { name: 'x', log, secret() {}, dataFolder: '/nonexistent', studio: undefined });
      await engine.close();
      console.log(seen.filter((each) => !each.endsWith('.mjs')).join('\\n'));
    `;
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module-typescript', '-e', script];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(stdout).toContain('./chat.ts');
    expect(stdout).not.toMatch(
      /^(?:node-llama-cpp|onnxruntime-node|undici|.*(?:program|runtime|serve)\.ts)$/m,
    );
  });
});
