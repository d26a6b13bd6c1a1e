import { Agent, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { createShell, shellKey } from '../../test/support/shell.ts';
import { toObject } from './multipart.ts';
import { defineRoute } from './route.ts';

const Fields = Type.Object({
  prompt: Type.String(),
  n: Type.Optional(Type.Integer({ minimum: 1 })),
  loud: Type.Optional(Type.Boolean()),
  stop: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  provider: Type.Optional(
    Type.Object({ options: Type.Optional(Type.Object({ steps: Type.Optional(Type.Integer()) })) }),
  ),
  frames: Type.Optional(
    Type.Array(
      Type.Object({
        type: Type.String(),
        image_url: Type.Object({ url: Type.String() }),
        weight: Type.Optional(Type.Number()),
      }),
    ),
  ),
});

const route = defineRoute({
  method: 'POST',
  path: '/images/edits',
  access: 'key',
  summary: 'For tests.',
  tag: 'Test',
  body: Fields,
  multipart: {
    files: { image: { maxCount: 2, maxBytes: 1000, required: true }, mask: { maxCount: 1, maxBytes: 1000 } },
  },
  maxBodyBytes: 5000,
  handle: ({ body, uploads }) => ({
    body,
    files: uploads.map(({ field, filename, content }) => [field, filename, content.length]),
  }),
});

async function post(form: FormData, headers: Record<string, string> = {}) {
  const request = new Request('http://x', { method: 'POST', body: form });
  return createShell([route]).send({
    method: 'POST',
    url: '/v1/images/edits',
    headers: { 'content-type': request.headers.get('content-type') ?? '', ...headers },
    payload: Buffer.from(await request.arrayBuffer()),
  });
}

function form(fields: [string, string | Blob][]): FormData {
  const data = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === 'string') data.append(name, value);
    else data.append(name, value, `${name}.png`);
  }
  return data;
}

const picture = (size = 10) => new Blob([Buffer.alloc(size)], { type: 'image/png' });

describe('multipart forms', () => {
  it('fields are typed by the schema, files are kept apart, and image[] means image', async () => {
    const answer = await post(
      form([
        ['prompt', 'a cat'],
        ['n', '2'],
        ['loud', 'true'],
        ['image[]', picture(3)],
        ['image[]', picture(4)],
        ['provider', '{"options":{"steps":4}}'],
      ]),
    );
    expect(answer.json()).toEqual({
      body: { prompt: 'a cat', n: 2, loud: true, provider: { options: { steps: 4 } } },
      files: [
        ['image', 'image[].png', 3],
        ['image', 'image[].png', 4],
      ],
    });
  });

  it('a wrong field is a 400 that names it', async () => {
    const wrong: [[string, string | Blob][], string][] = [
      [[['image', picture()]], 'prompt is required'],
      [
        [
          ['prompt', 'x'],
          ['image', picture()],
          ['n', '0'],
        ],
        'n must be at least 1',
      ],
      [
        [
          ['prompt', 'x'],
          ['image', picture()],
          ['n', 'two'],
        ],
        'n must be an integer',
      ],
      [
        [
          ['prompt', 'x'],
          ['image', picture()],
          ['loud', 'yes'],
        ],
        'loud must be a boolean',
      ],
      [
        [
          ['prompt', 'x'],
          ['image', picture()],
          ['provider', '{broken'],
        ],
        'provider must be an object',
      ],
      [[['prompt', 'x']], 'image is required'],
      [
        [
          ['prompt', 'x'],
          ['image', picture()],
          ['image', picture()],
          ['image', picture()],
        ],
        'image must have at most 2 files',
      ],
      [
        [
          ['prompt', 'x'],
          ['image', picture()],
          ['other', picture()],
        ],
        'other is not a file that this route takes',
      ],
    ];
    for (const [fields, message] of wrong) {
      const answer = await post(form(fields));
      expect([answer.status, answer.json().error.message]).toEqual([400, message]);
    }
  });

  it('[ERR-33] a file over its limit, and a body over its own, are a 413 that gives the limit', async () => {
    const file = await post(
      form([
        ['prompt', 'x'],
        ['image', picture(1001)],
      ]),
    );
    expect([file.status, file.json().error.message]).toEqual([
      413,
      'image is larger than the limit of 1000 bytes',
    ]);
    const whole = await post(
      form([
        ['prompt', 'x'.repeat(6000)],
        ['image', picture()],
      ]),
    );
    expect([whole.status, whole.json().error.message]).toEqual([
      413,
      'The body is larger than the limit of 5000 bytes',
    ]);
  });

  it('a broken form is a 400', async () => {
    const shell = createShell([{ ...route, maxBodyBytes: 200_000 }]);
    for (const [type, payload] of [
      ['multipart/form-data', 'x'],
      ['multipart/form-data; boundary=b', 'no boundary here'],
      ['multipart/form-data; boundary=b', '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\nhalf'],
      ['multipart/form-data; boundary=b', ''],
    ] as const) {
      const answer = await shell.send({
        method: 'POST',
        url: '/v1/images/edits',
        headers: { 'content-type': type },
        payload,
      });
      expect(answer.status, payload).toBe(400);
    }
  });

  it('a part without a name is a 400', async () => {
    const shell = createShell([{ ...route, maxBodyBytes: 200_000 }]);
    for (const disposition of ['form-data', 'form-data; filename="x.png"']) {
      const payload = `--B\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--B--\r\n`;
      const headers = { 'content-type': 'multipart/form-data; boundary=B' };
      const answer = await shell.send({ method: 'POST', url: '/v1/images/edits', headers, payload });
      expect([answer.status, answer.json().error.message], disposition).toEqual([
        400,
        expect.stringMatching(/has no name|is required/),
      ]);
    }
  });

  it('bracket keys build objects and lists; a repeated leaf starts a new element', () => {
    expect(
      toObject(
        [
          ['prompt', 'p'],
          ['frames[][type]', 'image_url'],
          ['frames[][image_url][url]', 'https://a'],
          ['frames[][weight]', '0.5'],
          ['frames[][type]', 'image_url'],
          ['frames[][image_url][url]', 'https://b'],
          ['stop', 'a'],
          ['stop', 'b'],
          ['provider[options][steps]', '4'],
        ],
        Fields,
      ),
    ).toEqual({
      prompt: 'p',
      frames: [
        { type: 'image_url', image_url: { url: 'https://a' }, weight: 0.5 },
        { type: 'image_url', image_url: { url: 'https://b' } },
      ],
      stop: ['a', 'b'],
      provider: { options: { steps: 4 } },
    });
  });

  it('a key that nobody means is a 400, and cannot reach a prototype', () => {
    for (const name of ['a[', 'a]b', '[x]', '', 'a[__proto__][x]', '__proto__', `a${'[b]'.repeat(50)}`]) {
      expect(() => toObject([[name, '1']], Fields), name).toThrow(/readable field name/);
    }
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});

describe('a form with bounds of its own', () => {
  const bounded = defineRoute({
    method: 'POST',
    path: '/bounded',
    access: 'key',
    summary: 'For tests.',
    tag: 'Test',
    body: Fields,
    multipart: {
      files: { image: { maxCount: 4, maxBytes: 1000 } },
      maxTotalBytes: 2000,
      maxFieldBytes: 3_000_000,
    },
    maxBodyBytes: 5_000_000,
    handle: ({ body, uploads }) => ({ length: JSON.stringify(body).length, files: uploads.length }),
  });
  const send = async (fields: [string, string | Blob][]) => {
    const request = new Request('http://x', { method: 'POST', body: form(fields) });
    return createShell([bounded]).send({
      method: 'POST',
      url: '/v1/bounded',
      headers: { 'content-type': request.headers.get('content-type') ?? '' },
      payload: Buffer.from(await request.arrayBuffer()),
    });
  };

  it('is a 413 when its files are too large together, and its message gives the limit', async () => {
    const file = (size: number): [string, Blob] => ['image[]', new Blob(['x'.repeat(size)])];
    expect((await send([['prompt', 'a'], file(1000), file(1000)])).json()).toMatchObject({ files: 2 });
    const answer = await send([['prompt', 'a'], file(900), file(900), file(201)]);
    expect([answer.status, answer.json().error.message]).toEqual([
      413,
      expect.stringContaining('2000 bytes'),
    ]);
  });

  it('may have longer fields, whose JSON is as bounded as a body’s', async () => {
    expect((await send([['prompt', 'a'.repeat(2_000_000)]])).status).toBe(200);
    expect((await send([['prompt', 'a'.repeat(3_000_001)]])).status).toBe(413);
    const deep = `{"options":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`;
    const answer = await send([
      ['prompt', 'a'],
      ['provider', deep],
    ]);
    expect([answer.status, answer.json().error.param]).toEqual([400, 'provider']);
  });
});

describe('a form that is refused before its end', () => {
  it('leaves the connection usable: what is left of it is read away', async () => {
    const shell = createShell([{ ...route, maxBodyBytes: 200_000 }]);
    const address = await shell.listen();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const sent = form([
      ['prompt', new Blob(['a file where a text belongs'])],
      ['image', picture(150_000)],
    ]);
    const request = new Request('http://x', { method: 'POST', body: sent });
    const body = Buffer.from(await request.arrayBuffer());
    const type = request.headers.get('content-type') ?? '';
    const post = () =>
      new Promise<string>((resolve, reject) => {
        const headers = { authorization: `Bearer ${shellKey}`, 'content-type': type };
        send(`${address}/v1/images/edits`, { method: 'POST', agent, headers }, (answer) =>
          resolve(text(answer)),
        )
          .on('error', reject)
          .setTimeout(20_000, () => reject(new Error('no answer came')))
          .end(body);
      });
    try {
      for (const _ of [1, 2, 3]) expect(await post()).toContain('prompt is not a file that this route takes');
    } finally {
      agent.destroy();
      await shell.close();
    }
  });
});
