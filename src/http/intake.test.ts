import { randomBytes } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Intake } from './intake.ts';

const full = 256 * 1024;

/** Whether it is collected or not is not left to chance. */
function collect(): void {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
}

function setUp() {
  const changes: boolean[] = [];
  const intake: Intake = new Intake(() => changes.push(intake.isFull));
  return { intake, changes };
}

describe('a file on its way', () => {
  it('comes in pieces that are worth a write, with the same bytes', async () => {
    const { intake } = setUp();
    const bytes = randomBytes(700_000);
    const sizes: number[] = [];
    const taking = (async () => {
      const pieces: Buffer[] = [];
      for await (const piece of intake.pieces()) {
        sizes.push(piece.length);
        // What comes while a piece is written must not change it.
        const before = Buffer.from(piece);
        await new Promise(setImmediate);
        expect(piece.equals(before)).toBe(true);
        pieces.push(before);
      }
      return Buffer.concat(pieces);
    })();
    for (let at = 0; at < bytes.length; at += 10_000) {
      const chunk = Buffer.from(bytes.subarray(at, at + 10_000));
      intake.add(chunk);
      // Its sender may use the memory again.
      chunk.fill(0);
      if (at % 50_000 === 0) await new Promise(setImmediate);
    }
    intake.end();
    expect((await taking).equals(bytes)).toBe(true);
    for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThanOrEqual(full);
  });

  it('says when there is enough, and when there is room again', async () => {
    const { intake, changes } = setUp();
    intake.add(Buffer.alloc(full - 1));
    expect([intake.isFull, changes]).toEqual([false, []]);
    intake.add(Buffer.alloc(1));
    expect([intake.isFull, changes]).toEqual([true, [true]]);
    const pieces = intake.pieces();
    expect((await pieces.next()).value).toHaveLength(full);
    expect(intake.isFull).toBe(true);
    intake.end();
    expect((await pieces.next()).done).toBe(true);
    expect(changes).toEqual([true, false]);
  });

  it('keeps no memory once all of it was taken, or nobody takes it any more', async () => {
    const heldBytes = () => {
      collect();
      return process.memoryUsage().arrayBuffers;
    };
    const before = heldBytes();
    const intakes = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { intake } = setUp();
        intake.add(Buffer.alloc(full));
        if (index % 2 === 0) intake.end();
        for await (const piece of intake.pieces()) if (piece.length === full && index % 2 === 1) break;
        return intake;
      }),
    );
    // Another thread gives it back.
    await expect.poll(() => heldBytes() - before).toBeLessThan(5 * full);
    expect(intakes).toHaveLength(60);
  });

  it('that is empty has no piece', async () => {
    const { intake } = setUp();
    intake.end();
    expect((await intake.pieces().next()).done).toBe(true);
  });

  it('that fails fails for who takes it, also while that waits, and keeps nobody from reading on', async () => {
    const { intake } = setUp();
    const waiting = intake.pieces().next();
    intake.fail(new Error('the form broke off'));
    await expect(waiting).rejects.toThrow('the form broke off');
    intake.add(Buffer.alloc(full));
    expect(intake.isFull).toBe(false);
  });
});
