import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { GatewayError } from './errors.ts';
import {
  createSafeFetch,
  type ResolvedAddress,
  type SafeFetch,
  type SafeFetchOptions,
} from './safe-fetch.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const part of open.splice(0)) await part.close();
});

function safeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const made = createSafeFetch(options);
  open.push(made);
  return made;
}

/** A server on loopback; answers its port. */
async function serve(listener: RequestListener): Promise<number> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  });
  return (server.address() as AddressInfo).port;
}

const limits = (changes: { maxBytes?: number; timeoutMs?: number; signal?: AbortSignal } = {}) => ({
  param: 'image',
  maxBytes: 1000,
  signal: new AbortController().signal,
  ...changes,
});

async function failure(work: Promise<unknown>): Promise<GatewayError> {
  return work.then(
    () => expect.fail('it was fetched'),
    (error) => error,
  );
}

const loopback = { allowedNetworks: ['127.0.0.0/8'] };
const as = (...addresses: string[]) => ({
  resolve: async (): Promise<ResolvedAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
});

describe('what may be spoken to', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f000001/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://127.0.0.1./',
    'https://0.0.0.0/',
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://169.254.169.254/latest/meta-data',
    'https://100.64.0.1/',
    'https://224.0.0.1/',
    'https://255.255.255.255/',
    'https://192.0.2.1/',
    'https://168.63.129.16/',
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a9fe:a9fe]/',
    'https://[::7f00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[64:ff9b:1::a9fe:a9fe]/',
    'https://[2002:7f00:1::]/',
    'https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/',
    'https://[fe80::1]/',
    'https://[fd00::1]/',
    'https://[fec0::1]/',
    'https://[ff02::1]/',
    'https://[100::1]/',
    'https://[2001:db8::1]/',
    'https://[4000::1]/',
    'https://①②⑦.0.0.1/',
    'https://127.0.0.1:8443@10.0.0.1/',
    'https://localhost/',
    'https://LOCALHOST:8443/',
    'https://app.localhost./',
  ])('%s is refused, naming the field', async (url) => {
    const error = await failure(safeFetch().get(url, limits()));
    expect(error).toMatchObject({ kind: 'invalid_request', param: 'image' });
    expect(error.message).toMatch(/^image must (be an address on the public internet|not contain)/);
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '::1',
    '::ffff:10.0.0.1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
    'fd12::1',
  ])('a name that resolves to %s is refused when it is dialled', async (address) => {
    const error = await failure(safeFetch(as(address)).get('https://files.example/a.png', limits()));
    expect(error).toMatchObject({
      kind: 'invalid_request',
      message: 'image must be an address on the public internet',
    });
  });

  test('one private address among public ones condemns the name', async () => {
    const error = await failure(
      safeFetch(as('93.184.216.34', '10.0.0.1')).get('https://x.example', limits()),
    );
    expect(error.message).toContain('public internet');
  });

  test.each([
    'ftp://files.example/a',
    'file:///etc/passwd',
    'data:text/plain,x',
    'a.png',
    '',
    'gopher://x.example/',
  ])('%j is not an https URL', async (url) => {
    expect((await failure(safeFetch(loopback).get(url, limits()))).message).toBe(
      'image must be an https URL',
    );
  });

  test('http is for allowed networks alone', async () => {
    const plain = safeFetch();
    expect((await failure(plain.get('http://files.example/', limits()))).message).toBe(
      'image must be an https URL',
    );
    const inside = safeFetch({ ...loopback, ...as('93.184.216.34') });
    expect((await failure(inside.get('http://files.example/', limits()))).message).toContain(
      'public internet',
    );
  });

  test.each(['https://user:secret@files.example/', 'https://user@files.example/'])(
    '%s carries credentials and is refused',
    async (url) => {
      expect((await failure(safeFetch().get(url, limits()))).message).toContain('user name or password');
    },
  );

  test('link-local stays blocked even when the operator allows it', async () => {
    const wide = safeFetch({ allowedNetworks: ['0.0.0.0/0', '::/0'] });
    for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '[fd00:ec2::254]'])
      expect((await failure(wide.get(`http://${host}/`, limits()))).message).toContain('public internet');
  });

  test('check() refuses an address that is longer than any real one, which somebody would have to keep', () => {
    const start = 'https://example.com/';
    const longest = start + 'a'.repeat(8192 - start.length);
    expect(safeFetch().check(longest, 'callback_url').href).toBe(longest);
    expect(() => safeFetch().check(`${longest}a`, 'callback_url')).toThrow(
      'callback_url must have at most 8192 characters',
    );
  });

  test('check() judges an address without fetching it', () => {
    expect(safeFetch().check('https://example.com/hook', 'callback_url').hostname).toBe('example.com');
    expect(safeFetch().check('https://notlocalhost/', 'callback_url').hostname).toBe('notlocalhost');
    expect(safeFetch(loopback).check('http://localhost:1234/', 'callback_url').port).toBe('1234');
    expect(() => safeFetch().check('https://10.0.0.1/hook', 'callback_url')).toThrow(/^callback_url must be/);
  });

  test('a network that cannot be read is a mistake at start', () => {
    expect(() => createSafeFetch({ allowedNetworks: ['10.0.0.0/99'] })).toThrow();
  });
});

describe('fetching', () => {
  test('the bytes come with what the server says they are', async () => {
    const port = await serve((_, answer) => {
      answer.setHeader('content-type', 'Image/PNG; x=1').end('bytes');
    });
    const got = await safeFetch(loopback).get(`http://127.0.0.1:${port}/a.png`, limits());
    expect(got.bytes.toString()).toBe('bytes');
    expect(got.mediaType).toBe('image/png');
  });

  test('the address that was checked is the one that is dialled, and each new dial is checked again', async () => {
    const port = await serve((_, answer) => void answer.setHeader('connection', 'close').end('ok'));
    const answers = ['127.0.0.1', '10.0.0.1'];
    const asked: string[] = [];
    const rebinding = safeFetch({
      ...loopback,
      resolve: async (hostname) => {
        asked.push(hostname);
        return [{ address: answers.shift()!, family: 4 }];
      },
    });
    const url = `http://rebind.example:${port}/`;
    expect((await rebinding.get(url, limits())).bytes.toString()).toBe('ok');
    expect((await failure(rebinding.get(url, limits()))).message).toContain('public internet');
    expect(asked).toEqual(['rebind.example', 'rebind.example']);
  });

  test('a redirect is followed, at most three times', async () => {
    const port = await serve((request, answer) => {
      const left = Number(request.url!.slice(1));
      if (left === 0) answer.end('there');
      else answer.writeHead(302, { location: `/${left - 1}` }).end();
    });
    const fetch = safeFetch(loopback);
    expect((await fetch.get(`http://127.0.0.1:${port}/3`, limits())).bytes.toString()).toBe('there');
    expect((await failure(fetch.get(`http://127.0.0.1:${port}/4`, limits()))).message).toBe(
      'image redirects more than 3 times',
    );
  });

  test.each([
    'http://169.254.169.254/latest',
    'https://10.0.0.1/',
    'http://[::1]/',
    'file:///etc/passwd',
    'http://inside.example/',
    'https://u:p@x.example/',
    '',
    'http://[',
  ])('a redirect to %j is refused', async (location) => {
    const port = await serve((_, answer) => void answer.writeHead(302, { location }).end());
    const fetch = safeFetch({ ...loopback, ...as('10.0.0.1') });
    const error = await failure(fetch.get(`http://127.0.0.1:${port}/`, limits()));
    expect(error).toMatchObject({ kind: 'invalid_request', param: 'image' });
    expect(error.message).toMatch(/public internet|https URL|user name|redirects without/);
  });

  test('a body of exactly the limit passes, one byte more is a 413 that gives the limit', async () => {
    const port = await serve((request, answer) => {
      const [, size, how] = request.url!.split('/');
      // Without a length the size shows only while reading.
      if (how === 'chunked') answer.flushHeaders();
      answer.end(Buffer.alloc(Number(size)));
    });
    const fetch = safeFetch(loopback);
    const get = (path: string) => fetch.get(`http://127.0.0.1:${port}${path}`, limits({ maxBytes: 2e6 }));
    expect((await get('/2000000/plain')).bytes).toHaveLength(2e6);
    expect((await get('/2000000/chunked')).bytes).toHaveLength(2e6);
    for (const path of ['/2000001/plain', '/2000001/chunked', '/50000000/chunked'])
      expect(await failure(get(path))).toMatchObject({
        kind: 'too_large',
        message: 'image is larger than the limit of 2 MB',
      });
  });

  test.each([
    ['never answers', () => {}],
    [
      'stops in the middle',
      ((_, answer) => {
        answer.writeHead(200).write('x');
      }) satisfies RequestListener,
    ],
  ])('a server that %s is given up after the time limit', async (_, listener: RequestListener) => {
    const port = await serve(listener);
    const slow = safeFetch(loopback).get(`http://127.0.0.1:${port}/`, limits({ timeoutMs: 60 }));
    expect((await failure(slow)).message).toBe('image could not be fetched within 0.06 s');
  });

  test.each([404, 500, 204])('an answer %i is a failure of the request', async (status) => {
    const port = await serve((_, answer) => void answer.writeHead(status).end());
    const error = await failure(safeFetch(loopback).get(`http://127.0.0.1:${port}/`, limits()));
    expect(error).toMatchObject({ kind: 'invalid_request' });
    expect(error.message).toContain(`answered ${status}`);
  });

  test('a refused connection and an unknown name name the field and nothing of the network', async () => {
    const port = await serve(() => {});
    await open.pop()!.close();
    const refused = await failure(safeFetch(loopback).get(`http://127.0.0.1:${port}/`, limits()));
    expect(refused.message).toBe('image could not be fetched');
    const unknown = safeFetch({ resolve: () => Promise.reject(new Error('ENOTFOUND nowhere.example')) });
    expect((await failure(unknown.get('https://nowhere.example/', limits()))).message).toBe(
      'image could not be fetched',
    );
    const empty = safeFetch({ resolve: async () => [] });
    expect((await failure(empty.get('https://nowhere.example/', limits()))).kind).toBe('invalid_request');
  });

  test('when the client leaves, the fetch ends with its reason', async () => {
    const asked = Promise.withResolvers<void>();
    const port = await serve(() => asked.resolve());
    const client = new AbortController();
    const fetched = failure(
      safeFetch(loopback).get(`http://127.0.0.1:${port}/`, limits({ signal: client.signal })),
    );
    await asked.promise;
    client.abort(new Error('left'));
    expect((await fetched).message).toBe('left');
    const late = failure(
      safeFetch(loopback).get(`http://127.0.0.1:${port}/`, limits({ signal: client.signal })),
    );
    expect((await late).message).toBe('left');
  });
});

describe('posting', () => {
  const post = (changes: { timeoutMs?: number; signal?: AbortSignal } = {}) => ({
    param: 'callback_url',
    headers: { 'Content-Type': 'application/json', 'X-Word': 'one' },
    body: Buffer.from('{"ä":1}'),
    signal: new AbortController().signal,
    ...changes,
  });

  test('sends the bytes and the headers, on a connection of its own, and answers the status', async () => {
    const seen: unknown[] = [];
    const port = await serve(async (request, answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      seen.push([request.method, request.headers['x-word'], Buffer.concat(chunks).toString()]);
      answer.writeHead(request.url === '/' ? 204 : 500).end();
    });
    const fetch = safeFetch(loopback);
    expect(await fetch.post(`http://127.0.0.1:${port}/`, post())).toEqual({ status: 204 });
    expect(await fetch.post(`http://127.0.0.1:${port}/bad`, post())).toEqual({ status: 500 });
    expect(seen).toEqual([
      ['POST', 'one', '{"ä":1}'],
      ['POST', 'one', '{"ä":1}'],
    ]);
  });

  test('a redirect is an answer like any other', async () => {
    let asked = 0;
    const port = await serve((_, answer) => {
      asked++;
      answer.writeHead(307, { location: '/elsewhere' }).end();
    });
    expect(await safeFetch(loopback).post(`http://127.0.0.1:${port}/`, post())).toEqual({ status: 307 });
    expect(asked).toBe(1);
  });

  test('an endless answer is not read', async () => {
    const closed = Promise.withResolvers<void>();
    const port = await serve((_, answer) => {
      answer.on('close', () => closed.resolve());
      const more = () => {
        while (answer.write('x'.repeat(1000)));
        answer.once('drain', more);
      };
      more();
    });
    expect(await safeFetch(loopback).post(`http://127.0.0.1:${port}/`, post())).toEqual({ status: 200 });
    await closed.promise;
  });

  test('no status in time, a refused connection and an address inside are failures that name the field', async () => {
    const port = await serve(() => {});
    const slow = safeFetch(loopback).post(`http://127.0.0.1:${port}/`, post({ timeoutMs: 60 }));
    expect((await failure(slow)).message).toBe('callback_url did not answer within 0.06 s');
    const refused = safeFetch(loopback).post('http://127.0.0.1:1/', post());
    expect(await failure(refused)).toMatchObject({
      message: 'callback_url could not be reached',
      cause: { code: 'ECONNREFUSED' },
    });
    const inside = safeFetch(as('10.0.0.1')).post('https://hooks.example/', post());
    expect((await failure(inside)).message).toBe('callback_url must be an address on the public internet');
    const left = AbortSignal.abort(new Error('left'));
    const late = safeFetch(loopback).post(`http://127.0.0.1:${port}/`, post({ signal: left }));
    expect((await failure(late)).message).toBe('left');
  });
});
