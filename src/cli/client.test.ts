import { describe, expect, it } from 'vitest';
import { get, getAll } from './client.ts';
import type { Answer, Door } from './door.ts';
import { CommandFailed } from './errors.ts';

function createDoor(answer: (path: string) => Answer): Door & { asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    firstKey: undefined,
    async request(_, path) {
      asked.push(path);
      return answer(path);
    },
    async close() {},
  };
}

describe('what a command asks of the gateway', () => {
  it('a list is read to its end', async () => {
    const door = createDoor((path) =>
      path.includes('after=b')
        ? { status: 200, body: { data: [{ id: 'c' }], has_more: false } }
        : { status: 200, body: { data: [{ id: 'a' }, { id: 'b' }], has_more: true } },
    );
    expect(await getAll(door, '/admin/keys', { subscription: 'a b' })).toEqual([
      { id: 'a' },
      { id: 'b' },
      { id: 'c' },
    ]);
    expect(door.asked).toEqual([
      '/v1/admin/keys?subscription=a+b&limit=1000',
      '/v1/admin/keys?subscription=a+b&limit=1000&after=b',
    ]);
  });

  it("a refusal is the command's failure, in the gateway's words", async () => {
    const door = createDoor(() => ({ status: 409, body: { error: { message: 'The key is revoked' } } }));
    await expect(get(door, '/x')).rejects.toEqual(new CommandFailed('The key is revoked'));
    const silent = createDoor(() => ({ status: 502, body: undefined }));
    await expect(get(silent, '/x')).rejects.toThrowError('status 502');
  });
});
