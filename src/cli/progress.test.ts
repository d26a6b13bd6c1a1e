import { describe, expect, it } from 'vitest';
import type { Terminal } from './command.ts';
import { createProgress } from './progress.ts';

function show(isTTY: boolean): string {
  let written = '';
  const stderr = { isTTY, write: (text: string) => (written += text) };
  const progress = createProgress('some-model', { stderr } as unknown as Terminal);
  for (const received of [0, 4, 5, 95, 100, 199, 200]) progress.update(received * 1e6, 200e6);
  progress.end();
  return written;
}

describe('progress', () => {
  it('is a bar that is drawn over on a terminal, and gone at the end', () => {
    const frames = show(true).split('\r');
    expect(frames).toContain(
      `some-model  [${'#'.repeat(14)}${'·'.repeat(16)}]  47 %  95.0 of 200.0 MB\u001b[K`,
    );
    expect(frames.at(-1)).toBe('\u001b[K');
    expect(frames).toHaveLength(8);
  });

  it('is a plain line every tenth elsewhere', () => {
    expect(show(false)).toBe(
      'some-model: 0 %, 0.0 of 200.0 MB\n' +
        'some-model: 47 %, 95.0 of 200.0 MB\n' +
        'some-model: 50 %, 100.0 of 200.0 MB\n' +
        'some-model: 99 %, 199.0 of 200.0 MB\n' +
        'some-model: 100 %, 200.0 of 200.0 MB\n',
    );
  });
});
