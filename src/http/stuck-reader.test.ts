import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { createShell, shellKey } from '../../test/support/shell.ts';
import { common } from '../../test/support/shell-routes.ts';
import { defineRoute } from './route.ts';

describe('the shell', () => {
  it('expects a reader of what the system does not take at once, and of nothing else', async () => {
    const sizes = { small: 1_000, large: 16_000_000 };
    const shell = createShell(
      Object.entries(sizes).map(([name, size]) =>
        defineRoute({
          ...common,
          method: 'GET',
          path: `/${name}`,
          access: 'key',
          handle: () => ({ text: 'x'.repeat(size) }),
        }),
      ),
    );
    const address = new URL(await shell.listen());
    const timed = vi.spyOn(Socket.prototype, 'setTimeout');
    try {
      for (const name of Object.keys(sizes)) {
        timed.mockClear();
        const asking = connect(Number(address.port), address.hostname);
        asking.write(
          `GET /v1/${name} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${shellKey}\r\nconnection: close\r\n\r\n`,
        );
        asking.resume();
        await once(asking, 'close');
        const times = timed.mock.calls.map(([ms]) => ms);
        expect(times.includes(30_000), name).toBe(name === 'large');
      }
    } finally {
      timed.mockRestore();
      await shell.close();
    }
  });
});
