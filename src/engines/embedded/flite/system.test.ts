import { describe, expect, it } from 'vitest';
import { createMemorySystem, ProgramExit } from './system.ts';
import { parseWav } from './wav.ts';

/** A program of the test's own: it calls the system and has a page of memory. */
function start(args: string[] = ['p', 'é']) {
  const system = createMemorySystem(args);
  const buffer = new ArrayBuffer(65_536);
  system.attach({ buffer });
  const calls = system.imports.wasi_snapshot_preview1 as unknown as Record<
    string,
    (...args: unknown[]) => number
  >;
  const call = (name: string, ...given: unknown[]) => calls[name]!(...given);
  const view = new DataView(buffer);
  const create = (flags = 1) => call('path_open', 3, 0, 0, 0, flags, 0n, 0n, 0, 100);
  const write = (text: string, file = 4) => {
    Buffer.from(text).copy(Buffer.from(buffer), 1_000);
    view.setUint32(200, 1_000, true);
    view.setUint32(204, text.length, true);
    return call('fd_write', file, 200, 1, 300);
  };
  return { system, call, view, buffer, create, write };
}

describe('the system of a program', () => {
  it('hands it its arguments', () => {
    const { call, view, buffer } = start();
    call('args_sizes_get', 0, 4);
    expect([view.getUint32(0, true), view.getUint32(4, true)]).toEqual([2, 5]);
    call('args_get', 16, 64);
    expect(Buffer.from(buffer, 64, 5).toString()).toBe('p\0é\0');
    expect([view.getUint32(16, true), view.getUint32(20, true)]).toEqual([64, 66]);
  });

  it('has one file, which it may write anywhere in', () => {
    const { system, call, create, write, view } = start();
    expect(create()).toBe(0);
    expect(view.getUint32(100, true)).toBe(4);
    expect(write('hello world')).toBe(0);
    expect(view.getUint32(300, true)).toBe(11);
    expect(call('fd_seek', 4, 0n, 0, 400)).toBe(0);
    write('J');
    expect(call('fd_seek', 4, 0n, 2, 400)).toBe(0);
    write('!');
    expect(system.output().toString()).toBe('Jello world!');
  });

  it('has nothing to read, no second file and no other folder', () => {
    const { call, create } = start();
    expect(create(0)).not.toBe(0);
    expect(create()).toBe(0);
    expect(create()).not.toBe(0);
    expect(call('path_open', 5, 0, 0, 0, 1, 0n, 0n, 0, 100)).not.toBe(0);
    expect(call('fd_prestat_get', 4, 0)).not.toBe(0);
    expect(call('fd_seek', 0, 0n, 0, 400)).not.toBe(0);
  });

  it('ends a file that grows without end, and a place before its beginning', () => {
    const { call, create, write } = start();
    create();
    expect(call('fd_seek', 4, -1n, 0, 400)).not.toBe(0);
    expect(call('fd_seek', 4, 1n << 40n, 0, 400)).not.toBe(0);
    expect(call('fd_seek', 4, 24_000_000n, 0, 400)).toBe(0);
    expect(write('x')).not.toBe(0);
  });

  it('keeps the last of what it complains, and ends it when it says so', () => {
    const { system, call, write } = start();
    write('cannot', 2);
    expect(system.complaints()).toBe('cannot');
    expect(() => call('proc_exit', 3)).toThrow(ProgramExit);
  });
});

describe('a WAV file', () => {
  it('that is none, or of another kind, is not read', () => {
    for (const bytes of ['', 'RIFF', 'RIFF____WAVEdata', `RIFF____WAVEfmt ${'\x10\0\0\0'}${'\0'.repeat(16)}`])
      expect(parseWav(Buffer.from(bytes, 'latin1'))).toBeUndefined();
  });
});
